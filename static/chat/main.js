// The chat page: what the socket says goes to the conversation, what the person does to the socket.

import { Composer } from "./composer.js";
import { ConversationView } from "./conversation.js";
import * as outbox from "./outbox.js";
import { byId, followKeyboard, page, t } from "./page.js";
import { Scroller } from "./scroller.js";
import { Sidebar } from "./sidebar.js";
import { Socket } from "./socket.js";
import * as tabs from "./tabs.js";
import { toast } from "./toast.js";

/** A running turn of which nothing was heard for so long is asked about. */
const SILENCE_MS = 4_000;
/** Frames of a turn that is not on the page come faster than the answer about it. */
const ASK_AGAIN_MS = 1_000;
/** A message without an answer goes out again after so long. */
const RESEND_MS = 8_000;
/** A page that was hidden for so long may have missed what another tab did. */
const STALE_MS = 20_000;

const scroller = new Scroller(byId("scroller"), byId("column"), byId("to-newest"));
const view = new ConversationView(scroller, {
  undo: (message, fact) => change({ type: "undo", message, fact }),
  retry: (text) => write(text, []),
});
const sidebar = new Sidebar({
  choose: (id) => go(id),
  rename: (row, title) => change({ type: "rename", conversation: row.id, title }),
  archive: (row, archived) => change({ type: "archive", conversation: row.id, archived }),
  listArchived: () => socket.send({ type: "conversations", archived: true }),
  search: (query) => change({ type: "search", query }),
});
const composer = new Composer({ send: write, stop, agent: () => current.agent });
const agentChoice = /** @type {HTMLSelectElement | null} */ (document.getElementById("agent"));

/** What is on the page: a conversation, or a new one that begins with the next message. */
const current = {
  /** @type {string | null} */
  id: null,
  agent: page.agents[0]?.id ?? "",
  thread: newId(),
};
/** @type {Map<string, number>} When each letter went out last. */
const sentAt = new Map();
/** @type {Map<string, number>} When a turn that is not on the page was asked about last. */
const askedAt = new Map();
let hiddenAt = 0;

// A letter of a new conversation that was not accepted before a reload is shown there again.
const orphan = outbox.all().find((letter) => letter.conversation === null);
if (page.conversation === null && orphan) {
  current.thread = orphan.thread;
  current.agent = orphan.agent;
}

const socket = new Socket({ opened, lost, frame });
show(page.conversation);
composer.ready(write);

function opened() {
  showConnection(true);
  list();
  if (current.id) socket.send({ type: "open", conversation: current.id });
  sentAt.clear();
  sendLetters();
}

function lost() {
  showConnection(false);
  view.unfinished.forEach((turn) => {
    turn.isAsking = false;
  });
}

/** @param {any} frame */
function frame(frame) {
  switch (frame.type) {
    case "conversations":
      sidebar.take(frame);
      showTitle();
      break;
    case "found":
      sidebar.takeFound(frame);
      break;
    case "conversation":
      changed(frame.conversation);
      break;
    case "opened":
      showOpened(frame);
      break;
    case "earlier":
      if (frame.conversation === current.id) view.showTurns(frame.turns, frame.has_earlier, true);
      break;
    case "missing":
      if (frame.conversation === current.id) go(null, { replace: true });
      else list();
      break;
    case "accepted":
      accepted(frame);
      break;
    case "refused":
      refused(frame);
      break;
    case "turn":
      if (frame.conversation === current.id) view.showTurn(frame.shown);
      break;
    case "resumed":
      replayed(frame.turn);
      break;
    case "session.changed":
      if (!view.turn(frame.turn)?.hasMessage(frame.message)) ask(frame.turn);
      break;
    case "noted.changed":
      socket.send({ type: "resume", turn: frame.turn });
      break;
    default:
      live(frame);
  }
  showRunning();
}

/** @param {any} frame */
function showOpened(frame) {
  if (frame.conversation.id !== current.id) return;
  view.isLoading = false;
  current.agent = frame.conversation.agent;
  current.thread = frame.conversation.thread;
  view.agentName = frame.conversation.agent_name;
  showHeader(frame.conversation.agent_name, frame.conversation);
  view.showTurns(frame.turns, frame.has_earlier);
  scroller.follow();
}

/** @param {any} frame A frame of docs/events.md. */
function live(frame) {
  const turn = view.turn(frame.turn);
  if (!turn) {
    // Begun by another tab or program: the database tells whose it is and what was asked.
    ask(frame.turn);
    return;
  }
  if (turn.take(frame) !== null) ask(turn.id);
}

