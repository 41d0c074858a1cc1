// What the server put into the page: agents, addresses, words.

/**
 * @typedef {object} Agent
 * @property {string} id
 * @property {string} name
 * @property {string} description
 * @property {string} team
 */

/**
 * @typedef {object} Page
 * @property {Agent[]} agents
 * @property {string | null} conversation The conversation that the address names.
 * @property {string} user
 * @property {string} language
 * @property {number} maxCharacters
 * @property {string} chatUrl
 * @property {string} loginUrl
 * @property {Record<string, string>} texts
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
 * @returns {string} The day in words, such as “Today”.
 */
export function dayName(iso) {
  const day = new Date(iso);
  const today = new Date();
  const daysAgo = Math.round((startOf(today) - startOf(day)) / 86_400_000);
  if (daysAgo === 0) return t("today");
  if (daysAgo === 1) return t("yesterday");
  return new Intl.DateTimeFormat(page.language, { dateStyle: "full" }).format(day);
}

/** @param {Date} time */
function startOf(time) {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}
