// Enter in the message field means to send from the first moment on, though the page's modules come
// a little later. A classic script in the head, so that it is there before the field.
document.addEventListener("keydown", (event) => {
  const root = document.documentElement;
  if (root.dataset.ready !== undefined || !(event.target instanceof HTMLTextAreaElement)) return;
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (matchMedia("(pointer: coarse) and (hover: none)").matches) return;
  event.preventDefault();
  root.dataset.sendWhenReady = "";
});
