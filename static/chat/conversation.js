// The open conversation on the page: its turns in order, and what waits to be sent.

import { el } from "./dom.js";
import { attachmentsElement } from "./files.js";
import { byId, dayName, t } from "./page.js";
import { TurnView, messageElement } from "./turn.js";

export class ConversationView {
  #turnsBox = byId("turns");
  #pendingBox = byId("pending");
  #earlier = byId("earlier");
  #empty = byId("empty");
  #announcer = byId("announcer");
  #scroller;
  /** @type {Map<string, TurnView>} */
  #turns = new Map();
  /** @type {Map<string, HTMLElement>} */
  #pending = new Map();
  agentName = "";
  isLoading = false;

  #handlers;

  /**
   * @param {import("./scroller.js").Scroller} scroller
   * @param {import("./turn.js").TurnHandlers} handlers
   */
  constructor(scroller, handlers) {
    this.#scroller = scroller;
    this.#handlers = handlers;
  }

  /** @param {string} agentName */
  clear(agentName) {
    this.agentName = agentName;
    this.#turns.clear();
    this.#pending.clear();
    this.#turnsBox.replaceChildren();
    this.#pendingBox.replaceChildren();
    this.#earlier.hidden = true;
    this.#refreshEmpty();
    this.#scroller.follow();
  }

  /** Turns that still owe an answer, oldest first. */
  get unfinished() {
    return this.#inOrder.filter((turn) => !turn.isOver);
  }

  get oldestTurn() {
    return this.#inOrder[0]?.id ?? null;
  }

  /** @param {string} id */
  turn(id) {
    return this.#turns.get(id);
  }

  /**
   * Show turns as the database has them.
   * @param {any[]} turns
   * @param {boolean} hasEarlier
   * @param {boolean} [isOlder] They come before those on the page.
   */
  showTurns(turns, hasEarlier, isOlder = false) {
    const show = () =>
      turns.forEach((shown) => {
        // An answer to this tab that was over before the page could listen is news, too.
        const isAwaited = this.#turns.has(shown.id);
        const turn = this.#ensure(shown.id, shown.accepted_at);
        if (turn.show(shown) && isAwaited) this.#announce(turn);
      });
    if (isOlder) {
      this.#scroller.keepPlace(() => {
        show();
        this.#earlier.hidden = !hasEarlier;
      });
      return;
    }
    this.#earlier.hidden = !hasEarlier;
    show();
    this.#refreshEmpty();
  }

  /**
   * Show how one turn stands.
   * @param {any} shown
   */
  showTurn(shown) {
    const turn = this.#ensure(shown.id, shown.accepted_at);
    shown.messages.forEach((/** @type {any} */ message) => this.dropPending(message.key));
    if (turn.show(shown)) this.#announce(turn);
  }

  /**
   * A message of this tab was accepted.
   * @param {string} turnId
   * @param {import("./turn.js").Message} message
   * @param {string} key
   */
  showAccepted(turnId, message, key) {
    this.#ensure(turnId, message.at).addMessage(message);
    this.dropPending(key);
    this.#scroller.follow();
  }

  /**
   * Show a message that is not accepted yet, or why it was refused.
   * @param {import("./outbox.js").Letter} letter
   * @param {() => void} discard
   * @param {() => void} edit
   */
  showPending(letter, discard, edit) {
    const state = el("p", { class: "pending-state" });
    if (letter.refused === null) state.textContent = t("sending");
    else {
      state.append(
        t("notSent", { reason: letter.refused }),
        ...linkButton(t("editMessage"), edit),
        ...linkButton(t("cancelMessage"), discard),
      );
    }
    // They are not its own yet: nobody may fetch them.
    const files = (letter.files ?? []).map((file) => ({ ...file, id: null }));
    const element = messageElement(
      { text: letter.text, at: letter.at },
      attachmentsElement(files),
      state,
    );
    element.classList.add(letter.refused === null ? "pending" : "refused");
    const shown = this.#pending.get(letter.key);
    if (shown) shown.replaceWith(element);
    else this.#pendingBox.append(element);
    this.#pending.set(letter.key, element);
    this.#refreshEmpty();
  }

  /** @param {string} key */
  dropPending(key) {
    this.#pending.get(key)?.remove();
    this.#pending.delete(key);
    this.#refreshEmpty();
  }

  get #inOrder() {
    // Public ids are UUIDv7: their order is the order of time.
    return [...this.#turns.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /**
   * @param {string} id
   * @param {string} at
   */
  #ensure(id, at) {
    let turn = this.#turns.get(id);
    if (!turn) {
      turn = new TurnView(id, this.agentName, at, this.#handlers);
      this.#turns.set(id, turn);
      const next = this.#inOrder[this.#inOrder.indexOf(turn) + 1];
      this.#turnsBox.insertBefore(turn.element, next?.element ?? null);
      this.#labelDays();
      this.#refreshEmpty();
    }
    return turn;
  }

  /** Put the day above the first turn of each. */
  #labelDays() {
    let before = "";
    for (const label of this.#turnsBox.querySelectorAll(".day")) label.remove();
    for (const turn of this.#inOrder) {
      const day = dayName(turn.at);
      if (day !== before) turn.element.before(el("h2", { class: "day" }, el("span", {}, day)));
      before = day;
    }
  }

  #refreshEmpty() {
    this.#empty.hidden = this.isLoading || this.#turns.size + this.#pending.size > 0;
  }

  /** @param {TurnView} turn */
  #announce(turn) {
    // The whole answer once, rather than each piece of it.
    this.#announcer.textContent = t("answered", { agent: this.agentName, text: turn.words });
  }
}

/**
 * @param {string} words
 * @param {() => void} act
 * @returns {(Node | string)[]}
 */
function linkButton(words, act) {
  const button = el("button", { type: "button", class: "link" }, words);
  button.addEventListener("click", act);
  return [" ", button];
}
