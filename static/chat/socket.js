// The one WebSocket of this tab: opened again whenever it breaks.

import { page } from "./page.js";
import { goToLogin } from "./tabs.js";

const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 8_000;
/** A connection that broke sooner than this counts as one more failure. */
const STABLE_MS = 5_000;
/** The server's close code for a login that is over. */
const LOGGED_OUT = 4401;

/**
 * @typedef {object} Handlers
 * @property {() => void} opened Each time a connection stands.
 * @property {() => void} lost Each time it broke; the next attempt comes by itself.
 * @property {(frame: any) => void} frame
 */

export class Socket {
  /** @type {WebSocket | null} */
  #socket = null;
  #pauseMs = FIRST_PAUSE_MS;
  /** @type {number | undefined} */
  #timer;
  /** @type {Handlers} */
  #handlers;

  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    addEventListener("online", () => this.#connectSoon(0));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#socket === null) this.#connectSoon(0);
    });
    this.#connect();
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /**
   * Send a frame, if there is a connection; whoever needs an answer asks again on `opened`.
   * @param {object} frame
   */
  send(frame) {
    if (this.isOpen) this.#socket?.send(JSON.stringify(frame));
  }

  #connect() {
    clearTimeout(this.#timer);
    if (this.#socket !== null) return;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const language = encodeURIComponent(page.language);
    const socket = new WebSocket(`${scheme}//${location.host}/ws/chat/?language=${language}`);
    this.#socket = socket;
    let openedAt = Infinity;
    socket.addEventListener("open", () => {
      openedAt = performance.now();
      this.#handlers.opened();
    });
    socket.addEventListener("message", (event) => this.#handlers.frame(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      this.#socket = null;
      if (event.code === LOGGED_OUT) {
        goToLogin();
        return;
      }
      this.#handlers.lost();
      if (performance.now() - openedAt > STABLE_MS) this.#pauseMs = FIRST_PAUSE_MS;
      // All tabs of a restarted server should not come back in the same instant.
      this.#connectSoon(this.#pauseMs * (0.75 + Math.random() / 2));
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    });
  }

  /** @param {number} ms */
  #connectSoon(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), ms);
  }
}
