/** The page of `cluster-abm view`: settings beside the player. An anywidget: `render` gets its model and an element. */

import { el } from "../player/dom.js";
import { mount } from "../player/player.js";
import { guideOf } from "../player/scene.js";
import { STYLE as PLAYER_STYLE } from "../player/style.js";
import { LOOK } from "./look.js";
import { downloadsOf, save } from "./downloads.js";
import { Panel } from "./panel.js";
import { pictureOf } from "./picture.js";
import { Progress } from "./progress.js";
import { WhatIf } from "./what_if.js";

/**
 * @param {{model: any, el: HTMLElement}} given
 * @returns {() => void} what ends it
 */
export function render({ model, el: place }) {
  const root = place.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(LOOK);
  root.adoptedStyleSheets = [sheet];
  // Solara's page says neither its language, nor may it be enlarged.
  document.documentElement.lang ||= "en";
  document.querySelector("meta[name=viewport]")?.setAttribute("content", "width=device-width, initial-scale=1");
  let isDone = false;
  /** @param {string} event @param {unknown} data */
  const tell = (event, data) => {
    // What is done here makes an entry in the history; what an address says does not.
    isDone = isDone || ["choose", "enter", "reset", "script"].includes(event);
    model.send({ event, data });
  };
  const progress = new Progress(() => tell("stop", null));
  const host = el("cluster-player", {});
  const hasSettings = model.get("fields").length > 0 || model.get("lists").policy !== undefined;
  const scene = guideOf(model.get("scene"));
  /** @type {any} */
  let player = null;

  /** @param {string} kind */
  const fetch = async (kind) => {
    if (kind !== "png") return tell("file", kind);
    const view = player && host.shadowRoot?.querySelector(".player");
    if (view) save(await pictureOf(view, PLAYER_STYLE), `${model.get("stem")}.png`);
  };
  const downloads = downloadsOf([["png", "The picture of the whole view (PNG)"], ...model.get("files")], fetch);
  const whatIf = new WhatIf((acts) => tell("script", acts), () => tell("choose", { name: "other", value: model.get("without") }));
  const panel = new Panel(model.get("named"), { tell, items: (name) => model.get("lists")[name] ?? [] }, downloads, hasSettings, whatIf.section);
  const page = el("div", { class: "desk" }, panel.element, el("div", { class: "stage-of-desk" }, host, progress.element), panel.tip);
  root.append(page);

  // The settings are as dark as the player is.
  const paint = () => page.classList.toggle("dark", player?.view?.dark ?? matchMedia("(prefers-color-scheme: dark)").matches);
  const painted = new MutationObserver(paint);
  paint();

  const showStatus = () => {
    const status = model.get("status");
    progress.show(status, player !== null);
    panel.showLoad(status.offered ?? [], status.warnings ?? []);
  };
  const showRecordings = async () => {
    const recordings = model.get("recordings").map(bytesOf);
    if (!recordings.length) return;
    if (player === null) {
      player = mount(host, { recordings, page: true, height: "100%", scene, acting: hasSettings ? whatIf : undefined,
        onDetail: (from, to) => tell("detail", { from_s: from / 1000, to_s: to / 1000 }) });
      painted.observe(player.element, { attributes: true, attributeFilter: ["style"] });
      await player.ready;
    } else await replaced(player, recordings);
    paint();
    showStatus();
  };
  const showFields = () => panel.show(model.get("fields"));
  const showScript = () => whatIf.show(model.get("script"));
  /** @param {KeyboardEvent} event */
  const undo = (event) => {
    if (!(event.ctrlKey || event.metaKey) || /** @type {Element} */ (event.composedPath()[0]).matches?.("input, select")) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) whatIf.undo();
    else if (key === "y" || key === "z") whatIf.redo();
    else return;
    event.preventDefault();
  };
  const showQuery = () => {
    const query = model.get("query");
    scene?.changed(query !== "", '"As the scenario says" brings that back.');
    if (location.search.slice(1) === query) return;
    const address = `${location.pathname}${query ? `?${query}` : ""}${location.hash}`;
    if (isDone) history.pushState(null, "", address);
    else history.replaceState(history.state, "", address);
    isDone = false;
  };
  const begin = () => tell("begin", location.search.slice(0, 8000));
  const back = () => {
    begin();
    // Entries that differ in the settings, too, make no hashchange.
    player?.set({ hash: location.hash });
  };
  /** @param {any} message @param {DataView[]} buffers */
  const deliver = (message, buffers) => {
    if (typeof message?.detail === "string") player?.failed(message.detail);
    if (!message?.file) return;
    if (message.error) progress.show({ ...model.get("status"), error: message.error }, player !== null);
    else save(new Blob(/** @type {any} */ ([buffers[0]]), { type: message.mime }), message.name);
  };
  const heard = { status: showStatus, recordings: showRecordings, fields: showFields, query: showQuery, script: showScript };
  for (const [name, show] of Object.entries(heard)) model.on(`change:${name}`, show);
  model.on("msg:custom", deliver);
  addEventListener("popstate", back);
  // Before the settings, which keep keys to themselves.
  addEventListener("keydown", undo, true);
  showFields();
  showScript();
  showStatus();
  void showRecordings();
  if (hasSettings) begin();
  Object.assign(globalThis, { desk: () => player });
  return () => {
    progress.close();
    painted.disconnect();
    player?.destroy();
    removeEventListener("popstate", back);
    removeEventListener("keydown", undo, true);
    for (const [name, show] of Object.entries(heard)) model.off(`change:${name}`, show);
    model.off("msg:custom", deliver);
  };
}

/** @param {DataView} view */
const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/**
 * Other recordings in the same player: what is seen stays, and it goes on playing.
 * @param {import("../player/player.js").Player} player
 * @param {Uint8Array[]} recordings
 */
async function replaced(player, recordings) {
  const playing = player.view?.playing ?? false;
  await player.open(recordings);
  if (playing) player.set({ playing });
}
