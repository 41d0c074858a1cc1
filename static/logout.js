// Texts that were typed and not saved stay in this browser for when a login runs out. Whoever logs
// out on purpose leaves none behind: the next person at this browser may be another one.
// A classic script: it has to listen before any page's own handler stops the event.
document.addEventListener(
  "submit",
  ({ target }) => {
    if (!/^\/(admin\/)?logout\/$/.test(new URL(target.action).pathname)) return;
    try {
      for (const name of Object.keys(localStorage)) {
        if (name.startsWith("qanot:text:")) localStorage.removeItem(name);
      }
    } catch {
      // A browser that keeps nothing has nothing to forget.
    }
  },
  { capture: true },
);
