// The try-out pane: one question, two answers as they come. Answers are shown as text, never run.

const form = document.querySelector("[data-tryout]");

if (form) {
  const draft = document.getElementById("id_text");
  const stop = form.querySelector("[data-stop]");
  const ask = form.querySelector("[type=submit]");
  const refused = document.querySelector("[data-refused]");
  const both = document.querySelector("[data-sides]");
  const sides = Object.fromEntries(
    [...both.querySelectorAll("[data-side]")].map((side) => [side.dataset.side, side]),
  );
  let running = null;

  const answerOf = (side) => sides[side].querySelector("[data-answer]");
  const figuresOf = (side) => sides[side].querySelector("[data-figures]");
  const settle = (side) => sides[side].setAttribute("aria-busy", "false");

  const take = (event) => {
    const answer = answerOf(event.side);
    if (event.type === "text") answer.append(event.text);
    else if (event.type === "restarted") answer.textContent = "";
    else {
      figuresOf(event.side).textContent = event.said;
      sides[event.side].classList.toggle("qp-failed", event.type === "failed");
      settle(event.side);
    }
  };

  const begin = () => {
    refused.hidden = true;
    both.hidden = false;
    for (const side of Object.keys(sides)) {
      answerOf(side).textContent = "";
      figuresOf(side).textContent = "";
      sides[side].classList.remove("qp-failed");
      sides[side].setAttribute("aria-busy", "true");
    }
  };

  const refuse = (words) => {
    refused.textContent = words;
    refused.hidden = false;
  };

  const read = async (body) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) take(JSON.parse(line));
    }
  };

  const run = async () => {
    running = new AbortController();
    const body = new FormData(form);
    body.set("document", form.dataset.document);
    body.set("text", draft.value);
    body.set("csrfmiddlewaretoken", draft.form.elements.csrfmiddlewaretoken.value);
    ask.disabled = true;
    stop.hidden = false;
    begin();
    try {
      const answer = await fetch(form.dataset.url, {
        method: "POST",
        body,
        signal: running.signal,
      });
      if (answer.redirected) {
        // To the login.
        both.hidden = true;
        refuse(form.dataset.out);
      } else if (answer.ok) await read(answer.body);
      else {
        both.hidden = true;
        const told = await answer.json().catch(() => ({}));
        refuse(told.said ?? form.dataset.lost);
      }
    } catch (error) {
      if (error.name !== "AbortError") refuse(form.dataset.lost);
    } finally {
      Object.keys(sides).forEach(settle);
      ask.disabled = false;
      stop.hidden = true;
      running = null;
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!running) run();
  });
  form.elements.question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  stop.addEventListener("click", () => running?.abort());
}
