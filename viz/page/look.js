/** The look of the settings; the player has its own. */

export const LOOK = `
:host { display: block; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.desk { --ink: #1b2733; --faint: #5b6770; --line: #d5dbe0; --paper: #fff; --ground: #f3f5f7; --accent: #1565c0; --bad: #a3201a;
  --field: #8b98a3; display: grid; grid-template-columns: 240px minmax(0, 1fr); height: 100vh; color: var(--ink); background: var(--ground);
  font: 13px/1.35 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
.desk.dark { --ink: #e6ebef; --faint: #a3b0ba; --line: #38444e; --paper: #1c242b; --ground: #141a1f; --accent: #6db3f2; --bad: #ff9d94;
  --field: #7c8a95; color-scheme: dark; }
.panel { background: var(--paper); border-right: 1px solid var(--line); padding: 9px 12px; overflow-y: auto; height: 100vh; display: flex;
  flex-direction: column; gap: 5px; }
.brand b { font-size: 16px; } .brand span { color: var(--faint); margin-left: 6px; }
.offered { font-size: 12px; color: var(--faint); } .offered.high { color: var(--bad); }
.fields { display: grid; gap: 5px; margin-top: 3px; }
label { font-size: 12px; line-height: 1.2; color: var(--faint); } .unit { font-size: 11px; }
input { width: 100%; height: 27px; padding: 0 6px; border: 1px solid var(--field); border-radius: 4px; font: inherit; color: inherit; background: var(--paper); }
input[aria-invalid=true] { border-color: var(--bad); }
.number { display: grid; grid-template-columns: minmax(0, 1fr) 82px; align-items: center; column-gap: 8px; }
.number input { text-align: right; font-variant-numeric: tabular-nums; }
.wrong-value { grid-column: 1 / -1; color: var(--bad); font-size: 12px; line-height: 1.25; overflow-wrap: anywhere; padding: 1px 0 2px; }
button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--field); border-radius: 4px; min-height: 29px; padding: 0 10px;
  cursor: pointer; }
button:hover { background: var(--ground); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.what-if h2 { font-size: 12px; margin: 6px 0 2px; } .tools-of-acts { display: grid; grid-template-columns: 1fr 1fr; gap: 5px; } .tools-of-acts :last-child { grid-column: 1 / -1; }
.acts-of-page { list-style: none; margin: 0 0 5px; padding: 0; font-size: 12px; max-height: 26vh; overflow-y: auto; }
.acts-of-page li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 6px; align-items: center; } .acts-of-page .when { color: var(--faint); font-variant-numeric: tabular-nums; }
.remove { min-height: 24px; min-width: 24px; border: 0; padding: 0; } button[disabled], button[aria-disabled="true"] { opacity: .45; cursor: default; }
.foot { display: grid; gap: 5px; margin-top: 4px; } .foot button { width: 100%; }
.more { display: none; }
.list { position: fixed; z-index: 20; width: min(440px, calc(100vw - 16px)); overflow-y: auto; background: var(--paper); border: 1px solid var(--field);
  border-radius: 4px; box-shadow: 0 6px 22px rgb(0 0 0 / .22); }
.option { padding: 5px 10px; cursor: pointer; } .option[aria-selected=true] { background: color-mix(in srgb, var(--accent) 16%, transparent); }
.option:hover { background: var(--ground); }
.option .name { font-weight: 550; } .option .summary { font-size: 12px; color: var(--faint); } .nothing { padding: 8px 10px; color: var(--faint); }
.download { position: relative; }
.files { position: fixed; z-index: 15; width: max-content; max-width: calc(100vw - 24px); background: var(--paper);
  border: 1px solid var(--field); border-radius: 4px; box-shadow: 0 6px 22px rgb(0 0 0 / .22); }
.files button { display: block; width: 100%; border: 0; border-radius: 0; text-align: left; }
.stage-of-desk { position: relative; min-width: 0; min-height: 0; height: 100vh; }
cluster-player { display: block; height: 100%; --height: 100%; }
.progress { position: absolute; z-index: 10; top: 44px; left: 50%; transform: translateX(-50%); display: grid; gap: 6px; width: max-content; max-width: min(640px, 92%); }
.progress.first { top: 38%; font-size: 15px; }
.runs, .problem { background: var(--paper); border: 1px solid var(--field); border-radius: 6px; padding: 7px 12px; box-shadow: 0 4px 16px rgb(0 0 0 / .18); }
.runs { display: grid; grid-template-columns: minmax(240px, 1fr) auto; gap: 4px 14px; align-items: center; } .runs button { grid-column: 2; grid-row: 1 / 3; }
.line { grid-column: 1; font-variant-numeric: tabular-nums; } .line i { display: block; height: 3px; margin-top: 3px; background: var(--line); border-radius: 2px; }
.line b { display: block; height: 3px; border-radius: 2px; background: var(--accent); width: 0; }
.problem { display: flex; gap: 10px; align-items: start; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40vh; overflow-y: auto; }
.problem.error { border-color: var(--bad); color: var(--bad); } .problem button { min-height: 24px; min-width: 24px; padding: 0 7px; border: 0; }
.tip-box { position: fixed; z-index: 30; max-width: min(320px, calc(100vw - 16px)); padding: 6px 9px; border-radius: 4px; background: #1b2733; color: #fff;
  font-size: 12px; white-space: pre-line; pointer-events: none; left: 0; top: 0; border: 1px solid #56636e; }
@media (min-width: 1800px) { .desk { font-size: 15px; grid-template-columns: 272px minmax(0, 1fr); } label { font-size: 13.5px; } }
@media (max-width: 759px) {
  .desk { display: block; height: auto; }
  .stage-of-desk, cluster-player { height: auto; }
  .panel { height: auto; border-right: 0; border-bottom: 1px solid var(--line); overflow: visible; }
  .more { display: block; } .panel:not(.open) .fields, .panel:not(.open) .reset:not(.act-tool) { display: none; }
  button { min-height: 40px; } input { height: 38px; font-size: 16px; }
}
`;
