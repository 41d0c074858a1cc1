// The menu of a row in the list: rename, archive, bring back.

import { byId } from "./page.js";

/** Room that the menu takes below its button, in pixels. */
const HEIGHT = 110;

export class RowMenu {
  element = byId("row-menu");
  #items = /** @type {HTMLButtonElement[]} */ ([...this.element.querySelectorAll("button")]);
  /** @type {import("./rows.js").Row | null} */
  #row = null;

  /**
   * @param {(action: string, row: import("./rows.js").Row) => void} choose
   * @param {() => void} closed
   */
  constructor(choose, closed) {
    this.element.addEventListener("click", (event) => {
      const item = event.target instanceof Element ? event.target.closest("button") : null;
      if (!item?.dataset.action || this.#row === null) return;
      const row = this.#row;
      this.element.hidePopover();
      choose(item.dataset.action, row);
    });
    this.element.addEventListener("keydown", (event) => this.#move(event));
    this.element.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState === "open") this.#shown[0]?.focus();
      else closed();
    });
  }

  get isOpen() {
    return this.element.matches(":popover-open");
  }

  /**
   * Get ready for a row, below the button that opens the menu.
   * @param {HTMLElement} button
   * @param {import("./rows.js").Row} row
   */
  prepare(button, row) {
    this.#row = row;
    for (const item of this.#items) {
      const isFor = item.dataset.for;
      item.hidden = isFor !== undefined && (isFor === "archived") !== row.is_archived;
    }
    const place = button.getBoundingClientRect();
    const isLow = place.bottom + HEIGHT > innerHeight;
    const { style } = this.element;
    style.top = isLow ? "auto" : `${place.bottom + 4}px`;
    style.bottom = isLow ? `${innerHeight - place.top + 4}px` : "auto";
    style.left = `${Math.max(8, place.left - 120)}px`;
  }

  get #shown() {
    return this.#items.filter((item) => !item.hidden);
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const shown = this.#shown;
    const at = shown.findIndex((item) => item === document.activeElement);
    shown[(at + step + shown.length) % shown.length]?.focus();
  }
}
