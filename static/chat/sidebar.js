// The list of one's conversations: by day, archived ones below; found ones in their place.

import { Drawer } from "./drawer.js";
import { el, icon } from "./dom.js";
import { byId, t } from "./page.js";
import { RowMenu } from "./rowmenu.js";
import { byDay, groupElement, renamingElement, rowElement } from "./rows.js";

/** @typedef {import("./rows.js").Row} Row */

/**
 * @typedef {object} Handlers
 * @property {(id: string) => void} choose
 * @property {(row: Row, title: string) => void} rename
 * @property {(row: Row, isArchived: boolean) => void} archive
 * @property {() => void} listArchived
 * @property {(query: string) => void} search
 */

/** Words are looked for once the typing pauses so long. */
const TYPING_MS = 150;

export class Sidebar {
  #list = byId("conversations");
  #search = /** @type {HTMLInputElement} */ (byId("search"));
  #drawer = new Drawer();
  #menu;
  #handlers;
  /** @type {Row[]} */
  #rows = [];
  /** @type {Row[] | null} Null until they were asked for. */
  #archived = null;
  #hasArchived = false;
  #showsArchived = false;
  /** @type {{ query: string, rows: Row[] } | null} */
  #found = null;
  #isLoaded = false;
  /** @type {string | null} */
  #current = null;
  /** @type {string | null} The row whose title is being written. */
  #renaming = null;
  /** @type {number | undefined} */
  #typing;

  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#menu = new RowMenu(
      (action, row) => this.#act(action, row),
      () => this.#render(),
    );
    this.#list.addEventListener("click", (event) => this.#clicked(event));
    this.#search.addEventListener("input", () => this.#searchSoon());
    this.#search.addEventListener("keydown", (event) => this.#searchKey(event));
    document.addEventListener("keydown", (event) => this.#shortcut(event));
  }

  /** @param {{ archived: boolean, conversations: Row[], has_archived: boolean }} frame */
  take(frame) {
    this.#hasArchived = frame.has_archived;
    if (frame.archived) this.#archived = frame.conversations;
    else {
      this.#rows = frame.conversations;
      this.#isLoaded = true;
    }
    this.#render();
  }

  /** @param {{ query: string, conversations: Row[] }} frame */
  takeFound(frame) {
    // An answer that the typing has overtaken.
    if (frame.query !== this.#query) return;
    this.#found = { query: frame.query, rows: frame.conversations };
    this.#render();
  }

  /**
   * Show a conversation where it belongs now.
   * @param {Row} row
   */
  place(row) {
    const add = (/** @type {Row[]} */ rows, /** @type {boolean} */ isHere) =>
      [...rows.filter((other) => other.id !== row.id), ...(isHere ? [row] : [])].sort(newestFirst);
    this.#rows = add(this.#rows, !row.is_archived);
    if (this.#archived !== null) this.#archived = add(this.#archived, row.is_archived);
    this.#hasArchived ||= row.is_archived;
    if (this.#archived?.length === 0) this.#hasArchived = false;
    if (this.#found !== null) {
      this.#found.rows = this.#found.rows.map((other) => (other.id === row.id ? row : other));
    }
    this.#render();
  }

  /**
   * @param {string} id
   * @returns {Row | undefined}
   */
  row(id) {
    const all = [...this.#rows, ...(this.#archived ?? []), ...(this.#found?.rows ?? [])];
    return all.find((row) => row.id === id);
  }

  /** Whether archived ones are on the page, and so have to be asked for with the others. */
  get showsArchived() {
    return this.#showsArchived;
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
    this.#drawer.close();
  }

  get #query() {
    return this.#search.value.trim();
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const target = event.target instanceof Element ? event.target.closest("a, button") : null;
    if (!(target instanceof HTMLElement)) return;
    const { id, menuOf } = target.dataset;
    if (menuOf) {
      const row = this.row(menuOf);
      if (row) this.#menu.prepare(target, row);
      return;
    }
    if (target.dataset.key === "archived") {
      this.#toggleArchived();
      return;
    }
    if (!id || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.close();
    this.#handlers.choose(id);
  }

  #toggleArchived() {
    this.#showsArchived = !this.#showsArchived;
    if (this.#showsArchived) this.#handlers.listArchived();
    this.#render();
  }

  /**
   * @param {string} action
   * @param {Row} row
   */
  #act(action, row) {
    if (action === "rename") {
      this.#renaming = row.id;
      this.#render(true);
      const input = this.#list.querySelector("input");
      input?.focus();
      input?.select();
    } else this.#handlers.archive(row, action === "archive");
  }

  /**
   * @param {Row} row
   * @param {string | null} title
   */
  #renamed(row, title) {
    this.#renaming = null;
    if (title !== null) {
      row.title = title;
      this.#handlers.rename(row, title);
    }
    const hadFocus = this.#list.contains(document.activeElement);
    this.#render();
    if (hadFocus) this.#focus(`row:${row.id}`);
  }

  #searchSoon() {
    clearTimeout(this.#typing);
    if (this.#query === "") {
      this.#found = null;
      this.#render();
      return;
    }
    this.#typing = setTimeout(() => this.#handlers.search(this.#query), TYPING_MS);
  }

  /** @param {KeyboardEvent} event */
  #searchKey(event) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      this.#list.querySelector("a")?.focus();
    }
    if (event.key !== "Escape" || this.#search.value === "") return;
    event.preventDefault();
    this.#search.value = "";
    this.#searchSoon();
  }

  /** @param {KeyboardEvent} event */
  #shortcut(event) {
    if (event.defaultPrevented || event.altKey || event.shiftKey) return;
    const hasControl = event.ctrlKey || event.metaKey;
    const isTyping =
      event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    const isSearch = event.key === "/" ? !isTyping && !hasControl : event.key === "k" && hasControl;
    if (!isSearch) return;
    event.preventDefault();
    this.#drawer.open();
    this.#search.focus();
    this.#search.select();
  }

  /** @param {boolean} [isForced] */
  #render(isForced = false) {
    // What is being pressed or written must not be replaced under the person's hands.
    if (!isForced && (this.#renaming !== null || this.#menu.isOpen)) return;
    const { activeElement } = document;
    const key = this.#list.contains(activeElement)
      ? /** @type {HTMLElement} */ (activeElement).dataset.key
      : undefined;
    this.#list.replaceChildren(...(this.#found === null ? this.#allGroups() : this.#foundGroups()));
    if (key) this.#focus(key);
  }

  /** @param {string} key */
  #focus(key) {
    /** @type {HTMLElement | null} */ (
      this.#list.querySelector(`[data-key="${CSS.escape(key)}"]`)
    )?.focus();
  }

  #foundGroups() {
    const rows = this.#found?.rows ?? [];
    if (rows.length === 0) return [el("p", { class: "hint" }, t("nothingFound"))];
    return [groupElement(t("found"), rows.map((row) => this.#rowElement(row)))];
  }

  #allGroups() {
    const groups = byDay(this.#rows).map(([name, rows]) =>
      groupElement(name, rows.map((row) => this.#rowElement(row))),
    );
    if (this.#isLoaded && this.#rows.length === 0) {
      groups.push(el("p", { class: "hint" }, t("noConversations")));
    }
    if (!this.#hasArchived) return groups;
    const toggle = el(
      "button",
      {
        type: "button",
        class: "archived-toggle",
        "data-key": "archived",
        "aria-expanded": String(this.#showsArchived),
      },
      icon("archive"),
      t("archived"),
    );
    const rows = this.#showsArchived ? (this.#archived ?? []) : [];
    groups.push(
      el(
        "section",
        { class: "rows archived" },
        el("h2", { class: "rows-heading" }, toggle),
        el("ul", {}, ...rows.map((row) => this.#rowElement(row))),
      ),
    );
    return groups;
  }

  /** @param {Row} row */
  #rowElement(row) {
    if (row.id === this.#renaming) return renamingElement(row, (title) => this.#renamed(row, title));
    return rowElement(row, { isCurrent: row.id === this.#current, menu: this.#menu.element });
  }
}

/**
 * @param {Row} a
 * @param {Row} b
 */
function newestFirst(a, b) {
  return (b.last_at ?? "").localeCompare(a.last_at ?? "");
}