/**
 * Ask how a turn stands and for what was missed of it, once at a time.
 * @param {string} id
 */
function ask(id) {
  const turn = view.turn(id);
  if (turn?.isOver || turn?.isAsking) return;
  if (turn) turn.ask();
  else if (performance.now() - (askedAt.get(id) ?? -Infinity) < ASK_AGAIN_MS) return;
  else askedAt.set(id, performance.now());
  socket.send({ type: "resume", turn: id, after: turn?.lastFrame ?? null });
}

/** @param {string} id */
function replayed(id) {
  const turn = view.turn(id);
  if (turn && turn.replayed() !== null) ask(id);
}

/**
 * @param {string} text
 * @param {import("./attach.js").Brought[]} files
 */
function write(text, files) {
  const letter = {
    key: newId(),
    text,
    files,
    at: new Date().toISOString(),
    conversation: current.id,
    agent: current.agent,
    thread: current.thread,
    refused: null,
  };
  outbox.put(letter);
  showLetter(letter);
  scroller.follow();
  sendLetters();
}

/** Send every letter that no answer has come to for a while. */
function sendLetters() {
  if (!socket.isOpen) return;
  for (const letter of outbox.all()) {
    const last = sentAt.get(letter.key);
    if (letter.refused !== null || (last && performance.now() - last < RESEND_MS)) continue;
    sentAt.set(letter.key, performance.now());
    const place = letter.conversation
      ? { conversation: letter.conversation }
      : { agent: letter.agent, thread: letter.thread };
    const files = (letter.files ?? []).map((file) => file.id);
    socket.send({ type: "send", key: letter.key, text: letter.text, files, ...place });
  }
}

/** Ask for the list, and for the archived ones where they are shown. */
function list() {
  socket.send({ type: "conversations" });
  if (sidebar.showsArchived) socket.send({ type: "conversations", archived: true });
}

/**
 * Ask for a change that is worth nothing later: without a connection it is said to be impossible.
 * @param {object} ask
 */
function change(ask) {
  if (socket.isOpen) socket.send(ask);
  else toast(t("notNow"));
}

/** @param {import("./rows.js").Row} row As it stands after it was renamed, archived or brought back. */
function changed(row) {
  const was = sidebar.row(row.id);
  const isPutAway = row.is_archived && !was?.is_archived;
  sidebar.place(row);
  tabs.tell("list");
  if (isPutAway) {
    const bringBack = { type: "archive", conversation: row.id, archived: false };
    toast(t("archivedDone", { title: row.title }), t("undo"), () => change(bringBack));
    if (row.id === current.id) go(null);
  } else if (row.id === current.id) showHeader(row.agent_name, row);
}

/** @param {any} frame */
function accepted(frame) {
  const letter = outbox.get(frame.key);
  outbox.drop(frame.key);
  sidebar.place({ ...frame.conversation, is_running: true });
  tabs.tell("list");
  if (!isHere(frame.conversation)) return;
  if (letter) {
    const message = {
      id: frame.message,
      text: letter.text.trim(),
      at: letter.at,
      noted: frame.noted,
      attachments: frame.attachments,
    };
    view.showAccepted(frame.turn, message, frame.key);
  }
  if (current.id !== null) showHeader(frame.conversation.agent_name, frame.conversation);
  else {
    current.id = frame.conversation.id;
    history.replaceState(null, "", `${page.chatUrl}${current.id}/`);
    sidebar.mark(current.id);
    showHeader(frame.conversation.agent_name, frame.conversation);
    socket.send({ type: "open", conversation: current.id });
  }
}

/** @param {any} frame */
function refused(frame) {
  if (frame.key === null) {
    toast(frame.text);
    list();
    return;
  }
  const letter = outbox.get(frame.key);
  if (!letter || frame.code === "unavailable") return;
  letter.refused = frame.text;
  // They cannot be sent again: whoever edits the message attaches others.
  if (frame.code === "files_gone") letter.files = [];
  outbox.put(letter);
  if (isHere(letter)) showLetter(letter);
}

/** @param {{ id?: string, conversation?: string | null, thread: string }} place */
function isHere(place) {
  const id = place.id ?? place.conversation ?? null;
  return (id !== null && id === current.id) || place.thread === current.thread;
}

/** @param {import("./outbox.js").Letter} letter */
function showLetter(letter) {
  const discard = () => {
    outbox.drop(letter.key);
    view.dropPending(letter.key);
  };
  view.showPending(letter, discard, () => {
    discard();
    composer.fill(letter.text, letter.files);
  });
}

