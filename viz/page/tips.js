/** One tooltip for the settings: of what has data-tip, by mouse, by the keyboard's focus, or by touch; it covers no field. */

import { el } from "../player/dom.js";

/**
 * @param {HTMLElement} root within which elements have tips
 * @returns {HTMLElement} to be put beside it
 */
export function tipsOf(root) {
  const tip = el("div", { class: "tip-box", role: "tooltip", id: "tip", hidden: true });
  /** @type {number | undefined} */
  let waiting;
  /** @type {Element | null} */
  let described = null;
  const hide = () => {
    clearTimeout(waiting);
    described?.removeAttribute("aria-describedby");
    described = null;
    tip.hidden = true;
  };
  /** @param {Element} found */
  const show = (found) => {
    if (!found.isConnected || root.querySelector("[role=listbox]:not([hidden])")) return;
    tip.textContent = /** @type {HTMLElement} */ (found).dataset.tip ?? "";
    tip.hidden = false;
    const box = found.getBoundingClientRect();
    const panel = /** @type {Element} */ (found.closest(".panel")).getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    // Beside the panel, so that no field lies below it; on a phone below the field that it is about.
    const beside = panel.right + own.width + 12 < innerWidth;
    const left = beside ? panel.right + 6 : Math.min(box.left, innerWidth - own.width - 8);
    const top = beside ? Math.min(box.top, innerHeight - own.height - 8)
      : box.bottom + own.height + 10 < innerHeight ? box.bottom + 5 : box.top - own.height - 5;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${Math.max(8, top)}px`;
    const field = found.matches("[tabindex], button") ? found : found.querySelector("input, button") ?? found;
    if (!field.hasAttribute("aria-describedby")) {
      field.setAttribute("aria-describedby", "tip");
      described = field;
    }
  };
  /**
   * @param {EventTarget | null} target
   * @param {number} after [ms]
   */
  const point = (target, after) => {
    hide();
    const found = target instanceof Element ? target.closest("[data-tip]") : null;
    if (found && /** @type {HTMLElement} */ (found).dataset.tip) waiting = setTimeout(() => show(found), after);
  };
  root.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") point(event.target, 350); });
  root.addEventListener("pointerleave", hide);
  root.addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") point(event.target, 400); else hide(); });
  root.addEventListener("focusin", (event) => {
    if (event.target instanceof Element && event.target.matches(":focus-visible")) point(event.target, 250);
  });
  root.addEventListener("focusout", hide);
  root.addEventListener("input", hide);
  root.addEventListener("scroll", hide, true);
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    // F1 or Ctrl+/ shows it at once.
    if (event.key === "F1") { event.preventDefault(); point(event.target, 0); }
  });
  return tip;
}
