// What the server put into the page: agents, addresses, words.

/**
 * @typedef {object} Agent
 * @property {string} id
 * @property {string} name
 * @property {string} description
 * @property {string} team
 * @property {boolean} hasModel Whether it can ask a model, or only say that there is none.
 * @property {boolean} mayConnect Whether the person may give it one.
 */

/**
 * @typedef {object} Page
 * @property {Agent[]} agents
 * @property {string | null} conversation The conversation that the address names.
 * @property {string} user
 * @property {string} language
 * @property {number} maxCharacters
 * @property {string} chatUrl
 * @property {string} filesUrl
 * @property {number} maxFiles In one message.
 * @property {number} maxFileBytes
 * @property {string} loginUrl
 * @property {Record<string, string>} texts
 * @property {Record<string, string>} tools What each tool is called, by its name.
 */

/** @type {Page} */
export const page = JSON.parse(document.getElementById("page-data").textContent);

/**
 * Say something in the page's language.
 * @param {string} name A name of sessions/channels/webchat/texts.py.
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(name, values = {}) {
  return page.texts[name].replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
}

/**
 * Find an element that the template promises.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {string} iso
 * @returns {string} Such as 14:05.
 */
export function clock(iso) {
  return new Intl.DateTimeFormat(page.language, { hour: "numeric", minute: "2-digit" }).format(
    new Date(iso),
  );
}

/**
 * @param {string} iso
 * @returns {string} Day and time in full, for a tooltip.
 */
export function fullTime(iso) {
  return new Intl.DateTimeFormat(page.language, { dateStyle: "full", timeStyle: "medium" }).format(
    new Date(iso),
  );
}

/**
 * @param {string} iso
 * @returns {string} Such as Jan 15, 2025.
 */
export function shortDate(iso) {
  return new Intl.DateTimeFormat(page.language, { dateStyle: "medium" }).format(new Date(iso));
}

/**
 * @param {string} iso
 * @returns {string} The day in words, such as “Today”.
 */
export function dayName(iso) {
  const days = daysAgo(iso);
  if (days === 0) return t("today");
  if (days === 1) return t("yesterday");
  return new Intl.DateTimeFormat(page.language, { dateStyle: "full" }).format(new Date(iso));
}

/**
 * @param {string} iso
 * @returns {number} Midnights between then and now, where the reader is.
 */
export function daysAgo(iso) {
  return Math.round((startOf(new Date()) - startOf(new Date(iso))) / 86_400_000);
}

/**
 * @param {string} iso
 * @returns {string} Such as November 2026.
 */
export function monthName(iso) {
  return new Intl.DateTimeFormat(page.language, { month: "long", year: "numeric" }).format(
    new Date(iso),
  );
}

/** @param {Date} time */
function startOf(time) {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}

/**
 * Keep the page in what the keyboard leaves of it, where it covers a page instead of shortening it
 * (Safari).
 */
export function followKeyboard() {
  const visible = window.visualViewport;
  visible?.addEventListener("resize", () => {
    // Zoomed in with two fingers it is small too, and no keyboard is there.
    if (visible.scale !== 1) return;
    const isCovered = innerHeight - visible.height > 80;
    const height = isCovered ? `${visible.height}px` : null;
    document.body.style.setProperty("--visible-height", height);
    if (isCovered) scrollTo(0, 0);
  });
}
