/** Pointer and wheel on a panel with the common axis of time: drag pans, a wheel or two fingers zoom, a click chooses. */

/** @typedef {import("./view.js").View} View */
/**
 * @typedef {{left: number, wheel: boolean, click: (x: number, y: number, twice: boolean) => void, scroll?: (pixels: number) => void}} How
 */

const STILL = 4;
const TWICE_MS = 350;

export class Gestures {
  /**
   * @param {HTMLElement} element
   * @param {View} view
   * @param {How} how
   */
  constructor(element, view, how) {
    this.element = element;
    this.view = view;
    this.how = how;
    /** @type {Map<number, {x: number, y: number}>} */
    this.down = new Map();
    this.moved = 0;
    this.last = 0;
    element.addEventListener("pointerdown", (event) => this.#press(event));
    element.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      element.addEventListener(name, (event) => this.#release(event, name === "pointerup"));
    }
    element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  get #width() {
    return Math.max(this.element.clientWidth - this.how.left, 1);
  }

  /** @param {number} x in pixels of the panel */
  #time(x) {
    const { from, to } = this.view;
    return from + ((x - this.how.left) / this.#width) * (to - from);
  }

  /** @param {MouseEvent} event */
  #at(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (event.button) return;
    this.down.set(event.pointerId, this.#at(event));
    if (this.down.size === 1) this.moved = 0;
    this.element.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    const before = this.down.get(event.pointerId);
    if (!before) return;
    const now = this.#at(event);
    this.down.set(event.pointerId, now);
    this.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (this.moved < STILL) return;
    const { view } = this;
    if (this.down.size === 1) {
      const by = ((before.x - now.x) / this.#width) * (view.to - view.from);
      view.window(view.from + by, view.to + by);
      this.how.scroll?.(before.y - now.y);
      return;
    }
    const [one, other] = [...this.down.values()];
    const still = one === now ? other : one;
    const factor = Math.max(Math.abs(before.x - still.x), 20) / Math.max(Math.abs(now.x - still.x), 20);
    view.zoom(factor, this.#time((now.x + still.x) / 2));
  }

  /**
   * @param {PointerEvent} event
   * @param {boolean} counts
   */
  #release(event, counts) {
    const at = this.down.get(event.pointerId);
    if (!this.down.delete(event.pointerId) || !at || this.down.size || !counts || this.moved >= STILL) return;
    const twice = event.timeStamp - this.last < TWICE_MS;
    this.last = event.timeStamp;
    this.how.click(at.x, at.y, twice);
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    const { view } = this;
    const across = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!this.how.wheel && !event.ctrlKey && !event.metaKey && !across) return;
    event.preventDefault();
    const pixels = (event.deltaMode ? 16 : 1) * (across ? event.deltaX || event.deltaY : event.deltaY);
    if (across) {
      const by = (pixels / this.#width) * (view.to - view.from);
      view.window(view.from + by, view.to + by);
    } else if (event.altKey) {
      this.how.scroll?.(pixels);
    } else {
      view.zoom(Math.exp(Math.min(Math.max(pixels, -240), 240) * 0.0022), this.#time(this.#at(event).x));
    }
  }
}