function stop() {
  const turn = view.unfinished[0];
  if (!turn || turn.isStopping) return;
  turn.isStopping = true;
  socket.send({ type: "stop", turn: turn.id });
  showRunning();
}

function showRunning() {
  const [turn] = view.unfinished;
  composer.show({ isRunning: Boolean(turn), isStopping: Boolean(turn?.isStopping) });
  if (current.id) sidebar.markRunning(current.id, Boolean(turn));
}

/**
 * Go to a conversation, or to a new one.
 * @param {string | null} id
 * @param {{ replace?: boolean }} [how]
 */
function go(id, { replace = false } = {}) {
  const url = id ? `${page.chatUrl}${id}/` : page.chatUrl;
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  if (id === null) current.thread = newId();
  show(id);
}

/** @param {string | null} id */
function show(id) {
  current.id = id;
  const row = id ? sidebar.row(id) : undefined;
  if (id !== null) current.thread = row?.thread ?? "";
  if (id === null && !page.agents.some((agent) => agent.id === current.agent)) {
    current.agent = page.agents[0]?.id ?? "";
  }
  const name = row?.agent_name ?? page.agents.find((agent) => agent.id === current.agent)?.name ?? "";
  view.isLoading = id !== null;
  view.clear(name);
  sidebar.mark(id);
  showHeader(name, row ?? null);
  outbox.all().filter(isHere).forEach(showLetter);
  composer.moveTo(id ?? "new");
  socket.send(id ? { type: "open", conversation: id } : { type: "leave" });
  showRunning();
}

/**
 * @param {string} agentName
 * @param {import("./rows.js").Row | null} row Null where the conversation is new or not known yet.
 */
function showHeader(agentName, row) {
  const title = row?.title ?? t("newConversation");
  byId("agent-name").textContent = agentName;
  byId("empty-agent").textContent = agentName;
  byId("conversation-title").textContent = row?.title ?? "";
  byId("archived-note").hidden = !row?.is_archived;
  showModel();
  const hasChoice = current.id === null && agentChoice !== null;
  byId("agent-name").classList.toggle("unseen", hasChoice);
  if (agentChoice) {
    agentChoice.hidden = !hasChoice;
    agentChoice.value = current.agent;
  }
  document.title = current.id ? `${title} · Qanot` : "Qanot";
}

/** Another tab may have renamed what is open here. */
function showTitle() {
  const row = current.id === null ? undefined : sidebar.row(current.id);
  if (row) showHeader(row.agent_name, row);
}

/** Say on an empty page whether the agent has a model, and offer only what works. */
function showModel() {
  const agent = page.agents.find((one) => one.id === current.agent);
  const hasModel = agent?.hasModel ?? true;
  byId("no-model").hidden = hasModel;
  byId("no-model-owner").hidden = !agent?.mayConnect;
  byId("no-model-member").hidden = Boolean(agent?.mayConnect);
  for (const button of document.querySelectorAll("[data-needs-model]")) {
    /** @type {HTMLElement} */ (button).hidden = !hasModel;
  }
}

/** @param {boolean} isConnected */
function showConnection(isConnected) {
  byId("connection").hidden = isConnected;
}

function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Over plain http from another machine browsers offer only this.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

agentChoice?.addEventListener("change", () => {
  current.agent = agentChoice.value;
  current.thread = newId();
  show(null);
});
for (const link of document.querySelectorAll("[data-new-conversation]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    sidebar.close();
    go(null);
  });
}
for (const button of document.querySelectorAll("[data-suggestion]")) {
  button.addEventListener("click", () => composer.fill(button.textContent?.trim() ?? ""));
}
byId("earlier").addEventListener("click", () => {
  socket.send({ type: "open", conversation: current.id, before: view.oldestTurn });
});
addEventListener("popstate", () => {
  const id = /([0-9a-f-]{36})\/$/.exec(location.pathname)?.[1] ?? null;
  if (id === null) current.thread = newId();
  show(id);
});
tabs.hear((news) => {
  if (news === "logged-out") tabs.goToLogin();
  else list();
});
tabs.tellOfLogout();
followKeyboard();
addEventListener("storage", () => {
  for (const key of outbox.forgetDelivered()) view.dropPending(key);
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    hiddenAt = performance.now();
    return;
  }
  if (performance.now() - hiddenAt < STALE_MS) return;
  list();
  if (current.id) socket.send({ type: "open", conversation: current.id });
});
setInterval(() => {
  sendLetters();
  for (const turn of view.unfinished) {
    if (performance.now() - turn.heardAt < SILENCE_MS) continue;
    turn.isAsking = false;
    ask(turn.id);
  }
}, 1_000);
