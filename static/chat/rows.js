// How conversations are listed: under the day of their last message, a row each.

import { el, icon } from "./dom.js";
import { daysAgo, monthName, page, t } from "./page.js";

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string} thread
 * @property {string} title
 * @property {string} agent
 * @property {string} agent_name
 * @property {string | null} last_at
 * @property {boolean} is_archived
 * @property {boolean} is_running
 */

/**
 * @param {Row[]} rows Newest first.
 * @returns {[string, Row[]][]} Heading and rows of each group.
 */
export function byDay(rows) {
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  for (const row of rows) {
    const name = groupName(row.last_at);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups];
}

/** @param {string | null} at */
function groupName(at) {
  const days = at === null ? 0 : daysAgo(at);
  if (at === null || days <= 0) return t("today");
  if (days === 1) return t("yesterday");
  if (days <= 7) return t("lastWeek");
  if (days <= 30) return t("lastMonth");
  return monthName(at);
}

/**
 * @param {string} heading
 * @param {HTMLElement[]} rows
 */
export function groupElement(heading, rows) {
  return el(
    "section",
    { class: "rows" },
    el("h2", { class: "rows-heading" }, heading),
    el("ul", {}, ...rows),
  );
}

/**
 * @param {Row} row
 * @param {{ isCurrent: boolean, menu: HTMLElement }} how
 */
export function rowElement(row, { isCurrent, menu }) {
  const hasAgents = page.agents.length > 1;
  const button = /** @type {HTMLButtonElement} */ (
    el(
      "button",
      {
        type: "button",
        class: "icon-button row-menu",
        "data-menu-of": row.id,
        "data-key": `menu:${row.id}`,
        "aria-haspopup": "menu",
        "aria-label": t("rowMenu", { title: row.title }),
      },
      icon("dots"),
    )
  );
  // The browser opens and closes it, and gives the focus back.
  button.popoverTargetElement = menu;
  return el(
    "li",
    { class: "row" },
    el(
      "a",
      {
        href: `${page.chatUrl}${row.id}/`,
        "data-id": row.id,
        "data-key": `row:${row.id}`,
        title: row.title,
        "aria-current": isCurrent ? "page" : null,
      },
      el("span", { class: "row-title" }, row.title),
      hasAgents ? el("span", { class: "row-agent" }, row.agent_name) : null,
      row.is_running
        ? el("span", { class: "row-running", role: "img", "aria-label": t("running") })
        : null,
    ),
    button,
  );
}

/**
 * A row whose title is being written.
 * @param {Row} row
 * @param {(title: string | null) => void} done Called once; null where nothing is to change.
 */
export function renamingElement(row, done) {
  const input = /** @type {HTMLInputElement} */ (
    el("input", {
      type: "text",
      class: "row-input",
      maxlength: "200",
      autocomplete: "off",
      "aria-label": t("newTitle"),
    })
  );
  input.value = row.title;
  let isDone = false;
  /** @param {boolean} isKept */
  const finish = (isKept) => {
    if (isDone) return;
    isDone = true;
    const title = input.value.trim();
    done(isKept && title !== "" && title !== row.title ? title : null);
  };
  input.addEventListener("keydown", (event) => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault();
    finish(event.key === "Enter");
  });
  input.addEventListener("blur", () => finish(true));
  return el("li", { class: "row" }, input);
}
