// Messages that the server has not accepted yet. They survive a reload and a closed tab, and go out
// again under the same key, so that the server stores each once.

import { page } from "./page.js";

/**
 * @typedef {object} Letter
 * @property {string} key
 * @property {string} text
 * @property {import("./attach.js").Brought[]} [files] Letters of an earlier page have none.
 * @property {string} at ISO time of writing.
 * @property {string | null} conversation Null for the first words of a new one.
 * @property {string} agent
 * @property {string} thread
 * @property {string | null} refused Why the server refused it, in words.
 */

const PREFIX = `qanot:outbox:${page.user}:`;

/** @type {Map<string, Letter>} What could not be kept in storage is at least kept here. */
const letters = new Map();
/** @type {Set<string>} Keys of letters that lie in storage. */
const kept = new Set();

/** @returns {Letter[]} Oldest first, those of closed tabs included. */
export function all() {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX)) {
        const letter = JSON.parse(localStorage.getItem(name) ?? "null");
        if (letter === null) continue;
        letters.set(letter.key, letter);
        kept.add(letter.key);
      }
    }
  } catch {
    // Without storage only this tab's letters are known.
  }
  return [...letters.values()].sort((a, b) => a.at.localeCompare(b.at));
}

/**
 * Forget letters that another tab has had accepted.
 * @returns {string[]} Their keys.
 */
export function forgetDelivered() {
  let stored;
  try {
    stored = new Set(Object.keys(localStorage));
  } catch {
    return [];
  }
  const gone = [...kept].filter((key) => !stored.has(PREFIX + key));
  for (const key of gone) {
    letters.delete(key);
    kept.delete(key);
  }
  return gone;
}

/** @param {Letter} letter */
export function put(letter) {
  letters.set(letter.key, letter);
  try {
    localStorage.setItem(PREFIX + letter.key, JSON.stringify(letter));
    kept.add(letter.key);
  } catch {
    // Full or forbidden: the letter lives as long as the tab.
  }
}

/** @param {string} key */
export function drop(key) {
  letters.delete(key);
  kept.delete(key);
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // As above.
  }
}

/**
 * @param {string} key
 * @returns {Letter | undefined}
 */
export function get(key) {
  return letters.get(key);
}
