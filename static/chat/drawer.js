// The list on a phone: a drawer over the conversation.

import { byId } from "./page.js";

export class Drawer {
  #body = document.body;
  #main = byId("main");
  #button = byId("drawer-open");

  constructor() {
    this.#button.addEventListener("click", () => this.open());
    byId("drawer-close").addEventListener("click", () => this.close());
    byId("drawer-shade").addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.isOpen || event.defaultPrevented) return;
      if (document.querySelector(":popover-open")) return;
      event.preventDefault();
      this.close();
    });
    // On a wide page there is no drawer, and nothing may stay out of reach.
    matchMedia("(min-width: 52.01rem)").addEventListener("change", () => this.close());
  }

  get isOpen() {
    return this.#body.dataset.drawer === "open";
  }

  /** Open it where the list is one; elsewhere the list is on the page already. */
  open() {
    if (this.isOpen || getComputedStyle(this.#button).display === "none") return;
    this.#body.dataset.drawer = "open";
    this.#main.inert = true;
    this.#button.setAttribute("aria-expanded", "true");
    byId("drawer-close").focus();
  }

  close() {
    if (!this.isOpen) return;
    delete this.#body.dataset.drawer;
    this.#main.inert = false;
    this.#button.setAttribute("aria-expanded", "false");
    this.#button.focus();
  }
}
