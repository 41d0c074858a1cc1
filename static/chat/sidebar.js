// The list of one's conversations; on a phone a drawer.

import { el } from "./dom.js";
import { byId, page, t } from "./page.js";

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string} thread
 * @property {string} title
 * @property {string} agent
 * @property {string} agent_name
 * @property {boolean} is_running
 */

export class Sidebar {
  #list = byId("conversations");
  #body = document.body;
  #openButton = byId("drawer-open");
  /** @type {Row[]} */
  #rows = [];
  /** @type {string | null} */
  #current = null;

  /** @param {(id: string) => void} choose */
  constructor(choose) {
    this.#list.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey);
      if (!link?.dataset.id || !isPlain) return;
      event.preventDefault();
      this.close();
      choose(link.dataset.id);
    });
    this.#openButton.addEventListener("click", () => this.#open());
    byId("drawer-close").addEventListener("click", () => this.close());
    byId("drawer-shade").addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#isOpen) {
        event.preventDefault();
        this.close();
      }
    }, { capture: true });
  }

  /** @param {Row[]} rows Newest first. */
  show(rows) {
    this.#rows = rows;
    this.#render();
  }

  /**
   * Put a conversation on top, where something was just said.
   * @param {Row} row
   */
  raise(row) {
    this.show([row, ...this.#rows.filter((other) => other.id !== row.id)]);
  }

  /** @param {string} id */
  row(id) {
    return this.#rows.find((row) => row.id === id);
  }

  /** @param {string | null} id */
  mark(id) {
    this.#current = id;
    this.#render();
  }

  /**
   * @param {string} id
   * @param {boolean} isRunning
   */
  markRunning(id, isRunning) {
    const row = this.row(id);
    if (!row || row.is_running === isRunning) return;
    row.is_running = isRunning;
    this.#render();
  }

  close() {
    if (!this.#isOpen) return;
    delete this.#body.dataset.drawer;
    this.#openButton.setAttribute("aria-expanded", "false");
    this.#openButton.focus();
  }

  #open() {
    this.#body.dataset.drawer = "open";
    this.#openButton.setAttribute("aria-expanded", "true");
    byId("drawer-close").focus();
  }

  get #isOpen() {
    return this.#body.dataset.drawer === "open";
  }

  #render() {
    const hasFocus = this.#list.contains(document.activeElement);
    const focused = hasFocus ? /** @type {HTMLElement} */ (document.activeElement).dataset.id : null;
    const hasAgents = page.agents.length > 1;
    this.#list.replaceChildren(
      ...(this.#rows.length === 0 ? [el("li", { class: "hint" }, t("noConversations"))] : []),
      ...this.#rows.map((row) =>
        el(
          "li",
          {},
          el(
            "a",
            {
              href: `${page.chatUrl}${row.id}/`,
              "data-id": row.id,
              title: row.title,
              "aria-current": row.id === this.#current ? "page" : null,
            },
            el("span", { class: "row-title" }, row.title),
            hasAgents ? el("span", { class: "row-agent" }, row.agent_name) : null,
            row.is_running
              ? el("span", { class: "row-running", role: "img", "aria-label": t("running") })
              : null,
          ),
        ),
      ),
    );
    if (focused) {
      /** @type {HTMLElement | null} */ (
        this.#list.querySelector(`[data-id="${CSS.escape(focused)}"]`)
      )?.focus();
    }
  }
}
