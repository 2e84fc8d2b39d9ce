/** The style of the page, with colors for light and dark. Signs or words repeat the information of colors. */
export const viewerStyle = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --shade: #f6f7f9; --ink: #1b1f27; --faint: #626b7b; --rule: #e5e8ed; --hover: #f1f3f7; --chosen: #e8ecfd; --focus: #4b5fe0;
  --model: #6a5be2; --model-wait: #c3bdf7; --tool: #0f9488; --notice: #c77700; --error: #d3302f; --step: #c9d0db; --good: #14804a;
  --names: clamp(220px, 30vw, 420px); --from: 0; --span: 1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #101217; --shade: #171a21; --ink: #e7e9ee; --faint: #949dae; --rule: #272c37; --hover: #1b1f28; --chosen: #232a44; --focus: #93a1ff;
    --model: #978bff; --model-wait: #453f7d; --tool: #2fc4b2; --notice: #f2b13c; --error: #ff7069; --step: #3a4252; --good: #4cc38a;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); }
body { margin: 0; color: var(--ink); background: var(--paper); font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; font-variant-numeric: tabular-nums; }
body.open { padding-right: min(440px, 42vw); }
header { position: sticky; top: 0; z-index: 3; background: var(--paper); }
.heading { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 16px 20px 4px; }
h1 { margin: 0; font-size: 17px; font-weight: 650; letter-spacing: -.01em; overflow-wrap: anywhere; }
.badge { padding: 2px 10px; border-radius: 99px; font-size: 12px; font-weight: 600; color: var(--good); background: color-mix(in srgb, var(--good) 13%, transparent); }
.badge.bad { color: var(--error); background: color-mix(in srgb, var(--error) 13%, transparent); }
q { color: var(--faint); overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: 4px 34px; margin: 0; padding: 8px 20px 12px; }
.facts dt { color: var(--faint); font-size: 11px; }
.facts dd { margin: 0; font-size: 16px; font-weight: 600; letter-spacing: -.01em; }
.facts small { margin-left: 6px; color: var(--faint); font-size: 11px; font-weight: 400; letter-spacing: 0; }
.tools { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 8px 20px; border-top: 1px solid var(--rule); background: var(--shade); }
button, input { font: inherit; font-size: 12px; color: inherit; background: var(--paper); border: 1px solid var(--rule); border-radius: 6px; padding: 4px 10px; }
button { cursor: pointer; }
button:hover { background: var(--hover); }
button[aria-pressed="true"] { color: var(--paper); background: var(--ink); border-color: var(--ink); }
input { width: 180px; cursor: text; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
.zoom { display: inline-flex; }
.zoom button { border-radius: 0; margin-left: -1px; }
.zoom button:first-child { border-radius: 6px 0 0 6px; }
.zoom button:last-child { border-radius: 0 6px 6px 0; }
.legend { display: inline-flex; align-items: center; gap: 5px; margin-left: auto; color: var(--faint); font-size: 12px; }
.legend i { width: 9px; height: 9px; margin-left: 10px; border-radius: 2px; }
.legend .notice { border-radius: 50%; transform: scale(.85); }
i.model { background: var(--model); } i.tool { background: var(--tool); } i.notice { background: var(--notice); } i.error { background: var(--error); }
.rule { display: grid; grid-template-columns: var(--names) 1fr; border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); background: var(--paper); }
.corner { align-self: end; padding: 4px 20px; color: var(--faint); font-size: 11px; }
.scale { position: relative; height: 58px; margin-right: 20px; touch-action: none; cursor: crosshair; }
#map { position: absolute; inset: 4px 0 auto; width: 100%; height: 30px; border-radius: 4px; background: var(--shade); }
#window { position: absolute; top: 4px; height: 30px; border-radius: 4px; border: 1px solid var(--focus); background: color-mix(in srgb, var(--focus) 12%, transparent); pointer-events: none; }
#window[hidden] { display: none; }
#axis { position: absolute; inset: 37px 0 0; overflow: hidden; color: var(--faint); font-size: 11px; white-space: nowrap; pointer-events: none; }
#axis span { position: absolute; padding-left: 4px; border-left: 1px solid var(--rule); height: 100%; line-height: 20px; }
main { position: relative; }
.row { display: grid; grid-template-columns: var(--names) 1fr; height: 26px; cursor: default; content-visibility: auto; contain-intrinsic-size: auto 26px; }
.row[hidden] { display: none; }
.row:hover { background: var(--hover); }
.row[aria-selected="true"] { background: var(--chosen); }
.row:focus { outline: none; }
.row:focus-visible { box-shadow: inset 0 0 0 2px var(--focus); }
.row[data-kind="turn"] { background: var(--shade); font-weight: 600; }
.row[data-kind="turn"][aria-selected="true"] { background: var(--chosen); }
.name { display: flex; align-items: center; gap: 6px; min-width: 0; padding: 0 12px 0 calc(12px + var(--depth) * 16px); border-right: 1px solid var(--rule); }
.fold { flex: none; width: 14px; text-align: center; color: var(--faint); font-size: 9px; cursor: pointer; }
.sign { flex: none; width: 8px; height: 8px; border-radius: 2px; background: var(--step); }
[data-kind="model"] .sign { background: var(--model); } [data-kind="tool"] .sign { background: var(--tool); }
[data-kind="notice"] .sign { background: var(--notice); border-radius: 50%; } [data-kind="turn"] .sign { background: var(--ink); }
.label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.note { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--faint); font-size: 12px; font-weight: 400; flex: 1 1 0; min-width: 0; }
.mark { flex: none; font-weight: 700; }
[data-status="error"] .mark, [data-status="error"] .label { color: var(--error); }
[data-status="refused"] .mark, [data-status="open"] .mark { color: var(--notice); }
.time { flex: none; margin-left: auto; color: var(--faint); font-size: 12px; font-weight: 400; }
.lane { position: relative; overflow: hidden; margin-right: 20px; }
.bar { position: absolute; top: 6px; height: 14px; min-width: 2px; border-radius: 3px; background: var(--step); left: calc((var(--s) - var(--from)) / var(--span) * 100%); width: calc(var(--d) / var(--span) * 100%); }
[data-kind="model"] > .lane > .bar { background: var(--model); } [data-kind="tool"] > .lane > .bar { background: var(--tool); }
[data-kind="turn"] > .lane > .bar { top: 10px; height: 6px; background: var(--faint); }
[data-kind="step"] > .lane > .bar { top: 10px; height: 6px; }
[data-kind="step"][aria-expanded="false"] > .lane > .bar.whole { top: 12px; height: 2px; }
.bar.part { top: 7px; height: 12px; border-radius: 2px; }
.bar.part.model { background: var(--model); } .bar.part.tool { background: var(--tool); } .bar.part.notice { background: var(--notice); width: 3px; }
[aria-expanded="true"] > .lane > .part { display: none; }
[data-status="error"] > .lane > .bar.whole, .bar.part.error { background: var(--error) !important; }
[data-status="refused"] > .lane > .bar.whole { background: repeating-linear-gradient(135deg, var(--notice) 0 3px, transparent 3px 6px); }
[data-status="open"] > .lane > .bar.whole { mask: linear-gradient(90deg, #000 60%, transparent); }
[data-kind="notice"] > .lane > .bar { width: 9px; min-width: 9px; height: 9px; top: 9px; margin-left: -4px; border-radius: 50%; background: var(--notice); }
.bar.wait { background: var(--model-wait) !important; border-radius: 3px 0 0 3px; }
.beside { position: absolute; top: 4px; padding-left: 6px; color: var(--faint); font-size: 11px; line-height: 18px; white-space: nowrap; left: calc((var(--s) + var(--d) - var(--from)) / var(--span) * 100%); pointer-events: none; }
.beside.before { left: auto; right: calc(100% - (var(--s) - var(--from)) / var(--span) * 100%); padding: 0 6px 0 0; }
.beside.nowhere { display: none; }
.beside.inside { left: auto; right: 6px; color: var(--paper); }
#details { position: fixed; inset: 0 0 0 auto; z-index: 4; width: min(440px, 42vw); overflow: auto; padding: 16px 20px 60px; background: var(--shade); border-left: 1px solid var(--rule); box-shadow: -8px 0 24px rgb(0 0 0 / .08); }
#details[hidden] { display: none; }
#details h2 { margin: 0 40px 12px 0; font-size: 15px; overflow-wrap: anywhere; }
#details button { position: absolute; top: 14px; right: 16px; }
#details h3 { margin: 14px 0 4px; color: var(--faint); font-size: 11px; font-weight: 600; }
#details pre { margin: 0; padding: 8px 10px; max-height: 50vh; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--paper); border: 1px solid var(--rule); border-radius: 6px; font: 12px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
#details p { margin: 0; }
#details .pairs { display: grid; grid-template-columns: auto 1fr; gap: 3px 16px; margin: 0; }
#details .pairs dt { color: var(--faint); }
#details .pairs dd { margin: 0; overflow-wrap: anywhere; }
#tip { position: fixed; z-index: 5; max-width: 420px; padding: 7px 10px; border-radius: 6px; color: var(--paper); background: var(--ink); font-size: 12px; pointer-events: none; overflow-wrap: anywhere; box-shadow: 0 4px 16px rgb(0 0 0 / .25); }
#tip b { display: block; }
#tip[hidden] { display: none; }
footer { position: sticky; bottom: 0; padding: 6px 20px; color: var(--faint); font-size: 11px; background: var(--paper); border-top: 1px solid var(--rule); }
noscript pre { padding: 20px; overflow: auto; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 760px) {
  body.open { padding-right: 0; padding-bottom: 50vh; }
  header { position: static; }
  #details { inset: auto 0 0 0; width: auto; height: 50vh; border-left: 0; border-top: 1px solid var(--rule); }
  .legend { display: none; }
  .facts { gap: 4px 20px; }
}
@media print { header, footer { position: static; } .tools, footer { display: none; } }
`;
