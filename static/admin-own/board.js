// Keeps the operator's board right: asks for its changing part every few seconds while the tab is
// seen, replaces only what changed, and counts times by itself in between.

const board = document.querySelector("[data-board]");
const part = board.querySelector("[data-live-part]");
const status = board.querySelector("[data-status]");
const statusText = board.querySelector("[data-status-text]");
const every = Number(board.dataset.every);

let tag = part.dataset.tag;
let timer = 0;
let asking = false;
let seenAt = new Date();
// How far this machine's clock is from the server's, in seconds.
let apart = 0;

function setClock() {
  apart = Date.now() / 1000 - Number(part.querySelector("[data-now]").dataset.now);
}

function spelled(seconds) {
  const whole = Math.max(Math.round(seconds), 0);
  const values = {
    seconds: whole % 60,
    minutes: Math.floor(whole / 60) % 60,
    hours: Math.floor(whole / 3600) % 24,
    days: Math.floor(whole / 86400),
  };
  const unit = values.days ? "d" : whole >= 3600 ? "h" : whole >= 60 ? "min" : "s";
  return board.dataset[unit].replace(/%\((\w+)\)s/g, (_, name) => values[name]);
}

function count() {
  const now = Date.now() / 1000 - apart;
  for (const time of part.querySelectorAll("time[data-since], time[data-until]")) {
    const { since, until } = time.dataset;
    const text = spelled(since ? now - Number(since) : Number(until) - now);
    if (time.textContent !== text) time.textContent = text;
  }
}

function say(state, text) {
  status.dataset.state = state;
  if (statusText.textContent !== text) statusText.textContent = text;
}

/** What somebody stands on with the keyboard, to be found again after its section was replaced. */
function focusKey() {
  const here = document.activeElement;
  return part.contains(here) ? here.getAttribute("href") : null;
}

function show(html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const key = focusKey();
  for (const section of fresh.content.querySelectorAll("[data-part]")) {
    const old = part.querySelector(`[data-part="${section.dataset.part}"]`);
    // Times differ each time, and are counted here.
    if (bare(old) !== bare(section)) old.replaceWith(section);
  }
  part.querySelector("[data-now]").dataset.now = fresh.content.querySelector("[data-now]").dataset.now;
  if (key !== null && focusKey() !== key) {
    part.querySelector(`a[href="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  }
  setClock();
}

function bare(section) {
  return section.outerHTML.replace(/(<time [^>]*>)[^<]*/g, "$1");
}

async function ask() {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch(board.dataset.board, {
      headers: { "If-None-Match": tag },
      cache: "no-store",
      redirect: "manual",
      signal: AbortSignal.timeout(10_000),
    });
    if (answer.type === "opaqueredirect" || answer.status === 403) {
      say("lost", board.dataset.out);
      return;
    }
    if (answer.status === 200) {
      tag = answer.headers.get("ETag");
      show(await answer.text());
    } else if (answer.status !== 304) {
      throw new Error(String(answer.status));
    }
    seenAt = new Date();
    say("live", board.dataset.live);
  } catch {
    say("lost", board.dataset.lost.replace("%s", seenAt.toLocaleTimeString()));
  } finally {
    asking = false;
  }
}

function watch() {
  clearInterval(timer);
  if (document.hidden) {
    say("paused", board.dataset.paused);
    return;
  }
  timer = setInterval(ask, every);
  ask();
}

document.addEventListener("visibilitychange", watch);
setClock();
setInterval(count, 1000);
watch();
