/** The player as an anywidget: recordings come as the bytes of its traits, what is seen goes back as an address. */

import { mount } from "./player.js";

/** @typedef {{get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void,
 *   on: (event: string, callback: () => void) => void, off: (event: string, callback: () => void) => void}} Model */

/** @param {any} value DataView or an array of bytes */
const bytesOf = (value) =>
  value?.buffer ? new Uint8Array(value.buffer, value.byteOffset ?? 0, value.byteLength) : new Uint8Array(value ?? []);

/** @param {{model: Model, el: HTMLElement}} place */
export function render({ model, el }) {
  const read = () => (model.get("recordings") ?? []).map(bytesOf);
  const player = mount(el, {
    recordings: read(),
    height: model.get("height") || "640px",
    hash: model.get("address") || "",
  });
  const change = () => player.open(read());
  const went = () => player.set({ hash: model.get("address") });
  model.on("change:recordings", change);
  model.on("change:address", went);
  const told = setInterval(() => {
    const address = player.screen?.address;
    if (!address || address === model.get("address") || player.view?.playing) return;
    model.set("address", address);
    model.save_changes();
  }, 1000);
  return () => {
    clearInterval(told);
    model.off("change:recordings", change);
    model.off("change:address", went);
    player.destroy();
  };
}
