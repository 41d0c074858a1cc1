// The answer of one turn: while it comes, and once it is finished.

import { el, fragmentOfCleanHtml, icon } from "./dom.js";
import { filesElement } from "./files.js";
import { LiveMarkdown } from "./markdown.js";
import { shortDate, t } from "./page.js";
import { copyButton, finishProse } from "./prose.js";
import { ToolLine, foldedTools } from "./tools.js";

/** @typedef {{ text: string | null, place: string, at: string | null }} Recalled */

export class Answer {
  element = el("div", { class: "answer" });
  #dots = el("div", { class: "dots", "aria-hidden": "true" }, ...[1, 2, 3].map(() => el("span")));
  /** @type {{ element: HTMLElement, markdown: LiveMarkdown } | null} The text that grows. */
  #text = null;
  /** @type {Map<string, ToolLine>} */
  #tools = new Map();
  /** Text that came since the last paint: writing it at once would lay the page out each time. */
  #unpainted = "";
  #isOver = false;

  constructor() {
    this.element.append(this.#dots);
  }

  /**
   * Apply a live frame.
   * @param {any} frame
   */
  apply(frame) {
    if (this.#isOver) return;
    if (frame.type === "text") {
      if (this.#unpainted === "") requestAnimationFrame(() => this.#paint());
      this.#unpainted += frame.text;
      return;
    }
    this.#paint();
    switch (frame.type) {
      case "turn.started":
        this.#clear();
        break;
      case "snapshot":
        this.#clear();
        for (const tool of frame.tools) this.#showTool(tool.call, tool.name, tool.state);
        if (frame.text) this.#write(frame.text);
        break;
      case "answer.restarted":
        this.#text?.element.remove();
        this.#text = null;
        break;
      case "tool.started":
        this.#endText();
        this.#showTool(frame.call, frame.name, "running");
        break;
      case "tool.finished":
        this.#toolLine(frame.call, frame.name).finish(frame.error ? "error" : "done", frame.seconds);
        break;
    }
    this.#placeDots();
  }

  /**
   * Show what the transcript has: the last word about the turn.
   * @param {{ state: string, parts: any[], notice: string | null, is_command: boolean,
   *   recalled: Recalled[], files: import("./files.js").SentFile[] }} shown
   * @param {(() => void) | null} retry
   */
  finish(shown, retry) {
    this.#isOver = true;
    this.#clear();
    const content = partsOf(shown.parts);
    if (shown.notice !== null) {
      content.push(shown.is_command ? said(shown.notice) : notice(shown.notice, retry));
    }
    if (shown.state === "stopped") content.push(mark(t("stopped")));
    this.element.replaceChildren(...content);
    const prose = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll(".prose")]);
    prose.forEach(finishProse);
    if (shown.files.length) this.element.append(filesElement(shown.files));
    if (shown.recalled.length) this.element.append(recalledElement(shown.recalled));
    if (prose.length) {
      const text = () => prose.map((part) => part.innerText.trim()).join("\n\n");
      this.element.append(
        el("div", { class: "answer-actions" }, copyButton(t("copyAnswer"), text)),
      );
    }
  }

  /** The words of the answer, for a screen reader. */
  get words() {
    return [...this.element.querySelectorAll(".prose, .notice span, .said, .mark, .file-name")]
      .map((part) => part.textContent ?? "")
      .join(" ");
  }

  #paint() {
    const text = this.#unpainted;
    this.#unpainted = "";
    if (text === "" || this.#isOver) return;
    this.#write(text);
    this.#placeDots();
  }

  /** @param {string} text */
  #write(text) {
    if (this.#text === null) {
      const element = el("div", { class: "prose live" });
      this.#text = { element, markdown: new LiveMarkdown(element) };
      this.element.append(element);
    }
    this.#text.markdown.write(text);
  }

  #endText() {
    this.#text?.markdown.end();
    this.#text = null;
  }

  /**
   * @param {string} call
   * @param {string} name
   * @param {"running" | "done" | "error"} state
   */
  #showTool(call, name, state) {
    const line = this.#toolLine(call, name);
    if (state === "running") line.run();
    else line.finish(state, null);
  }

  /**
   * @param {string} call
   * @param {string} name
   */
  #toolLine(call, name) {
    let line = this.#tools.get(call);
    if (!line) {
      line = new ToolLine(name);
      this.#tools.set(call, line);
      this.element.append(line.element);
    }
    return line;
  }

  #placeDots() {
    this.#dots.hidden = this.#text !== null;
    this.element.append(this.#dots);
  }

  #clear() {
    this.#unpainted = "";
    this.#text = null;
    this.#tools.forEach((line) => line.drop());
    this.#tools.clear();
    this.element.replaceChildren(this.#dots);
    this.#dots.hidden = false;
  }
}

/**
 * @param {any[]} parts
 * @returns {HTMLElement[]}
 */
function partsOf(parts) {
  /** @type {HTMLElement[]} */
  const content = [];
  /** @type {any[]} */
  let tools = [];
  const fold = () => {
    if (tools.length) content.push(foldedTools(tools));
    tools = [];
  };
  for (const part of parts) {
    if (part.kind === "tool") {
      tools.push(part);
      continue;
    }
    fold();
    if (part.html === null) content.push(mark(t("erased")));
    else content.push(el("div", { class: "prose" }, fragmentOfCleanHtml(part.html)));
  }
  fold();
  return content;
}

/**
 * What was looked up in memory for the answer, folded.
 * @param {Recalled[]} recalled
 */
function recalledElement(recalled) {
  const key = recalled.length === 1 ? "recalledOne" : "recalledMany";
  return el(
    "details",
    { class: "tools recalled" },
    el("summary", {}, t(key, { count: recalled.length })),
    el(
      "ul",
      {},
      ...recalled.map(({ text, place, at }) =>
        el(
          "li",
          { class: text === null ? "erased" : "" },
          el("span", {}, text ?? t("forgotten")),
          el(
            "small",
            {},
            [place, at === null ? "" : shortDate(at)].filter((part) => part !== "").join(" · "),
          ),
        ),
      ),
    ),
  );
}

/** @param {string} words */
function mark(words) {
  return el("p", { class: "mark" }, words);
}

/**
 * What a command said, in lines.
 * @param {string} words
 */
function said(words) {
  return el("p", { class: "said" }, words);
}

/**
 * @param {string} words
 * @param {(() => void) | null} retry
 */
function notice(words, retry) {
  const element = el("div", { class: "notice" }, icon("alert"), el("span", {}, words));
  if (retry !== null) {
    const button = el("button", { type: "button", class: "retry" }, icon("again"), t("retry"));
    button.addEventListener("click", retry);
    element.append(button);
  }
  return element;
}
