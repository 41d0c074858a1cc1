// Building elements without ever parsing text as HTML.

/**
 * Make an element.
 * @param {string} tag
 * @param {Record<string, string | boolean | null | undefined>} [attributes] true: present, empty;
 *     false, null: left out.
 * @param {...(Node | string | null | undefined)} children Strings become text.
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (typeof value === "string") element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Paths of the icons, on a grid of 24. */
const ICONS = {
  archive: "M4 5h16v4H4ZM5.5 9v10h13V9M10 13h4",
  alert: "M12 8v5m0 3.5v.01M12 3 2.5 20h19Z",
  check: "m5 12.5 4.5 4.5L19 7.5",
  copy: "M9 9h10v11H9ZM5 15V4h10",
  cross: "m7 7 10 10M17 7 7 17",
  download: "M12 4v11m-5-5 5 5 5-5M5 20h14",
  dots: "M5 12h.01M12 12h.01M19 12h.01",
  again: "M19 12a7 7 0 1 1-2.2-5.1L19 9m0-5v5h-5",
  file: "M6 3h8l4 4v14H6ZM14 3v4h4",
  note: "M6 4h12v16l-6-4-6 4Z",
  sound: "M5 10v4M9 7v10M13 4v16M17 8v8M21 11v2",
  stop: "M7 7h10v10H7Z",
};

/**
 * Make an icon that screen readers pass over.
 * @param {keyof typeof ICONS} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/**
 * Turn HTML that our server has cleaned (sessions/rendering.py) into nodes.
 * Never give it anything else.
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function fragmentOfCleanHtml(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}
