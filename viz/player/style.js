/** The look of the player; colours are variables that `player.js` sets. */

export const STYLE = `
:host { display: block; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.player { font: 13px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; color: var(--ink);
  background: var(--ground); display: grid; grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr) clamp(320px, 27vw, 520px);
  grid-template-areas: "head head" "main side" "bar bar"; height: var(--height, 100vh); min-height: 560px; overflow: hidden;
  font-variant-numeric: tabular-nums; color-scheme: var(--scheme); position: relative; }
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
.run > .title { display: flex; gap: 6px 14px; align-items: baseline; padding: 5px 10px 1px; white-space: nowrap; overflow: hidden; }
.run > .title b { font-size: 14px; display: inline-flex; align-items: center; gap: 6px; }
.run > .title b i, .chip i { width: 10px; height: 10px; border-radius: 3px; display: inline-block; }
.run > .title span { color: var(--faint); }
.run > .title span em { font-style: normal; color: var(--ink); font-weight: 600; }
.stage, .timeline { position: relative; min-height: 0; min-width: 0; overflow: hidden; }
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
.legend li { display: inline-flex; align-items: center; gap: 5px; white-space: nowrap; }
.square { width: 10px; height: 10px; border-radius: 2px; }
.memory { width: 18px; height: 3px; }
.mark { width: 26px; height: 14px; }
.ramp { width: 60px; height: 9px; border-radius: 2px; }
.side { grid-area: side; display: grid; grid-template-rows: minmax(0, 1fr) minmax(0, 1fr); border-left: 1px solid var(--line); background: var(--paper);
  min-height: 0; min-width: 0; }
.panel { min-height: 0; display: flex; flex-direction: column; }
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
.timeline:focus-visible { outline-offset: -2px; }
.now { display: inline-flex; align-items: baseline; gap: 6px; margin-left: 8px; white-space: nowrap; }
.clock { width: 88px; font: inherit; font-size: 15px; font-weight: 650; text-align: right; color: var(--ink); background: none; border: 1px solid transparent;
  border-radius: 5px; padding: 2px 4px; font-variant-numeric: tabular-nums; }
.clock:hover, .clock:focus { border-color: var(--line); }
.of, .end, .times { color: var(--faint); white-space: nowrap; }
.pace { display: inline-flex; align-items: center; gap: 8px; }
.pace .end { font-size: 11px; }
.speed { width: clamp(110px, 18vw, 280px); accent-color: var(--accent); }
.times { min-width: 48px; font-weight: 650; color: var(--ink); }
.wrong { padding: 3em 2em; font-size: 15px; grid-area: main; }
.quiet { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.plain, .chip { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 12px; padding: 1px 10px; cursor: pointer; white-space: nowrap; }
.link { font: inherit; color: var(--accent); background: none; border: 0; padding: 0; cursor: pointer; text-align: left; }
.link:hover { text-decoration: underline; }
`;
