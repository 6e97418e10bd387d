/** The player, or a part of it, as a component of Mesa's page: it follows the model, so it stands at the recording's end. */

import { el } from "../player/dom.js";
import { mount } from "../player/player.js";

/** What is left of the player, by the name of the part. @type {Record<string, string>} */
const LEFT = {
  player: "",
  stage: `.player { grid-template: minmax(0, 1fr) / minmax(0, 1fr); grid-template-areas: "main"; min-height: 0; }
    .head, .side, .bar { display: none !important; } .main { grid-template-rows: minmax(0, 1fr) auto; }
    .main > :not(.stages):not(:has(.legend)):not(.legend) { display: none !important; }`,
  timeline: `.player { grid-template: minmax(0, 1fr) / minmax(0, 1fr); grid-template-areas: "main"; min-height: 0; }
    .head, .side, .bar { display: none !important; } .main { grid-template-rows: minmax(0, 1fr); }
    .main > :not(.timelines) { display: none !important; }`,
  decisions: `.player { grid-template: minmax(0, 1fr) / minmax(0, 1fr); grid-template-areas: "side"; min-height: 0; }
    .head, .main, .bar { display: none !important; } .side { border: 0; display: grid !important; }`,
};
const HEIGHTS = { player: "720px", stage: "420px", timeline: "320px", decisions: "420px" };

/**
 * @param {{model: any, el: HTMLElement}} place
 * @returns {() => void} what ends it
 */
export function render({ model, el: place }) {
  const part = String(model.get("part"));
  const read = () => model.get("recordings").map((/** @type {DataView} */ view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  const host = el("cluster-player", { css: { display: "block", width: "100%", height: HEIGHTS[/** @type {"stage"} */ (part)] } });
  const words = el("p", { class: "words" });
  place.append(words, host);
  /** @type {import("../player/player.js").Player | null} */
  let player = null;
  let opened = Promise.resolve();
  const show = () => {
    words.textContent = model.get("words");
    const recordings = read();
    host.hidden = !recordings.length;
    if (!recordings.length) return;
    opened = opened.then(async () => {
      if (player === null) {
        player = mount(host, { recordings, height: "100%" });
        Object.assign(host, { shown: player });
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(LEFT[part] ?? "");
        /** @type {ShadowRoot} */ (host.shadowRoot).adoptedStyleSheets.push(sheet);
        await player.ready;
      } else await player.open(recordings);
      player.seek(Infinity);
    });
  };
  model.on("change:recordings", show);
  model.on("change:words", show);
  show();
  return () => {
    model.off("change:recordings", show);
    model.off("change:words", show);
    player?.destroy();
  };
}
