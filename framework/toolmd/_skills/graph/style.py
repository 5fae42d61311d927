"""CSS of a drawn skill, for light and dark mode and for the states of a run."""

STYLE = """\
.graph {
  --page: #ffffff; --card: #ffffff; --line: #d4d4d8; --ink: #18181b; --soft: #5b5b66;
  --way: #8b8b96; --use: #2563eb; --ask: #b45309; --choose: #7c3aed; --return: #047857;
  --stop: #be123c; --note: #71717a; --good: #047857; --bad: #c81e1e; --busy: #1d4ed8;
  --wait: #b45309;
  font-family: ui-sans-serif, system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  .graph {
    --page: #16161a; --card: #1f1f25; --line: #3f3f48; --ink: #f4f4f5; --soft: #b0b0bb;
    --way: #80808c; --use: #7cacff; --ask: #f5b14c; --choose: #b9a0ff; --return: #4fd1a1;
    --stop: #ff8299; --note: #9d9da8; --good: #4fd1a1; --bad: #ff8b8b; --busy: #7cacff;
    --wait: #f5b14c;
  }
}
.graph .page { fill: var(--page); }
.graph text { fill: var(--ink); font-size: 12px; }
.graph .section { font-size: 17px; font-weight: 650; }
.graph .title { font-size: 14px; font-weight: 600; }
.graph .word, .graph .label { fill: var(--soft); }
.graph .label { font-size: 11px; font-weight: 600; }
.graph .code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.graph .edge { fill: none; stroke: var(--way); stroke-width: 1.5; }
.graph .tip { fill: var(--way); fill: context-stroke; }
.graph .card { fill: var(--card); stroke: var(--line); }
.graph .step { --tone: var(--note); }
.graph .step.use { --tone: var(--use); }
.graph .step.ask { --tone: var(--ask); }
.graph .step.choose { --tone: var(--choose); }
.graph .step.return { --tone: var(--return); }
.graph .step.stop { --tone: var(--stop); }
.graph .step.wait { --tone: var(--wait); }
.graph .step.note .card { stroke-dasharray: 4 3; }
.graph .step.running { --tone: var(--busy); }
.graph .step.waiting { --tone: var(--wait); }
.graph .step.done { --tone: var(--good); }
.graph .step.failed { --tone: var(--bad); }
.graph .step.skipped, .graph .step.undone { --tone: var(--note); }
.graph .disc { fill: var(--tone); fill-opacity: 0.14; stroke: var(--tone); stroke-width: 1.5; }
.graph .number { fill: var(--tone); font-weight: 700; text-anchor: middle; }
.graph .state { fill: var(--tone); font-size: 11px; font-weight: 700; text-anchor: end; }
.graph .step:is(.running, .waiting, .done, .failed) .card { stroke: var(--tone); }
.graph .step:is(.running, .waiting, .failed) .card { stroke-width: 2; }
.graph .step.done .disc { fill-opacity: 1; }
.graph .step.done .number { fill: var(--card); }
.graph .step:is(.skipped, .undone) .title { text-decoration: line-through; fill: var(--soft); }
.graph .step.skipped .card { stroke-dasharray: 4 3; }
.graph .edge.taken { stroke: var(--good); stroke-width: 2.5; }
@keyframes toolmd-pulse { 50% { stroke-opacity: 0.25; fill-opacity: 0.45; } }
.graph .step:is(.running, .waiting) .disc { animation: toolmd-pulse 1.6s ease-in-out infinite; }
@media (prefers-reduced-motion: reduce) { .graph .step .disc { animation: none; } }
"""
"""For a page that contains the drawing, and for a standalone drawing."""
