/** Elements. Names that come with a recording become text only: nothing here reads markup. */

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element. Attributes: `class`, `on<event>` functions, `text`, `dataset`; all others are set as they are.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = String(value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "css")
      for (const [property, how] of Object.entries(value)) element.style.setProperty(property, String(how));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
export function append(element, children) {
  for (const child of children) if (child) element.append(child);
}

/**
 * @param {Element} element
 * @param {...Child} children what it shall hold
 */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

const SVG = "http://www.w3.org/2000/svg";
/** Icons of 16 x 16, as paths. */
const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9.5 2.5h3v11h-3z",
  next: "M3 3v10l7-5zM11 3h2v10h-2z",
  back: "M13 3v10L6 8zM3 3h2v10H3z",
  forth: "M5 3l5.5 5L5 13l-1.3-1.4L7.7 8 3.7 4.4z",
  backwards: "M11 3L5.5 8l5.5 5 1.3-1.4L8.3 8l4-3.6z",
  begin: "M3 3h2v10H3zM6 8l7-5v10z",
  plus: "M7 3h2v4h4v2H9v4H7V9H3V7h4z",
  minus: "M3 7h10v2H3z",
  fit: "M2 3h1.5v10H2zM12.5 3H14v10h-1.5zM4.5 8l3-3v2h1V5l3 3-3 3V9h-1v2z",
  full: "M2 2h5v2H4v3H2zM9 2h5v5h-2V4H9zM2 9h2v3h3v2H2zM12 9h2v5H9v-2h3z",
  sun: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM7.3 0h1.4v3H7.3zM7.3 13h1.4v3H7.3zM0 7.3h3v1.4H0zM13 7.3h3v1.4h-3zM2 3l1-1 2 2-1 1zM11 12l1-1 2 2-1 1zM12 5l-1-1 2-2 1 1zM4 11l1 1-2 2-1-1z",
  moon: "M6 1a7 7 0 1 0 9 9A6 6 0 0 1 6 1z",
  help: "M5 5.5a3 3 0 1 1 4.5 2.6c-.8.5-.8.9-.8 1.9H7.2c0-1.6.2-2.3 1.3-3 .9-.5.9-.9.9-1.4a1.3 1.3 0 0 0-2.7 0zM7.1 11.5h1.7v1.8H7.1z",
  words: "M2 3h12v1.6H2zM2 7.2h12v1.6H2zM2 11.4h8V13H2z",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3.2 3.2 0 0 1 4.5 4.5L11.5 9M9 11.5L7.5 13A3.2 3.2 0 0 1 3 8.5L4.5 7",
};

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  if (name === "link") path.setAttribute("class", "line");
  svg.append(path);
  return svg;
}

/**
 * A button with an icon, its name for screen readers, and the key that does the same.
 * @param {keyof typeof ICONS} picture
 * @param {string} name
 * @param {() => void} press
 * @param {string} [key]
 */
export function iconButton(picture, name, press, key = "") {
  const button = el("button", {
    type: "button",
    class: "tool",
    title: key ? `${name} (${key})` : name,
    "aria-label": name,
    onclick: press,
  });
  button.append(icon(picture));
  return button;
}

/** @param {string} text @param {() => void} close */
export const dialogHead = (text, close) =>
  el(
    "div",
    { class: "top" },
    el("h2", { text, tabindex: "-1" }),
    el("button", { type: "button", class: "plain", text: "Close", onclick: close }),
  );

/** The focus begins at the head: at the top, where a screen reader begins to read. @param {HTMLDialogElement} dialog */
export function openDialog(dialog) {
  dialog.showModal();
  dialog.querySelector("h2")?.focus();
}

/**
 * An opaque canvas whose coordinates are CSS pixels, sharp at any density.
 * @param {HTMLCanvasElement} canvas
 * @param {number} most pixels of the device for one
 * @returns {{width: number, height: number, ratio: number, changed: boolean, context: CanvasRenderingContext2D}}
 */
export function fitted(canvas, most = 3) {
  const ratio = Math.min(globalThis.devicePixelRatio || 1, most);
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const changed = canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio);
  if (changed) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { width, height, ratio, changed, context };
}
