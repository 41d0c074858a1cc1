// The document editor: counts what is typed (the server counts, so there is one truth), saves
// with Ctrl+S, and asks before unsaved words are lost.

const PAUSE_MS = 350;

const editor = document.querySelector("[data-persona-editor]");
const text = document.getElementById("id_text");

if (editor && text) {
  const form = text.form;
  const count = document.querySelector("[data-persona-count]");
  const bar = document.querySelector("[data-persona-bar]");
  // A text that was not saved before is not saved now either.
  const saved = "unsaved" in editor.dataset ? null : text.value;
  let timer = 0;
  let asked = null;
  let isLeaving = false;

  const measure = async () => {
    if (!editor.dataset.measure) return;
    asked?.abort();
    asked = new AbortController();
    const body = new FormData();
    body.set("text", text.value);
    body.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    try {
      const answer = await fetch(editor.dataset.measure, {
        method: "POST",
        body,
        signal: asked.signal,
      });
      if (answer.ok) show(await answer.json());
    } catch (error) {
      // A newer count is on its way, or the network is not: the next key asks again.
      if (error.name !== "AbortError") console.warn("not counted", error);
    }
  };

  const show = ({ said, percent, removed }) => {
    count.textContent = said;
    count.classList.toggle("qp-over", removed > 0);
    bar.setAttribute("width", Math.min(percent, 100));
    bar.classList.toggle("qp-bar-over", removed > 0);
  };

  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(measure, PAUSE_MS);
  });
  form.addEventListener("submit", () => {
    isLeaving = true;
  });
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      form.requestSubmit(document.querySelector('[name="_continue"]') ?? undefined);
    }
  });
  addEventListener("beforeunload", (event) => {
    if (!isLeaving && text.value !== saved) event.preventDefault();
  });
  if (saved === null) measure();
}
