// What the tabs of one person in one browser tell each other.

import { page } from "./page.js";

/** @typedef {"list" | "logged-out"} News The list of conversations changed; the login is over. */

const channel = "BroadcastChannel" in window ? new BroadcastChannel(`qanot:${page.user}`) : null;

/** @param {News} news For the other tabs. */
export function tell(news) {
  channel?.postMessage(news);
}

/** @param {(news: News) => void} handler */
export function hear(handler) {
  channel?.addEventListener("message", (event) => handler(event.data));
}

/** Log out from here, so that the other tabs hear of it the moment it is done. */
export function tellOfLogout() {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("logout"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
      if (!answer.ok) throw new Error(answer.statusText);
    } catch {
      form.submit();
      return;
    }
    tell("logged-out");
    location.assign(page.loginUrl);
  });
}

/** Show the login, which leads back here. */
export function goToLogin() {
  location.assign(`${page.loginUrl}?next=${encodeURIComponent(location.pathname)}`);
}
