/** The list "Download". */

import { el } from "../player/dom.js";

/**
 * @param {[string, string][]} files kind and words of each
 * @param {(kind: string) => Promise<void> | void} fetch
 */
export function downloadsOf(files, fetch) {
  const list = el("div", { class: "files", role: "menu", hidden: true }, ...files.map(([kind, words]) =>
    el("button", { type: "button", role: "menuitem", text: words, dataset: { kind }, onclick: () => { close(); fetch(kind); } })));
  const button = el("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false", text: "Download",
    dataset: { tip: "The picture, the data, the scenario, the recording, or a file that plays offline." },
    onclick: () => (list.hidden ? open() : close()) });
  const element = el("div", { class: "download" }, button, list);
  const open = () => {
    list.hidden = false;
    const box = button.getBoundingClientRect();
    const above = box.top - list.offsetHeight - 3;
    list.style.left = `${box.left}px`;
    list.style.top = `${above > 0 ? above : Math.min(box.bottom + 3, innerHeight - list.offsetHeight)}px`;
    button.setAttribute("aria-expanded", "true");
    /** @type {HTMLElement} */ (list.firstElementChild).focus();
  };
  const close = () => {
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  element.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { close(); button.focus(); }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const items = /** @type {HTMLElement[]} */ ([...list.children]);
    const at = items.indexOf(/** @type {any} */ (event.target));
    if (by && at >= 0) { event.preventDefault(); items[(at + by + items.length) % items.length].focus(); }
  });
  element.addEventListener("focusout", (event) => {
    if (!element.contains(/** @type {Node | null} */ (event.relatedTarget))) close();
  });
  return element;
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
