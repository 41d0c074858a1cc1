// Applies the theme that was chosen in this browser before anything is painted.
// A classic script in the head: a module would come after the first paint and flash.
(() => {
  const KEY = "qanot:theme";
  const root = document.documentElement;
  const stored = () => {
    try {
      const theme = localStorage.getItem(KEY);
      return theme === "light" || theme === "dark" ? theme : null;
    } catch {
      return null; // A browser that keeps nothing follows the system.
    }
  };
  const apply = (theme) => {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  apply(stored());
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("[data-theme-toggle]")) return;
    const isDark = stored()
      ? stored() === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    const next = isDark ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // The choice then lasts as long as the page.
    }
    apply(next);
  });
  addEventListener("storage", (event) => {
    if (event.key === KEY) apply(stored());
  });
})();
