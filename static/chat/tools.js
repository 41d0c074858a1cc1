// Tool calls: one line each while they run, folded once the turn is over.

import { el, icon } from "./dom.js";
import { page, t } from "./page.js";

/** @param {string} name What a model called: maybe a tool that no app offers. */
function readable(name) {
  return Object.hasOwn(page.tools, name) ? page.tools[name] : name.replaceAll("_", " ");
}

/** @param {number} seconds */
function duration(seconds) {
  const digits = seconds < 10 ? 1 : 0;
  const number = new Intl.NumberFormat(page.language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return t("seconds", { seconds: number.format(seconds) });
}

/** One call. */
export class ToolLine {
  #state = el("span", { class: "tool-state" });
  #time = el("span", { class: "tool-time" });
  /** @type {number | undefined} */
  #ticking;

  /** @param {string} name */
  constructor(name) {
    this.element = el(
      "div",
      { class: "tool" },
      this.#state,
      el("span", { class: "tool-name" }, readable(name)),
      this.#time,
    );
  }

  run() {
    const since = performance.now();
    this.element.dataset.state = "running";
    this.#state.replaceChildren(
      el("span", { class: "spinner", role: "img", "aria-label": t("toolRunning") }),
    );
    this.#ticking = setInterval(() => {
      this.#time.textContent = duration((performance.now() - since) / 1_000);
    }, 500);
  }

  /**
   * @param {"done" | "error"} state
   * @param {number | null} seconds
   */
  finish(state, seconds) {
    clearInterval(this.#ticking);
    this.element.dataset.state = state;
    this.#state.replaceChildren(icon(state === "done" ? "check" : "cross"));
    const words = [
      ...(state === "error" ? [t("toolFailed")] : []),
      ...(seconds === null ? [] : [duration(seconds)]),
    ];
    this.#time.textContent = words.join(" · ");
  }

  /** Nothing will come of it any more. */
  drop() {
    clearInterval(this.#ticking);
    this.element.remove();
  }
}

/**
 * The calls of a finished answer, folded.
 * @param {{ name: string, state: "done" | "error", seconds: number | null }[]} tools
 */
export function foldedTools(tools) {
  const names = [...new Set(tools.map((tool) => readable(tool.name)))].join(", ");
  const key = tools.length === 1 ? "toolsUsedOne" : "toolsUsedMany";
  return el(
    "details",
    { class: "tools" },
    el("summary", {}, t(key, { count: tools.length, names })),
    ...tools.map((tool) => {
      const line = new ToolLine(tool.name);
      line.finish(tool.state, tool.seconds);
      return line.element;
    }),
  );
}
