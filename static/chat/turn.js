// One turn on the page: the messages that asked, the answer below them.

import { Answer } from "./answer.js";
import { el, icon } from "./dom.js";
import { FrameOrder } from "./live.js";
import { clock, fullTime, t } from "./page.js";

/**
 * A person's message.
 * @param {{ text: string | null, at: string, noted: string[] }} message
 * @param {...(Node | null)} below
 */
export function messageElement(message, ...below) {
  const isErased = message.text === null;
  return el(
    "article",
    { class: "message", "aria-label": t("you") },
    el("div", { class: isErased ? "bubble erased" : "bubble" }, message.text ?? t("erased")),
    ...message.noted.map((words) => el("div", { class: "noted" }, icon("note"), words)),
    el("time", { datetime: message.at, title: fullTime(message.at) }, clock(message.at)),
    ...below,
  );
}

export class TurnView {
  #messages = el("div", { class: "messages" });
  #answer = new Answer();
  #order = new FrameOrder();
  #time = el("time");
  /** @type {Set<string>} */
  #messageIds = new Set();
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
   */
  constructor(id, agentName, at) {
    this.id = id;
    this.at = at;
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

  /** @param {{ id: string, text: string | null, at: string, noted: string[] }} message */
  /** @param {string} id */
  hasMessage(id) {
    return this.#messageIds.has(id);
  }

  /** @param {any} message */
  addMessage(message) {
    if (this.#messageIds.has(message.id)) return;
    this.#messageIds.add(message.id);
    this.#messages.append(messageElement(message));
  }

  /**
   * Show what the database knows.
   * @param {any} shown
   * @returns {boolean} Whether the turn ended just now.
   */
  show(shown) {
    this.heardAt = performance.now();
    shown.messages.forEach((/** @type {any} */ message) => this.addMessage(message));
    if (this.isOver) return false;
    this.element.dataset.state = shown.state;
    if (!shown.is_over) return false;
    this.isOver = true;
    this.isAsking = false;
    this.#answer.finish(shown);
    if (shown.ended_at) {
      this.#time.setAttribute("datetime", shown.ended_at);
      this.#time.setAttribute("title", fullTime(shown.ended_at));
      this.#time.textContent = clock(shown.ended_at);
    }
    return true;
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
