// Files that go with the next message: chosen, dropped or pasted, brought to the server one by one.

import { el, icon } from "./dom.js";
import { sizeOf } from "./files.js";
import { byId, page, t } from "./page.js";

/** @typedef {{ id: string, kind: string, name: string, size_bytes: number }} Brought */

/**
 * One file in the message field.
 * @typedef {object} Chip
 * @property {string} name
 * @property {number} size
 * @property {Brought | null} brought Once it is there.
 * @property {string | null} trouble Why it is not, in words.
 * @property {XMLHttpRequest | null} request While it is on its way.
 * @property {HTMLElement} element
 * @property {HTMLElement} state
 */

const KEPT = `qanot:files:${page.user}:`;
const THUMBNAIL_PX = 80;

export class Attachments {
  #list = byId("chips");
  #input = /** @type {HTMLInputElement} */ (byId("file"));
  #announcer = byId("announcer");
  /** @type {Map<string, Chip[]>} Of every place that one has been to. */
  #places = new Map();
  #place = "new";
  #handlers;

  /**
   * @param {{ changed: () => void, tell: (words: string) => void, agent: () => string,
   *   back: () => void }} handlers back: gives the focus to the message field.
   */
  constructor(handlers) {
    this.#handlers = handlers;
    byId("attach").addEventListener("click", () => this.#input.click());
    this.#input.addEventListener("change", () => {
      this.add(this.#input.files ?? []);
      this.#input.value = "";
      handlers.back();
    });
    this.#takeDrops(byId("main"));
    byId("message").addEventListener("paste", (event) => this.#pasted(event));
  }

  get isEmpty() {
    return this.#chips.length === 0;
  }

  /** Whether some file is not there yet, or will not be. */
  get isUnready() {
    return this.#chips.some((chip) => chip.brought === null);
  }

  get hasTrouble() {
    return this.#chips.some((chip) => chip.trouble !== null);
  }

  /** @param {string} place The conversation's id, or "new". */
  moveTo(place) {
    this.#place = place;
    if (!this.#places.has(place)) {
      this.#places.set(place, readKept(place).map((brought) => this.#chipOf(brought)));
    }
    this.#render();
  }

  /**
   * Take the files out, as they are sent.
   * @returns {Brought[]}
   */
  take() {
    const brought = this.#chips.flatMap((chip) => (chip.brought === null ? [] : [chip.brought]));
    this.#places.set(this.#place, []);
    this.#render();
    return brought;
  }

  /** @param {Brought[]} brought What is to be sent again. */
  give(brought) {
    this.#places.set(this.#place, brought.map((one) => this.#chipOf(one)));
    this.#render();
  }

  /** @param {Iterable<File>} files */
  add(files) {
    let isFull = false;
    for (const file of files) {
      isFull = this.#chips.length >= page.maxFiles;
      if (isFull) break;
      const chip = this.#newChip(file.name, file.size);
      this.#chips.push(chip);
      void showThumbnail(file, chip.element);
      if (file.size === 0) this.#fail(chip, t("emptyFile"));
      else if (file.size > page.maxFileBytes) this.#fail(chip, t("fileTooLarge"));
      else this.#bring(chip, file);
    }
    this.#render();
    if (isFull) this.#handlers.tell(t("tooManyFiles", { count: page.maxFiles }));
  }

  get #chips() {
    return this.#places.get(this.#place) ?? [];
  }

  /**
   * @param {Chip} chip
   * @param {File} file
   */
  #bring(chip, file) {
    const form = new FormData();
    const token = /** @type {HTMLInputElement} */ (
      document.querySelector("#logout [name=csrfmiddlewaretoken]")
    );
    form.append("csrfmiddlewaretoken", token.value);
    form.append("agent", this.#handlers.agent());
    form.append("file", file);
    const request = new XMLHttpRequest();
    chip.request = request;
    const bar = /** @type {HTMLProgressElement} */ (
      el("progress", { max: "1", value: "0", "aria-label": t("uploading", { name: chip.name }) })
    );
    chip.state.replaceChildren(bar);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.addEventListener("load", () => this.#loaded(chip, request));
    request.addEventListener("error", () => this.#fail(chip, t("uploadFailed")));
    request.open("POST", page.filesUrl);
    request.responseType = "json";
    request.send(form);
  }

  /**
   * @param {Chip} chip
   * @param {XMLHttpRequest} request
   */
  #loaded(chip, request) {
    chip.request = null;
    if (request.status !== 201) {
      const isLarge = request.status === 413;
      this.#fail(chip, request.response?.text ?? t(isLarge ? "fileTooLarge" : "uploadFailed"));
      return;
    }
    chip.brought = request.response;
    chip.state.replaceChildren(sizeOf(request.response.size_bytes));
    this.#announcer.textContent = t("attached", { name: chip.name });
    this.#changed();
  }

  /**
   * @param {Chip} chip
   * @param {string} words
   */
  #fail(chip, words) {
    chip.request = null;
    chip.trouble = words;
    chip.element.classList.add("refused");
    chip.state.replaceChildren(words);
    this.#announcer.textContent = `${chip.name}: ${words}`;
    this.#changed();
  }

