// The order of one turn's live frames: nothing applied twice, nothing skipped unnoticed.

/**
 * @typedef {object} Frame A frame of docs/events.md.
 * @property {string} type
 * @property {string} turn
 * @property {number} attempt
 * @property {number} n
 */

export class FrameOrder {
  #attempt = 0;
  #n = 0;
  /** @type {Frame[]} Frames behind a gap. */
  #waiting = [];
  /** Whether something is missing, which a replay may bring. */
  hasGap = false;

  /** Id of the last frame that was applied; null before the first. */
  get last() {
    return this.#attempt ? `${this.#attempt}-${this.#n}` : null;
  }

  /**
   * Take a frame as it arrives.
   * @param {Frame} frame
   * @returns {Frame[]} The frames to apply now, in order.
   */
  take(frame) {
    if (this.#isSeen(frame)) return [];
    if (!this.#follows(frame)) {
      this.#waiting.push(frame);
      this.hasGap = true;
      return [];
    }
    this.#note(frame);
    return [frame, ...this.#drain()];
  }

  /**
   * The replay is over: what it did not bring is gone, so go on behind the gap.
   * @returns {Frame[]}
   */
  giveUpGap() {
    const frames = this.#waiting
      .filter((frame) => !this.#isSeen(frame))
      .sort((a, b) => a.attempt - b.attempt || a.n - b.n);
    this.#waiting = [];
    this.hasGap = false;
    frames.forEach((frame) => this.#note(frame));
    return frames;
  }

  #drain() {
    /** @type {Frame[]} */
    const ready = [];
    for (;;) {
      this.#waiting = this.#waiting.filter((frame) => !this.#isSeen(frame));
      const next = this.#waiting.find((frame) => this.#follows(frame));
      if (!next) break;
      this.#note(next);
      ready.push(next);
    }
    this.hasGap = this.#waiting.length > 0;
    return ready;
  }

  /** @param {Frame} frame */
  #isSeen(frame) {
    return (
      frame.attempt < this.#attempt || (frame.attempt === this.#attempt && frame.n <= this.#n)
    );
  }

  /** @param {Frame} frame */
  #follows(frame) {
    // These say all there is, whatever came before them.
    if (frame.type === "snapshot" || frame.type === "turn.started") return true;
    return frame.attempt === this.#attempt && frame.n === this.#n + 1;
  }

  /** @param {Frame} frame */
  #note(frame) {
    this.#attempt = frame.attempt;
    this.#n = frame.n;
  }
}
