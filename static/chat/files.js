// Files on the page: what came with a message, what an answer sent.

import { el, icon } from "./dom.js";
import { page, t } from "./page.js";

/**
 * @typedef {object} Attachment A file of a message; of one on its way only what the page knows.
 * @property {string | null} id
 * @property {string} kind
 * @property {string} name
 * @property {number | null} size_bytes
 * @property {string} [state]
 * @property {string | null} [preview]
 * @property {string | null} [heard]
 * @property {string | null} [trouble]
 */

/**
 * @typedef {object} SentFile
 * @property {string} id
 * @property {string} name
 * @property {number} size_bytes
 * @property {string | null} preview
 * @property {string} caption
 */

const KILO = 1024;

/**
 * @param {number} bytes
 * @returns {string} Such as 3.4 MB.
 */
export function sizeOf(bytes) {
  const isLarge = bytes >= KILO * KILO;
  const size = isLarge ? bytes / KILO / KILO : Math.max(bytes / KILO, 1);
  return new Intl.NumberFormat(page.language, {
    style: "unit",
    unit: isLarge ? "megabyte" : "kilobyte",
    maximumFractionDigits: size < 10 && isLarge ? 1 : 0,
  }).format(size);
}

/** @param {string} id */
function address(id) {
  return `${page.filesUrl}${id}/`;
}

/**
 * The files of a person's message.
 * @param {Attachment[]} attachments
 */
export function attachmentsElement(attachments) {
  return el("div", { class: "files" }, ...attachments.map(attachmentElement));
}

/** @param {Attachment} attachment */
function attachmentElement(attachment) {
  const { id, name, kind, preview, heard, trouble } = attachment;
  const label = name || t(kind === "photo" ? "picture" : "file");
  if (id && preview) return picture(id, preview, label);
  const size = attachment.size_bytes === null ? "" : sizeOf(attachment.size_bytes);
  const below = trouble ?? (heard ? `“${heard}”` : size);
  return card(id, kind === "voice" || kind === "audio" ? "sound" : "file", label, below, {
    isTrouble: Boolean(trouble),
  });
}

/**
 * The files that an answer sent.
 * @param {SentFile[]} files
 */
export function filesElement(files) {
  return el(
    "div",
    { class: "files" },
    ...files.map((file) =>
      el(
        "figure",
        { class: "sent" },
        file.preview ? picture(file.id, file.preview, file.name) : null,
        card(file.id, "file", file.name, sizeOf(file.size_bytes)),
        file.caption ? el("figcaption", {}, file.caption) : null,
      ),
    ),
  );
}

/**
 * @param {string} id
 * @param {string} preview
 * @param {string} label
 */
function picture(id, preview, label) {
  const image = el("img", { src: `${address(preview)}?inline`, alt: label, loading: "lazy" });
  const link = el(
    "a",
    { class: "picture", href: `${address(id)}?inline`, target: "_blank", rel: "noopener" },
    image,
  );
  image.addEventListener("error", () => link.replaceWith(card(id, "file", label, "")));
  return link;
}

/**
 * @param {string | null} id
 * @param {"file" | "sound"} sign
 * @param {string} name
 * @param {string} below
 * @param {{ isTrouble?: boolean }} [how]
 */
function card(id, sign, name, below, { isTrouble = false } = {}) {
  const content = [
    icon(sign),
    el(
      "span",
      { class: "file-words" },
      el("span", { class: "file-name" }, name),
      below ? el("small", { class: isTrouble ? "trouble" : "" }, below) : null,
    ),
  ];
  if (id === null) return el("div", { class: "file" }, ...content);
  const words = t("download", { name });
  return el(
    "a",
    { class: "file", href: address(id), download: name, title: words, "aria-label": words },
    ...content,
    icon("download"),
  );
}
