// A button that copies what stands beside it, and says so.
for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const before = button.textContent;
  button.addEventListener("click", async () => {
    if (!(await copy(source))) return;
    button.textContent = button.dataset.done;
    setTimeout(() => (button.textContent = before), 2000);
  });
}

// The clipboard is there on https and localhost only; elsewhere the text is selected and copied.
async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}
