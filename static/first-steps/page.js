// Steps are done on other pages, often in other tabs: whoever comes back sees them ticked.

let isFresh = true;

async function refresh() {
  if (document.hidden || isFresh) return;
  isFresh = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const steps = page.querySelector("[data-steps]");
    const shown = document.querySelector("[data-steps]");
    // Unchanged, it stays: a focus inside would be lost.
    if (steps && steps.querySelector("ol").outerHTML !== shown.querySelector("ol").outerHTML) {
      shown.replaceWith(steps);
    }
  } catch {
    // Away for a moment; the next return looks again.
  }
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) isFresh = false;
  else refresh();
});
addEventListener("pageshow", (event) => {
  if (!event.persisted) return; // Fresh from the server anyway.
  isFresh = false;
  refresh();
});
