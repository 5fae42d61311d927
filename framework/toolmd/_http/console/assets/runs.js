// Show a run on the graph of its skill: live, or replayed from the records.

import { announce, hear, hold, refresh, soon } from "./live.js";

const PAUSE_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 380;
const STATES = { started: "running", skipped: "skipped", waiting: "waiting", done: "done", failed: "failed", undone: "undone", kept: "done" };
const WORDS = { running: "runs", waiting: "waits", done: "done", failed: "failed", skipped: "skipped", undone: "undone", kept: "not undone" };
const queue = [];
const ofPage = document.querySelector("[data-run-id]")?.dataset.runId ?? null;
let playing = false;
let watched = ofPage;
let last = null;
const early = new Map();
const progress = new Map();

const graph = () => document.querySelector("[data-graph]");
const stateOf = (box) => Object.keys(WORDS).find((one) => box.classList.contains(one));
const step = (key) => graph()?.querySelector(`[data-step="${CSS.escape(key)}"]`);

/** Return the skill's own step that contains an event's key. */
function node(key) {
  const steps = [...(graph()?.querySelectorAll("[data-step]") ?? [])].map((one) => one.dataset.step);
  const fits = steps.filter((one) => key === one || key.startsWith(`${one}:`) || key.startsWith(`${one}[`));
  return fits.sort((a, b) => b.length - a.length)[0] ?? key;
}

/** Follow a run; earlier events are shown first. */
export function watch(runId) {
  watched = runId;
  clear();
  for (const event of early.get(runId) ?? []) enqueue(event);
}

function clear() {
  queue.length = 0;
  last = null;
  for (const box of graph()?.querySelectorAll("[data-step]") ?? []) set(box, "");
  for (const edge of graph()?.querySelectorAll(".taken") ?? []) edge.classList.remove("taken");
  document.querySelector("[data-run-log]")?.replaceChildren();
}

/** Show the state of a step, in colour and in a word. */
function set(box, state) {
  box.classList.remove(...Object.keys(WORDS));
  if (state) box.classList.add(state);
  box.querySelector("text.state").textContent = WORDS[state] ?? "";
}

function enqueue(event) {
  const newest = queue.at(-1);
  // Only the newest progress of a step is worth showing.
  if (event.kind === "progress" && newest?.kind === "progress" && newest.step === event.step) queue.pop();
  queue.push(event);
  if (!playing) play();
}

function play() {
  const event = queue.shift();
  const ended = playing && !event;
  playing = Boolean(event);
  hold("graph", playing);
  if (ended && ofPage) refresh();
  if (!event) return;
  show(event);
  setTimeout(play, PAUSE_MS);
}

function show({ step: key, kind, title, text }) {
  const here = node(key);
  const box = step(here);
  if (box) {
    // Events within a step only show that the step runs, or waits.
    const whole = here === key || ["undone", "kept", "waiting"].includes(kind);
    if (whole && STATES[kind]) set(box, STATES[kind]);
    else if (!stateOf(box) || kind === "started") set(box, "running");
    if (last && last !== here && !undoes(kind)) walk(last, here);
    if (!undoes(kind)) last = here;
    box.scrollIntoView({ block: "nearest", inline: "nearest", behavior: PAUSE_MS ? "smooth" : "auto" });
  }
  log({ key, kind, title, text });
  if (["waiting", "failed", "kept"].includes(kind)) announce(`${title}: ${WORDS[kind]}. ${text}`);
}

function undoes(kind) {
  return kind === "undone" || kind === "kept";
}

function walk(from, to) {
  graph().querySelector(`[data-from="${CSS.escape(from)}"][data-to="${CSS.escape(to)}"]`)?.classList.add("taken");
}

// One line for each step, from its start to its end.
function log({ key, kind, title, text }) {
  const list = document.querySelector("[data-run-log]");
  if (!list) return;
  let line = [...list.children].findLast((one) => one.dataset.step === key);
  if (!line || undoes(kind)) {
    line = document.createElement("li");
    line.dataset.step = key;
    list.append(line);
  }
  line.className = `log-line is-${kind}`;
  const head = document.createElement("p");
  const name = document.createElement("span");
  name.className = "log-title";
  name.dir = "auto";
  name.textContent = `${key}. ${title}`;
  const how = document.createElement("span");
  how.className = "took";
  how.textContent = ` ${WORDS[kind] ?? WORDS[STATES[kind]] ?? "goes on"}`;
  head.append(name, how);
  line.replaceChildren(head);
  if (text) {
    const words = document.createElement("p");
    words.className = "log-words";
    words.dir = "auto";
    words.textContent = text;
    line.append(words);
  }
}

/** Show what the running steps of the page report. */
function showProgress() {
  for (const [key, text] of progress) {
    const place = document.querySelector(`[data-progress="${CSS.escape(key)}"]`);
    if (place) place.textContent = text;
  }
}
document.addEventListener("exchanged", showProgress);

hear("run-step", (event) => {
  if (event.run_id === ofPage) {
    if (event.kind === "progress") progress.set(event.step, event.text);
    else soon();
    showProgress();
  }
  if (event.run_id === watched) {
    enqueue(event);
  } else if (!early.has(event.run_id)) {
    early.set(event.run_id, [event]);
    if (early.size > 20) early.delete(early.keys().next().value);
  } else {
    early.get(event.run_id).push(event);
  }
});

document.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-replay]")) return;
  clear();
  for (const event of JSON.parse(document.querySelector("[data-events]").dataset.events)) enqueue(event);
});
