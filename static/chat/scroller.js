// Follows the newest words, until the reader scrolls up.

const NEAR_END_PX = 32;

export class Scroller {
  #box;
  #button;
  #isFollowing = true;
  #lastTop = 0;

  /**
   * @param {HTMLElement} box What scrolls.
   * @param {HTMLElement} content What grows in it.
   * @param {HTMLElement} button Leads back to the newest words.
   */
  constructor(box, content, button) {
    this.#box = box;
    this.#button = button;
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    button.addEventListener("click", () => this.follow(true));
    const observer = new ResizeObserver(() => this.#grown());
    observer.observe(content);
    observer.observe(box);
  }

  /** @param {boolean} [isSmooth] */
  follow(isSmooth = false) {
    this.#isFollowing = true;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#box.scrollTo({
      top: this.#box.scrollHeight,
      behavior: isSmooth && !isCalm ? "smooth" : "instant",
    });
    this.#showButton();
  }

  /**
   * Add something above without moving what is being read.
   * @param {() => void} change
   */
  keepPlace(change) {
    const fromEnd = this.#box.scrollHeight - this.#box.scrollTop;
    change();
    this.#box.scrollTop = this.#box.scrollHeight - fromEnd;
  }

  get #fromEnd() {
    return this.#box.scrollHeight - this.#box.clientHeight - this.#box.scrollTop;
  }

  #scrolled() {
    const top = this.#box.scrollTop;
    if (this.#fromEnd < NEAR_END_PX) this.#isFollowing = true;
    else if (top < this.#lastTop) this.#isFollowing = false;
    this.#lastTop = top;
    this.#showButton();
  }

  #grown() {
    if (this.#isFollowing) this.#box.scrollTop = this.#box.scrollHeight;
    this.#lastTop = this.#box.scrollTop;
    this.#showButton();
  }

  #showButton() {
    this.#button.hidden = this.#isFollowing || this.#fromEnd < 2 * NEAR_END_PX;
  }
}
