// The document editor: counts what is typed (the server counts, so there is one truth), saves
// with Ctrl+S, asks before unsaved words are lost, and offers again what was lost all the same.

import { Kept, moment } from "./persona-kept.js";

const PAUSE_MS = 350;

const editor = document.querySelector("[data-persona-editor]");
const text = document.getElementById("id_text");

if (editor && text) {
  const form = text.form;
  const count = document.querySelector("[data-persona-count]");
  const bar = document.querySelector("[data-persona-bar]");
  // A text that was not saved before is not saved now either.
  const saved = "unsaved" in editor.dataset ? null : text.value;
  const kept = new Kept(editor.dataset.keptAs);
  const base = form.elements.base_version;
  // A new document has no version yet.
  const baseNumber = () => Number(base?.value || 0);
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

  const keep = () => {
    if (text.value === saved) kept.drop();
    else kept.write(text.value, baseNumber());
  };

  const offer = (draft) => {
    const note = document.querySelector("[data-kept]");
    const said = note.querySelector("[data-kept-said]");
    said.textContent = said.dataset.keptSaid.replace("{time}", moment(draft.at));
    note.hidden = false;
    note.querySelector("[data-kept-use]").addEventListener("click", () => {
      text.value = draft.text;
      // Who saved another version meanwhile is not overwritten unseen: the server compares.
      if (base) base.value = draft.base;
      note.hidden = true;
      text.focus();
      keep();
      measure();
    });
    note.querySelector("[data-kept-discard]").addEventListener("click", () => {
      note.hidden = true;
      keep();
      text.focus();
    });
  };

  const look = () => {
    const draft = kept.read(Number(editor.dataset.ownVersion || 0));
    if (draft === null) return;
    if (draft.text !== text.value) offer(draft);
    else if (saved !== null) kept.drop();
  };

  text.addEventListener("input", () => {
    keep();
    clearTimeout(timer);
    timer = setTimeout(measure, PAUSE_MS);
  });
  form.addEventListener("submit", () => {
    isLeaving = true;
    if (text.value !== saved) kept.write(text.value, baseNumber(), true);
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
  look();
  if (saved === null) measure();
}
