// A new one-time link: copied with one press, and gone from the page's address.

const once = document.querySelector("[data-once]");
// The page came as the answer to a form: loading it again would make another link.
if (once) history.replaceState(null, "", once.dataset.once);

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      // Without https browsers offer no clipboard; the selected text is copied the old way.
      document.execCommand("copy");
    }
    document.querySelector("[data-copied]").textContent = button.dataset.done;
  });
}
