// The pages of Telegram bots: who a pasted token is, the code to scan, and how the bot stands.

const EVERY_MS = 2000;

const form = document.querySelector("[data-connect-bot]");
if (form) watchToken(form);
const bot = document.querySelector("[data-bot]");
if (bot) watchBot(bot);

/** Ask who a token is as soon as one was pasted. */
function watchToken(form) {
  const box = form.querySelector("[data-checked]");
  const part = (name) => box.querySelector(`[data-${name}]`);
  let asked = "";
  let number = 0;

  const say = (state, title, text = "", notes = []) => {
    box.hidden = false;
    delete box.dataset.ok;
    delete box.dataset.bad;
    if (state !== "asking") box.dataset[state] = "";
    part("spinner").hidden = state !== "asking";
    part("checked-title").textContent = title;
    part("checked-text").textContent = text;
    part("checked-notes").replaceChildren(
      ...notes.map((note) => Object.assign(document.createElement("li"), { textContent: note })),
    );
  };

  const check = async () => {
    const token = form.elements.token.value.trim();
    const values = `${token}\n${form.elements.base_url.value}`;
    if (!/^\d+:[\w-]{8,}$/.test(token) || values === asked) return;
    asked = values;
    const mine = ++number;
    say("asking", form.dataset.asking);
    let answer;
    try {
      const response = await fetch(form.dataset.check, { method: "POST", body: new FormData(form) });
      answer = await response.json();
    } catch {
      answer = { ok: false, title: form.dataset.failed, advice: "" };
    }
    if (mine !== number) return;
    for (const place of form.querySelectorAll("[data-error]")) {
      place.textContent = answer.errors?.[place.dataset.error] ?? "";
    }
    if (answer.ok) say("ok", `${answer.name} · ${answer.username}`, "", answer.notes);
    else if (answer.errors) box.hidden = true;
    else say("bad", answer.title, answer.advice);
    if (!answer.ok) asked = "";
  };

  form.elements.token.addEventListener("input", check);
  form.elements.base_url.addEventListener("change", check);
}

/** Keep the bot's standing right, and offer a code until who looks at it is connected. */
function watchBot(bot) {
  const live = bot.querySelector("[data-live]");
  const pair = bot.querySelector("[data-pair]");
  const isPaired = () => live.querySelector("[data-paired]") !== null;

  const look = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(bot.dataset.standing, { cache: "no-store", redirect: "manual" });
      if (answer.status !== 200) return;
      const html = await answer.text();
      const fresh = document.createElement("template");
      fresh.innerHTML = html;
      const before = live.innerHTML.trim();
      if (fresh.innerHTML.trim() === before || live.contains(document.activeElement)) return;
      live.replaceChildren(fresh.content);
      if (pair) pair.hidden = isPaired();
    } catch {
      // The next look will tell.
    }
  };
  setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look);

  if (pair && !isPaired()) offer(bot, pair);
}

function offer(bot, pair) {
  const code = pair.querySelector("[data-qr]");
  const open = pair.querySelector("[data-open]");
  const again = pair.querySelector("[data-again]");
  const said = pair.querySelector("[data-pair-said]");

  const make = async () => {
    again.hidden = true;
    said.textContent = "";
    try {
      const response = await fetch(bot.dataset.link, {
        method: "POST",
        headers: { "X-CSRFToken": bot.querySelector("[name=csrfmiddlewaretoken]").value },
      });
      if (!response.ok) throw new Error(String(response.status));
      const { address, picture, seconds } = await response.json();
      code.innerHTML = picture;
      delete code.dataset.over;
      open.href = address;
      open.hidden = false;
      setTimeout(() => end(said.dataset.over), seconds * 1000);
    } catch {
      end(said.dataset.failed);
    }
  };

  const end = (words) => {
    code.dataset.over = "";
    open.hidden = true;
    open.removeAttribute("href");
    again.hidden = false;
    said.textContent = words;
  };

  again.addEventListener("click", make);
  make();
}
