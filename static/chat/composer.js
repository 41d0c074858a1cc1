// Where one writes: grows with the text, keeps drafts, sends and stops.

import { Attachments } from "./attach.js";
import { byId, page, t } from "./page.js";

/** @typedef {import("./attach.js").Brought} Brought */

const DRAFT = `qanot:draft:${page.user}:`;

export class Composer {
  #form = /** @type {HTMLFormElement} */ (byId("composer"));
  #area = /** @type {HTMLTextAreaElement} */ (byId("message"));
  #sendButton = /** @type {HTMLButtonElement} */ (byId("send"));
  #stopButton = /** @type {HTMLButtonElement} */ (byId("stop"));
  #hint = byId("composer-hint");
  #place = "new";
  #attachments;
  /** What was typed before this script was here. */
  #early = this.#area.value;

  /**
   * @param {{ send: (text: string, files: Brought[]) => void, stop: () => void,
   *   agent: () => string }} handlers
   */
  constructor(handlers) {
    this.#attachments = new Attachments({
      changed: () => this.#changed(),
      tell: (words) => {
        this.#hint.textContent = words;
      },
      agent: handlers.agent,
      back: () => this.#focus(),
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(handlers.send);
    });
    this.#area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      // A phone's Enter makes a new line: there is no Shift at hand.
      if (matchMedia("(pointer: coarse) and (hover: none)").matches) return;
      event.preventDefault();
      this.#submit(handlers.send);
    });
    this.#area.addEventListener("input", () => this.#changed());
    this.#stopButton.addEventListener("click", handlers.stop);
    document.addEventListener("keydown", (event) => this.#shortcut(event, handlers.stop));
    this.#changed();
  }

  /**
   * Go to another conversation, with the draft that was left there.
   * @param {string} place The conversation's id, or "new".
   */
  moveTo(place) {
    this.#place = place;
    this.#area.value = this.#early || readDraft(place);
    this.#early = "";
    this.#attachments.moveTo(place);
    this.#changed();
    this.#focus();
  }

  /**
   * Take over from early.js, and send what was to be sent already.
   * @param {(text: string, files: Brought[]) => void} send
   */
  ready(send) {
    const { dataset } = document.documentElement;
    dataset.ready = "";
    if (dataset.sendWhenReady !== undefined) this.#submit(send);
  }

  /**
   * @param {string} text
   * @param {Brought[]} [files]
   */
  fill(text, files = []) {
    this.#area.value = text;
    if (files.length) this.#attachments.give(files);
    this.#changed();
    this.#area.focus();
  }

  /**
   * Show how the conversation stands.
   * @param {{ isRunning: boolean, isStopping: boolean }} state
   */
  show({ isRunning, isStopping }) {
    this.#stopButton.hidden = !isRunning;
    this.#stopButton.disabled = isStopping;
    const words = isStopping ? t("stopping") : (this.#stopButton.dataset.label ?? "");
    this.#stopButton.title = words;
    this.#stopButton.setAttribute("aria-label", words);
  }

  /** @param {(text: string, files: Brought[]) => void} send */
  #submit(send) {
    const text = this.#area.value;
    if (this.#isNothing || this.#isTooLong) return;
    if (this.#attachments.isUnready) {
      this.#hint.textContent = t(this.#attachments.hasTrouble ? "removeFailed" : "stillUploading");
      return;
    }
    this.#area.value = "";
    const files = this.#attachments.take();
    this.#changed();
    send(text, files);
  }

  /** On a phone the keyboard comes only when it is asked for. */
  #focus() {
    if (!matchMedia("(pointer: coarse)").matches) this.#area.focus();
  }

  get #isNothing() {
    return this.#area.value.trim() === "" && this.#attachments.isEmpty;
  }

  get #isTooLong() {
    return [...this.#area.value].length > page.maxCharacters;
  }

  #changed() {
    const text = this.#area.value;
    writeDraft(this.#place, text);
    // Browsers that do not size the field by its text themselves.
    if (!CSS.supports("field-sizing", "content")) {
      this.#area.style.height = "auto";
      this.#area.style.height = `${this.#area.scrollHeight}px`;
    }
    const isTooLong = text.length > page.maxCharacters && this.#isTooLong;
    this.#sendButton.disabled = this.#isNothing || isTooLong || this.#attachments.isUnready;
    this.#hint.textContent = isTooLong
      ? t("tooLong", { count: [...text].length, limit: page.maxCharacters })
      : "";
  }

  /**
   * @param {KeyboardEvent} event
   * @param {() => void} stop
   */
  #shortcut(event, stop) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    // A menu that is open takes the key for itself.
    if (event.key !== "Escape" || document.querySelector(":popover-open")) return;
    if (!this.#stopButton.hidden) stop();
  }
}

/** @param {string} place */
function readDraft(place) {
  try {
    return sessionStorage.getItem(DRAFT + place) ?? "";
  } catch {
    return "";
  }
}

/**
 * @param {string} place
 * @param {string} text
 */
function writeDraft(place, text) {
  try {
    if (text) sessionStorage.setItem(DRAFT + place, text);
    else sessionStorage.removeItem(DRAFT + place);
  } catch {
    // A draft that cannot be kept is lost with the page, as it would be without us.
  }
}
