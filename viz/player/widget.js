/** The player as an anywidget: recordings come as the bytes of its traits, what is seen goes back as an address. */

import { mount } from "./player.js";

/** @typedef {{get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void,
 *   send: (message: object) => void, on: (event: string, callback: (message?: any) => void) => void,
 *   off: (event: string, callback: (message?: any) => void) => void}} Model */

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
    onDetail: model.get("has_detail")
      ? (from, to) => model.send({ event: "detail", from_s: from / 1000, to_s: to / 1000 })
      : undefined,
  });
  const answered = (/** @type {any} */ message) => {
    if (typeof message?.detail === "string") player.failed(message.detail);
  };
  const change = () => player.open(read());
  const went = () => player.set({ hash: model.get("address") });
  model.on("change:recordings", change);
  model.on("change:address", went);
  model.on("msg:custom", answered);
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
    model.off("msg:custom", answered);
    player.destroy();
  };
}
