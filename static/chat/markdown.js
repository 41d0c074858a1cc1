// Markdown that is still being written → DOM nodes. The finished answer comes from the server.

import * as smd from "../vendor/streaming-markdown/smd.min.js";

const SAFE_LINK = /^(https?:\/\/|mailto:)/i;
/** Formulas are shown as they were written. */
const MATHS = new Map([
  [smd.EQUATION_INLINE, "$"],
  [smd.EQUATION_BLOCK, "$$"],
]);

/** Writes one piece of an answer into an element, as it comes. */
export class LiveMarkdown {
  #root;
  #parser;
  /** @type {Text | null} Set once the parser failed: then the rest is shown as plain text. */
  #plain = null;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    this.#parser = smd.parser(harmlessRenderer(root));
  }

  /** @param {string} text */
  write(text) {
    if (this.#plain !== null) {
      this.#plain.appendData(text);
      return;
    }
    try {
      smd.parser_write(this.#parser, text);
    } catch {
      this.#plain = new Text(text);
      this.#root.append(this.#plain);
    }
  }

  end() {
    if (this.#plain === null) smd.parser_end(this.#parser);
  }
}

/**
 * The library's renderer, except that links lead to the web and to mail only, images become links
 * (fetching one would tell strangers who reads), and boxes are signs.
 * @param {HTMLElement} root
 */
function harmlessRenderer(root) {
  const renderer = smd.default_renderer(root);
  const { add_token: addToken, end_token: endToken } = renderer;
  /** @type {number[]} */
  const open = [];
  renderer.add_token = (data, type) => {
    if (type === smd.CHECKBOX) {
      data.nodes[data.index].closest("li")?.classList.add("task");
      addSpan(data, "☐");
    } else if (MATHS.has(type)) addSpan(data, MATHS.get(type) ?? "");
    else addToken(data, type === smd.IMAGE ? smd.LINK : type);
    open.push(type);
  };
  renderer.end_token = (data) => {
    const maths = MATHS.get(open.pop() ?? 0);
    if (maths) addText(data, maths);
    endToken(data);
  };
  renderer.add_text = addText;
  renderer.set_attr = (data, type, value) => {
    const element = data.nodes[data.index];
    if (type === smd.LANG) element.className = `language-${value}`;
    else if (type === smd.START) element.setAttribute("start", value);
    else if (type === smd.CHECKED) element.textContent = "☑";
    else if (SAFE_LINK.test(value)) setLink(element, value);
  };
  return renderer;
}

/** @typedef {{ nodes: HTMLElement[], index: number }} Data The open elements, outermost first. */

/**
 * @param {Data} data
 * @param {string} text
 */
function addText(data, text) {
  const parent = data.nodes[data.index];
  // One growing text node instead of one for each token.
  if (parent.lastChild instanceof Text) parent.lastChild.appendData(text);
  else parent.append(text);
}

/**
 * @param {Data} data
 * @param {string} text
 */
function addSpan(data, text) {
  const span = document.createElement("span");
  span.textContent = text;
  data.nodes[data.index].append(span);
  data.index += 1;
  data.nodes[data.index] = span;
}

/**
 * @param {HTMLElement} element
 * @param {string} value
 */
function setLink(element, value) {
  element.setAttribute("href", value);
  element.setAttribute("target", "_blank");
  element.setAttribute("rel", "noopener noreferrer nofollow");
  if (element.textContent === "") element.textContent = value;
}