  /** @param {Brought} brought */
  #chipOf(brought) {
    const chip = this.#newChip(brought.name, brought.size_bytes);
    chip.brought = brought;
    chip.state.textContent = sizeOf(brought.size_bytes);
    return chip;
  }

  /**
   * @param {string} name
   * @param {number} size
   * @returns {Chip}
   */
  #newChip(name, size) {
    const state = el("small", {});
    const remove = el(
      "button",
      { type: "button", class: "icon-button", "aria-label": t("removeFile", { name }) },
      icon("cross"),
    );
    const element = el(
      "li",
      { class: "chip" },
      icon("file"),
      el("span", { class: "file-words" }, el("span", { class: "file-name" }, name), state),
      remove,
    );
    const chip = { name, size, brought: null, trouble: null, request: null, element, state };
    remove.addEventListener("click", () => this.#remove(chip));
    return chip;
  }

  /** @param {Chip} chip */
  #remove(chip) {
    chip.request?.abort();
    const place = this.#chips.indexOf(chip);
    this.#chips.splice(place, 1);
    this.#render();
    const next = this.#chips[Math.min(place, this.#chips.length - 1)];
    if (next) next.element.querySelector("button")?.focus();
    else this.#handlers.back();
  }

  #render() {
    this.#list.replaceChildren(...this.#chips.map((chip) => chip.element));
    this.#list.hidden = this.isEmpty;
    this.#changed();
  }

  #changed() {
    for (const [place, chips] of this.#places) {
      writeKept(place, chips.flatMap((chip) => (chip.brought === null ? [] : [chip.brought])));
    }
    this.#handlers.changed();
  }

  /** @param {ClipboardEvent} event */
  #pasted(event) {
    const data = event.clipboardData;
    // A table comes as text and as a picture of it: the text is what is meant.
    if (!data || data.files.length === 0 || data.types.includes("text/plain")) return;
    event.preventDefault();
    this.add(data.files);
  }

  /** @param {HTMLElement} area */
  #takeDrops(area) {
    /** @param {DragEvent} event */
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;
    addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      // A file that is dropped beside the field is not opened in the page's place.
      event.preventDefault();
      area.toggleAttribute("data-dropping", area.contains(/** @type {Node} */ (event.target)));
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) area.removeAttribute("data-dropping");
    });
    addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      area.removeAttribute("data-dropping");
      if (area.contains(/** @type {Node} */ (event.target))) this.add(event.dataTransfer?.files ?? []);
      this.#handlers.back();
    });
  }
}

/**
 * Show a picture small in the place of its icon; what is none keeps the icon.
 * @param {File} file
 * @param {HTMLElement} element
 */
async function showThumbnail(file, element) {
  if (!/^image\/(jpeg|png|webp|gif)$/.test(file.type)) return;
  try {
    const bitmap = await createImageBitmap(file);
    const scale = THUMBNAIL_PX / Math.min(bitmap.width, bitmap.height);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = THUMBNAIL_PX;
    const [width, height] = [bitmap.width * scale, bitmap.height * scale];
    const [left, top] = [(THUMBNAIL_PX - width) / 2, (THUMBNAIL_PX - height) / 2];
    canvas.getContext("2d")?.drawImage(bitmap, left, top, width, height);
    bitmap.close();
    const image = el("img", { src: canvas.toDataURL("image/jpeg", 0.7), alt: "" });
    element.querySelector(".icon")?.replaceWith(image);
  } catch {
    // No picture after all.
  }
}

/**
 * @param {string} place
 * @returns {Brought[]}
 */
function readKept(place) {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT + place) ?? "[]");
  } catch {
    return [];
  }
}

/**
 * @param {string} place
 * @param {Brought[]} brought
 */
function writeKept(place, brought) {
  try {
    if (brought.length) sessionStorage.setItem(KEPT + place, JSON.stringify(brought));
    else sessionStorage.removeItem(KEPT + place);
  } catch {
    // What cannot be kept is attached again after a reload.
  }
}
