/** The look of the player; colours are variables that `player.js` sets. */

export const STYLE = `
:host { display: block; container-type: inline-size; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.player { font: 13px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; color: var(--ink);
  background: var(--ground); display: grid; grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr) clamp(320px, 27cqi, 520px);
  grid-template-areas: "head head" "main side" "bar bar"; height: var(--height, 100vh); min-height: 560px; overflow: hidden;
  font-variant-numeric: tabular-nums; color-scheme: var(--scheme); position: relative; }
:host(:fullscreen) .player { height: 100vh; }
.head { grid-area: head; display: flex; gap: 14px; align-items: center; padding: 7px 12px; background: var(--paper);
  border-bottom: 1px solid var(--line); min-width: 0; }
.head h1 { font-size: 15px; font-weight: 650; margin: 0; white-space: nowrap; }
.head .caption { color: var(--faint); min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; flex: 1; }
.parts { white-space: nowrap; }
.main { grid-area: main; display: grid; grid-template-rows: minmax(0, 45fr) auto minmax(0, 55fr) auto; min-height: 0; min-width: 0; }
.stages, .timelines { display: grid; gap: 1px; background: var(--line); min-height: 0; }
.stages { grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
.timelines { grid-auto-rows: minmax(0, 1fr); border-top: 1px solid var(--line); }
.run { display: grid; grid-template-rows: auto minmax(0, 1fr); background: var(--ground); min-width: 0; min-height: 0; }
.run > .title { display: flex; gap: 6px 14px; align-items: center; padding: 5px 10px 1px; white-space: nowrap; overflow: hidden; }
.run > .title b { font-size: 14px; display: inline-flex; align-items: center; gap: 6px; }
.sign { width: 12px; height: 12px; display: inline-block; vertical-align: -1px; margin-right: 4px; }
.run > .title b .sign { margin-right: 0; }
.run > .title span { color: var(--faint); }
.run > .title span em { font-style: normal; color: var(--ink); font-weight: 600; }
.stage, .timeline { contain: layout paint; position: relative; min-height: 0; min-width: 0; overflow: hidden; }
.timeline { background: var(--paper); touch-action: none; cursor: grab; }
.timeline:active { cursor: grabbing; }
.layer { position: absolute; inset: 0; width: 100%; height: 100%; display: block; }
.cursor { position: absolute; top: 0; bottom: 0; left: -1px; width: 2px; background: var(--accent); pointer-events: none; will-change: transform; }
.cursor::before { content: ""; position: absolute; top: 12px; left: -4px; border: 5px solid transparent; border-top-color: var(--accent); }
.tip { position: absolute; left: 0; top: 0; pointer-events: none; background: var(--ink); color: var(--paper); padding: 2px 8px; border-radius: 4px;
  font-size: 12px; white-space: nowrap; z-index: 3; }
.policy { position: absolute; right: 8px; top: 20px; font-size: 11px; font-weight: 600; padding: 1px 7px; border-radius: 9px;
  background: var(--paper); border: 1px solid var(--line); pointer-events: none; opacity: .9; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; margin: 0; padding: 5px 10px; list-style: none; font-size: 11.5px; color: var(--faint);
  background: var(--ground); }
.legend li { display: inline-flex; align-items: center; gap: 5px; }
.square { width: 10px; height: 10px; border-radius: 2px; }
.memory { width: 18px; height: 3px; }
.mark { width: 26px; height: 14px; }
.ramp { width: 60px; height: 9px; border-radius: 2px; }
.side { grid-area: side; display: grid; grid-template-columns: minmax(0, 1fr); grid-template-rows: minmax(0, 62fr) minmax(0, 38fr); border-left: 1px solid var(--line); background: var(--paper);
  min-height: 0; min-width: 0; }
.panel { min-height: 0; min-width: 0; display: flex; flex-direction: column; }
.panel + .panel { border-top: 1px solid var(--line); }
.bar { grid-area: bar; display: grid; grid-template-columns: 1fr auto 1fr; gap: 12px; align-items: center; padding: 6px 12px; background: var(--paper);
  border-top: 1px solid var(--line); }
.bar .left, .bar .right { display: flex; align-items: center; gap: 2px; }
.bar .right { justify-content: flex-end; }
.tool { width: 30px; height: 30px; border: 0; border-radius: 6px; background: none; color: var(--ink); display: inline-grid; place-items: center;
  cursor: pointer; padding: 0; }
.tool:hover, .chip:hover, .plain:hover { background: var(--track); }
.play { background: var(--accent); color: var(--paper); width: 36px; border-radius: 18px; margin: 0 4px; }
.play:hover { background: var(--accent); filter: brightness(1.1); }
.icon { width: 16px; height: 16px; fill: currentColor; }
.icon .line { fill: none; stroke: currentColor; stroke-width: 1.6; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.body:focus-visible, .list:focus-visible { outline-offset: -3px; }
.stage:focus-visible::after, .timeline:focus-visible::after, .overview:focus-visible::after { content: ""; position: absolute; inset: 0; border: 3px solid var(--accent); pointer-events: none; z-index: 4; }
.now { display: inline-flex; align-items: center; gap: 6px; margin-left: 8px; white-space: nowrap; }
.clock { contain: strict; height: 27px; width: 88px; font: inherit; font-size: 15px; font-weight: 650; text-align: right; color: var(--ink); background: none; border: 1px solid transparent;
  border-radius: 5px; padding: 2px 4px; font-variant-numeric: tabular-nums; }
.clock:hover, .clock:focus { border-color: var(--line); }
.of, .end, .times { color: var(--faint); white-space: nowrap; }
.pace { display: inline-flex; align-items: center; gap: 8px; }
.pace .end { font-size: 11px; }
.speed { height: 24px; width: clamp(110px, 18cqi, 280px); accent-color: var(--accent); }
.times { min-width: 48px; font-weight: 650; color: var(--ink); }
.wrong { padding: 3em 2em; font-size: 15px; grid-area: main; }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.plain, .chip { min-height: 24px; font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 12px; padding: 1px 10px; cursor: pointer; white-space: nowrap; }
.steps .link, .more .link, .act-card .link, .guide .link { min-height: 24px; }
.link { font: inherit; color: var(--accent); background: none; border: 0; padding: 0; cursor: pointer; text-align: left; }
.link:hover { text-decoration: underline; }
.run0 { background: var(--run0); }
.run1 { background: var(--run1); }
.numbers { contain: content; flex: 1; min-width: 0; display: inline-flex; gap: 4px 14px; overflow: hidden; font-size: 12px; flex-wrap: wrap; height: 17px; }
.main { grid-template-rows: minmax(0, 42fr) auto minmax(0, 46fr) clamp(64px, 11vh, 130px) 24px; }
.timelines { position: relative; }
.asking { position: absolute; right: 10px; bottom: 8px; z-index: 3; display: flex; flex-wrap: wrap; gap: 4px 8px; justify-content: flex-end; align-items: center; max-width: calc(100% - 80px); }
.asking .plain { background: var(--paper); border-color: var(--accent); color: var(--accent); font-weight: 600; }
.asked { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: 1px 9px; max-height: 5.8em; overflow-y: auto; }
.asked.bad { border-color: var(--down); }
.acts { position: absolute; inset: 16px 0 auto 0; height: 0; z-index: 4; }
.pin { position: absolute; left: -9px; top: 0; width: 18px; height: 18px; padding: 0; border-radius: 9px 9px 9px 0; border: 1px solid var(--paper); background: var(--ink);
  color: var(--paper); font: 700 11px/1 system-ui, sans-serif; cursor: pointer; touch-action: none; }
.pin::before { content: ""; position: absolute; inset: -5px; }
.pin.undone { background: var(--paper); color: var(--ink); border: 1px dashed var(--ink); }
.act-card { position: absolute; top: 22px; left: 0; width: max-content; max-width: min(340px, 90%); background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px;
  box-shadow: 0 4px 16px rgb(0 0 0 / .2); }
.act-card p { margin: 3px 0; }
.acting { border-top: 1px solid var(--line); margin-top: 14px; padding-top: 2px; }
.acting .first { align-items: center; margin: 4px 0; }
.acting input, .acting select { min-height: 24px; width: 74px; font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--line); border-radius: 5px; padding: 2px 5px; }
.timebox { position: relative; display: grid; min-height: 0; }
.lines { position: relative; min-height: 0; border-top: 1px solid var(--line); background: var(--paper); }
.lineplot { position: absolute; inset: 0; touch-action: none; cursor: crosshair; }
.over { position: absolute; top: 3px; right: 6px; display: flex; flex-direction: row-reverse; gap: 10px; align-items: baseline; pointer-events: none; max-width: calc(100% - 70px); }
.quantity { pointer-events: auto; min-height: 24px; font: inherit; font-size: 12px; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 5px; padding: 1px 4px; }
.values { font-size: 12px; background: color-mix(in srgb, var(--paper) 85%, transparent); padding: 0 6px; border-radius: 4px; white-space: pre-wrap; }
.hair { background: var(--faint); width: 1px; }
.hair::before { display: none; }
.overview { position: relative; border-top: 1px solid var(--line); cursor: pointer; touch-action: none; overflow: hidden; }
.overview .cursor::before { display: none; }
.window { position: absolute; inset: 0 auto 0 0; background: color-mix(in srgb, var(--accent) 13%, transparent); border: 1px solid var(--accent); border-width: 0 1px; pointer-events: none; }
.kept { background: var(--track); padding: 1px 8px; border-radius: 5px; }
.body { padding: 12px 14px; overflow: auto; min-height: 0; flex: 1; }
.body h2 { font-size: 15px; line-height: 1.35; margin: 6px 0 4px; font-weight: 650; }
.body h3 { font-size: 11px; text-transform: uppercase; letter-spacing: .05em; color: var(--faint); margin: 12px 0 2px; font-weight: 650; }
.body p { margin: 4px 0; }
.because { font-size: 14px; }
.paper, .note { color: var(--faint); }
.paper { font-style: italic; }
.bad { color: var(--down); }
.tags { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
.tag { font-size: 11px; font-weight: 650; padding: 1px 8px; border-radius: 9px; background: var(--track); }
.tag.remote-start { background: var(--start); color: var(--paper); }
.tag.migration { background: var(--migration); color: var(--paper); }
.tag.refused, .tag.unpaid, .tag.lost { background: var(--down); color: var(--paper); }
.of-run { margin-left: auto; color: var(--faint); font-weight: 600; }
.when { color: var(--faint); }
.loads { border-collapse: collapse; width: 100%; margin: 8px 0 2px; font-size: 12.5px; }
.loads th { font-weight: 500; text-align: left; color: var(--faint); padding: 2px 6px 2px 0; }
.loads thead th, .loads td { text-align: right; padding: 2px 0 2px 10px; }
.loads thead th { color: var(--ink); font-weight: 650; }
.loads td { font-weight: 600; white-space: nowrap; }
.loads tr + tr, .loads tbody tr:first-child { border-top: 1px solid var(--line); }
.loads .believed th, .loads .believed td { color: var(--accent); }
.lifebar { display: flex; height: 14px; border-radius: 4px; overflow: hidden; margin: 8px 0 4px; background: var(--track); }
.lifebar i { flex-basis: 0; min-width: 1px; }
.shares { display: flex; flex-wrap: wrap; gap: 1px 12px; list-style: none; margin: 0; padding: 0; font-size: 12px; color: var(--faint); }
.shares li { display: inline-flex; gap: 5px; align-items: center; }
.steps { list-style: none; margin: 8px 0; padding: 0 0 0 4px; border-left: 2px solid var(--line); font-size: 12.5px; }
.steps li { align-items: baseline; display: flex; justify-content: space-between; gap: 10px; padding: 1px 0 1px 8px; }
.steps .link .when { display: inline-block; min-width: 72px; }
.long { color: var(--faint); white-space: nowrap; }
.first { display: flex; flex-wrap: wrap; gap: 6px; margin: 4px 0 10px; }
.more { display: flex; flex-wrap: wrap; gap: 4px 16px; padding-top: 6px; }
.tools { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; padding: 8px 10px 4px; }
.search { flex: 1 1 120px; min-width: 0; width: 60px; font: inherit; color: var(--ink); background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: 4px 8px; }
.count { color: var(--faint); font-size: 12px; white-space: nowrap; }
.chips, .runs { display: flex; flex-wrap: wrap; gap: 4px; }
.chips { padding: 2px 10px 6px; }
.chip { font-size: 12px; }
.chip[aria-pressed="true"] { background: var(--ink); color: var(--paper); border-color: var(--ink); }
.chip[aria-pressed="true"] .sign { background: var(--paper); }
.list { flex: 1; overflow-y: auto; overflow-x: hidden; min-height: 0; border-top: 1px solid var(--line); position: relative; }
.space { position: relative; }
.event { position: absolute; left: 0; right: 0; top: 0; height: 24px; display: grid; grid-template-columns: 62px 28px 64px minmax(58px, auto) minmax(0, 1fr); column-gap: 6px;
  align-items: center; padding: 0 10px; font-size: 12.5px; cursor: pointer; white-space: nowrap; }
.event > * { overflow: hidden; text-overflow: ellipsis; }
.event .short { text-align: right; color: var(--faint); }
.event .when { text-align: right; }
.event.future { color: var(--faint); }
.event.future .mark { opacity: .55; }
.event:hover { background: var(--ground); }
.event[aria-selected="true"] { background: color-mix(in srgb, var(--accent) 18%, var(--paper)); }
.event[aria-selected="true"] { box-shadow: inset 3px 0 var(--accent); }
.event[aria-selected="true"] > * { color: var(--ink); }
.event.failed { color: var(--down); }
.event .mark { overflow: visible; text-align: center; }
.help { border: 1px solid var(--line); border-radius: 12px; background: var(--paper); color: var(--ink); padding: 14px 18px; max-width: min(560px, 94vw); }
.help::backdrop { background: rgb(0 0 0 / .4); }
.help h2 { margin: 0 0 8px; font-size: 17px; }
.help { max-height: 92vh; overflow: auto; }
.help caption { text-align: left; font-weight: 650; padding-top: 6px; }
.help .top { display: flex; justify-content: space-between; align-items: start; gap: 12px; }
.help h2:focus { outline: 0; }
.mirrored { max-width: min(680px, 94vw); }
.mirrored .loads th { white-space: normal; padding-right: 0; }
.help th { text-align: left; padding: 2px 16px 2px 0; white-space: nowrap; font-weight: 400; }
kbd { font: 12px ui-monospace, monospace; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; padding: 0 5px; margin-right: 4px; background: var(--ground); }
.film { grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr); grid-template-areas: "head" "main" "bar"; }
.film .asking, .film .side, .film .tool, .film .speed, .film .bar .end, .film .bar .right, .film .quantity, .film .head button { display: none; }
.film .bar { grid-template-columns: auto auto; justify-content: space-between; padding: 3px 12px; }
@container (max-width: 1000px) {
  .player { grid-template: auto auto auto auto / minmax(0, 1fr); grid-template-areas: "head" "main" "side" "bar"; height: auto; overflow: visible; }
  .bar { position: sticky; bottom: 0; z-index: 5; grid-template-columns: auto auto; gap: 2px 10px; padding: 4px 8px; justify-content: space-between; }
  .bar .end, .of { display: none; }
  .pace { order: 3; }
  .timeline, .lineplot { touch-action: pan-y; }
  :focus-visible { scroll-margin: 12px 0 96px; }
  .head { flex-wrap: wrap; gap: 4px 8px; }
  .head .caption { flex-basis: 100%; order: 9; white-space: normal; }
  .main { grid-template-rows: auto auto auto 96px 24px; }
  .stages { grid-auto-flow: row; }
  .stage { height: clamp(240px, 62cqi, 460px); }
  .timeline { height: clamp(220px, 60cqi, 400px); }
  .side { border-left: 0; border-top: 1px solid var(--line); grid-template-rows: auto 420px; }
  .title { flex-wrap: wrap; white-space: normal; }
  .numbers { height: auto; }
}
@container (min-width: 561px) and (max-width: 1000px) {
  .stages { grid-auto-flow: column; }
  .stage { height: clamp(190px, 32cqi, 320px); }
  .timeline { height: clamp(150px, 25cqi, 240px); }
  .side { grid-template: 380px / minmax(0, 1fr) minmax(0, 1fr); }
  .panel + .panel { border-top: 0; border-left: 1px solid var(--line); }
}
@container (max-width: 560px) {
  .main { grid-template-rows: auto auto auto 128px 24px; }
  .lineplot { top: 46px; }
  .over { left: 8px; max-width: none; flex-direction: column; align-items: stretch; gap: 2px; }
  .bar { grid-template-columns: minmax(0, 1fr); justify-items: center; }
  .bar .right { display: none; }
  .speed { width: 46cqi; }
  .event { grid-template-columns: 66px 28px 70px minmax(80px, 1fr) minmax(0, 1fr); padding: 0 6px; }
}
@media (forced-colors: active) { .square, .run0, .run1, .ramp, .memory, .lifebar i, .cursor, .window { forced-color-adjust: none; } }
@media (prefers-reduced-motion: no-preference) { .tool, .chip, .event { transition: background-color .12s; } }
`;
