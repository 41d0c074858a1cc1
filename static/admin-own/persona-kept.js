// What was typed in the document editor and not saved, kept in this browser: a login may run out,
// a tab may close. logout.js forgets it.

const PREFIX = "qanot:text:";
const KEPT_MS = 30 * 24 * 3600 * 1000;

// A draft: its text, when it was typed (at), on which version (base), whether it was sent since.
export class Kept {
  constructor(name) {
    this.name = PREFIX + name;
  }

  // The draft, unless what was sent has become a version of one's own.
  read(ownVersion) {
    try {
      const draft = JSON.parse(localStorage.getItem(this.name) ?? "null");
      if (draft === null) return null;
      const isSaved = draft.isSent && ownVersion > draft.base;
      if (!isSaved && Date.now() - draft.at < KEPT_MS) return draft;
      this.drop();
    } catch {
      // Forbidden or unreadable: nothing was kept.
    }
    return null;
  }

  write(text, base, isSent = false) {
    try {
      localStorage.setItem(this.name, JSON.stringify({ text, base, isSent, at: Date.now() }));
    } catch {
      // Full or forbidden: the text lives as long as the page.
    }
  }

  drop() {
    try {
      localStorage.removeItem(this.name);
    } catch {
      // As above.
    }
  }
}

// "22:31", with the day where it was not today.
export function moment(at) {
  const then = new Date(at);
  const time = { hour: "2-digit", minute: "2-digit" };
  const isToday = then.toDateString() === new Date().toDateString();
  const parts = isToday ? time : { day: "numeric", month: "long", ...time };
  return new Intl.DateTimeFormat(document.documentElement.lang || undefined, parts).format(then);
}
