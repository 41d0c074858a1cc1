// A short word at the foot of the page about what was just done, with a way to undo it.

import { el } from "./dom.js";
import { byId } from "./page.js";

const SHOWN_MS = 7_000;

const box = byId("toast");
/** @type {number | undefined} */
let timer;

/**
 * @param {string} words
 * @param {string} [action] Words of a button.
 * @param {() => void} [act]
 */
export function toast(words, action, act) {
  const button = action ? el("button", { type: "button", class: "link" }, action) : null;
  button?.addEventListener("click", () => {
    hide();
    act?.();
  });
  box.replaceChildren(el("span", {}, words), ...(button ? [button] : []));
  box.dataset.shown = "";
  hideLater();
}

function hideLater() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    // Whoever is about to press its button is not robbed of it.
    if (box.matches(":hover, :focus-within")) hideLater();
    else hide();
  }, SHOWN_MS);
}

function hide() {
  clearTimeout(timer);
  delete box.dataset.shown;
  box.replaceChildren();
}
