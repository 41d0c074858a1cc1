// What is added to a finished answer: copy buttons, tables that scroll.

import { el, icon } from "./dom.js";
import { t } from "./page.js";

/** @param {HTMLElement} root An element with the HTML of an answer. */
export function finishProse(root) {
  for (const pre of root.querySelectorAll("pre")) wrapCode(pre);
  for (const item of root.querySelectorAll("li")) {
    // The sign stands where the bullet would.
    if (/^[☐☑]/.test(item.textContent?.trimStart() ?? "")) item.classList.add("task");
  }
  for (const table of root.querySelectorAll("table")) {
    const frame = el("div", { class: "table", tabindex: "0", role: "group" });
    table.replaceWith(frame);
    frame.append(table);
  }
}

/**
 * @param {string} label
 * @param {() => string} text
 */
export function copyButton(label, text) {
  const button = el(
    "button",
    { type: "button", class: "copy", title: label, "aria-label": label },
    icon("copy"),
  );
  button.addEventListener("click", async () => {
    if (!(await copy(text()))) return;
    button.replaceChildren(icon("check"));
    button.setAttribute("aria-label", t("copied"));
    setTimeout(() => {
      button.replaceChildren(icon("copy"));
      button.setAttribute("aria-label", label);
    }, 1_600);
  });
  return button;
}

/** @param {HTMLElement} pre */
function wrapCode(pre) {
  const code = pre.querySelector("code");
  const language = /(?:^|\s)language-(\S+)/.exec(code?.className ?? "")?.[1];
  const frame = el("div", { class: "code" });
  pre.replaceWith(frame);
  pre.tabIndex = 0;
  frame.append(
    pre,
    el(
      "div",
      { class: "code-bar" },
      language ? el("span", { class: "code-language" }, language) : null,
      copyButton(t("copyCode"), () => pre.textContent ?? ""),
    ),
  );
}

/** @param {string} text */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOldWay(text);
  }
}

/**
 * Over plain http only this machine's pages get a clipboard; elsewhere the old command works.
 * @param {string} text
 */
function copyOldWay(text) {
  const area = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "unseen" }));
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}
