// One turn on the page: the messages that asked, the answer below them.

import { Answer } from "./answer.js";
import { el, icon } from "./dom.js";
import { attachmentsElement } from "./files.js";
import { FrameOrder } from "./live.js";
import { clock, fullTime, t } from "./page.js";

/** @typedef {{ fact: string, words: string, is_undone: boolean }} Noted */
/** @typedef {import("./files.js").Attachment} Attachment */
/**
 * @typedef {{ id: string, text: string | null, at: string, noted: Noted[],
 *   attachments: Attachment[] }} Message
 */

/**
 * What a person may do with a turn.
 * @typedef {object} TurnHandlers
 * @property {(message: string, fact: string) => void} undo Forget what was noted.
 * @property {(text: string) => void} retry Ask the same again.
 */

/**
 * A person's message.
 * @param {{ text: string | null, at: string }} message
 * @param {...(Node | null)} below
 */
export function messageElement(message, ...below) {
  const isErased = message.text === null;
  return el(
    "article",
    { class: "message", "aria-label": t("you") },
    // With files there may be no words.
    message.text === ""
      ? null
      : el("div", { class: isErased ? "bubble erased" : "bubble" }, message.text ?? t("erased")),
    ...below,
    el("time", { datetime: message.at, title: fullTime(message.at) }, clock(message.at)),
  );
}

/**
 * @param {Message} message
 * @param {TurnHandlers} handlers
 */
function notedElement(message, handlers) {
  return el(
    "div",
    { class: "noted-lines" },
    ...message.noted.map(({ fact, words, is_undone: isUndone }) => {
      const line = el(
        "div",
        { class: isUndone ? "noted undone" : "noted", tabindex: "-1" },
        icon(isUndone ? "cross" : "note"),
        el("span", {}, words),
      );
      if (isUndone) return line;
      const label = t("undoNoted", { fact });
      const button = el("button", { type: "button", class: "link", "aria-label": label }, t("undo"));
      button.addEventListener("click", () => handlers.undo(message.id, fact));
      line.append(button);
      return line;
    }),
  );
}

export class TurnView {
  #messages = el("div", { class: "messages" });
  #answer = new Answer();
  #order = new FrameOrder();
  #time = el("time");
  /** @type {Map<string, { text: string | null, noted: HTMLElement, files: HTMLElement,
   *   attachments: string }>} */
  #shownMessages = new Map();
  #handlers;
  isOver = false;
  isStopping = false;
  /** When something was last heard of it, on the page's clock. */
  heardAt = performance.now();
  /** Whether an answer to `resume` is on its way. */
  isAsking = false;
  /** The last frame that was applied when it was asked for. */
  #askedFrom = /** @type {string | null} */ (null);
  /** Whether the last frame of all came: the transcript has the whole answer. */
  #hasEnded = false;

  /**
   * @param {string} id
   * @param {string} agentName
   * @param {string} at
   * @param {TurnHandlers} handlers
   */
  constructor(id, agentName, at, handlers) {
    this.id = id;
    this.at = at;
    this.#handlers = handlers;
    this.element = el(
      "section",
      { class: "turn", "data-turn": id, "data-state": "queued" },
      this.#messages,
      el(
        "article",
        { class: "reply", "aria-label": agentName },
        el(
          "header",
          {},
          el("span", { class: "avatar", "aria-hidden": "true" }, initial(agentName)),
          el("span", { class: "reply-name" }, agentName),
          this.#time,
        ),
        this.#answer.element,
      ),
    );
  }

  get lastFrame() {
    return this.#order.last;
  }

  get words() {
    return this.#answer.words;
  }

  /** What was asked, as it was written. */
  get question() {
    return [...this.#shownMessages.values()].map(({ text }) => text ?? "").join("\n\n");
  }

  /** @param {string} id */
  hasMessage(id) {
    return this.#shownMessages.has(id);
  }

  /**
   * Show a message, or what became of its files and of the facts that were noted from it.
   * @param {Message} message
   */
  addMessage(message) {
    let noted = notedElement(message, this.#handlers);
    let files = attachmentsElement(message.attachments);
    const attachments = JSON.stringify(message.attachments);
    const shown = this.#shownMessages.get(message.id);
    if (shown === undefined) this.#messages.append(messageElement(message, files, noted));
    else {
      if (shown.noted.textContent === noted.textContent) noted = shown.noted;
      else {
        const hadFocus = shown.noted.contains(document.activeElement);
        shown.noted.replaceWith(noted);
        if (hadFocus) /** @type {HTMLElement | null} */ (noted.querySelector(".undone"))?.focus();
      }
      if (shown.attachments === attachments) files = shown.files;
      else shown.files.replaceWith(files);
    }
    this.#shownMessages.set(message.id, { text: message.text, noted, files, attachments });
  }

  /**
   * Show what the database knows.
   * @param {any} shown
   * @returns {boolean} Whether the turn ended just now.
   */
  show(shown) {
    this.heardAt = performance.now();
    shown.messages.forEach((/** @type {any} */ message) => this.addMessage(message));
    if (shown.begins_anew) this.#drawLine();
    if (this.isOver) return false;
    this.element.dataset.state = shown.state;
    if (!shown.is_over) return false;
    this.isOver = true;
    this.isAsking = false;
    const canRetry = shown.can_retry && this.question.trim() !== "";
    this.#answer.finish(shown, canRetry ? () => this.#handlers.retry(this.question) : null);
    if (shown.ended_at) {
      this.#time.setAttribute("datetime", shown.ended_at);
      this.#time.setAttribute("title", fullTime(shown.ended_at));
      this.#time.textContent = clock(shown.ended_at);
    }
    return true;
  }

  /** Draw the line below which a new stretch of the conversation begins. */
  #drawLine() {
    if (this.element.querySelector(".stretch") !== null) return;
    this.element.prepend(el("h2", { class: "stretch" }, el("span", {}, t("newStretch"))));
  }

  /**
   * Take a live frame.
   * @param {any} frame
   * @returns {"ended" | "gap" | null} What the page should ask about.
   */
  take(frame) {
    this.heardAt = performance.now();
    if (this.isOver) return null;
    const ended = this.#applyAll(this.#order.take(frame));
    return ended ?? (this.#order.hasGap ? "gap" : null);
  }

  /** Note that it is being asked about, and for the frames after which one. */
  ask() {
    this.isAsking = true;
    this.heardAt = performance.now();
    this.#askedFrom = this.lastFrame;
  }

  /**
   * The replay is over.
   * @returns {"ended" | "gap" | null} What the page should ask about once more.
   */
  replayed() {
    this.isAsking = false;
    if (this.isOver) return null;
    // A gap that opened during the replay is worth another one; one that it left is not.
    if (this.#order.hasGap && this.lastFrame !== this.#askedFrom) return "gap";
    this.#applyAll(this.#order.giveUpGap());
    return this.#hasEnded ? "ended" : null;
  }

  /**
   * @param {any[]} frames
   * @returns {"ended" | null}
   */
  #applyAll(frames) {
    for (const frame of frames) {
      this.element.dataset.state = "running";
      this.#hasEnded = frame.type === "turn.ended";
      this.#answer.apply(frame);
    }
    return this.#hasEnded ? "ended" : null;
  }
}

/** @param {string} name */
function initial(name) {
  return [...name.trim()][0]?.toLocaleUpperCase() ?? "?";
}
