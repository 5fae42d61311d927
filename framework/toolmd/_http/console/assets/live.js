// Follow the events, and update the parts of the page that have changed.

import { pathOf } from "./forms.js";

// The events that every page shows in its margin, and those of this page.
const KINDS = ["snapshot", "diagnostics", "policy-change", "pending", "run", "resync", ...document.body.dataset.follows.split(" ").filter(Boolean)];
const SETTLE_MS = 15;
// The rest after a load, in lengths of that load: where much happens, the server must not load pages all the time.
const REST = 5;
const ANNOUNCED_MS = 5000;
const known = new Map();
const sources = new WeakMap();
const locked = new Set();
let timer = null;
let rested = 0;
let announced = -ANNOUNCED_MS;
let fetching = null;
let again = false;
let feed = null;
const listeners = [];

/** Store the server's version of each part, because people and scripts change the page too. */
function remember(root, into) {
  for (const part of root.querySelectorAll("[data-live]")) into.set(part.dataset.live, part.outerHTML);
  for (const child of root.querySelectorAll("[data-list] > *")) sources.set(child, child.outerHTML);
}
remember(document, known);

export function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

export function announce(words) {
  document.getElementById("announcer").textContent = words;
}

/** Lock a part against updates, or unlock it. */
export function hold(name, on) {
  if (on) locked.add(name);
  else locked.delete(name);
}

/** Call a function for the events of one kind, with their JSON. */
export function hear(kind, listener) {
  const heard = (event) => listener(JSON.parse(event.data));
  listeners.push([kind, heard]);
  feed?.addEventListener(kind, heard);
}

/** Load the page again and replace the parts that differ; the promise ends when they are. */
export function refresh() {
  again = true;
  fetching ??= load();
  return fetching;
}

async function load() {
  while (again) {
    again = false;
    const began = performance.now();
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.status === 401) {
        // Only a new link helps: nothing more is asked for.
        feed.close();
        clearTimeout(timer);
        again = false;
        state("lost", "open the new link");
      } else if (answer.ok || answer.status === 404) {
        exchange(parsed(await answer.text()));
      }
    } catch {
      // The feed shows that the server does not answer.
    }
    const ended = performance.now();
    rested = ended + REST * (ended - began);
  }
  fetching = null;
}

function exchange(fresh) {
  const now = new Map();
  remember(fresh, now);
  const changed = [];
  for (const [name, html] of now) {
    if (known.get(name) === html) continue;
    if (locked.has(name)) {
      // A replay has locked it, and refreshes the page at its end.
      now.delete(name);
      continue;
    }
    const old = document.querySelector(`[data-live="${CSS.escape(name)}"]`);
    const next = fresh.querySelector(`[data-live="${CSS.escape(name)}"]`);
    if (!old) {
      // A part with a new name replaces the one that is gone: `checks HASH`.
      const [kind] = name.split(" ");
      const gone = [...document.querySelectorAll("[data-live]")].find((part) => part.dataset.live.split(" ")[0] === kind && !now.has(part.dataset.live));
      if (gone) {
        known.delete(gone.dataset.live);
        gone.replaceWith(document.adoptNode(next));
        changed.push(name);
      }
      continue;
    }
    changed.push(name);
    replace(old, next);
  }
  for (const [name, html] of now) known.set(name, html);
  if (changed.length) {
    document.title = fresh.title;
    document.dispatchEvent(new CustomEvent("exchanged", { detail: changed }));
    if (changed.some((name) => name !== "nav")) announceChange();
  }
}

function announceChange() {
  if (performance.now() - announced < ANNOUNCED_MS) return;
  announced = performance.now();
  announce("This page has changed.");
}

function replace(old, next) {
  if (old.hasAttribute("data-list")) {
    reconcile(old, next);
    return;
  }
  const kept = "keeps" in old.dataset ? old : null;
  swap(old, next, () => kept && document.dispatchEvent(new CustomEvent("kept", { detail: { old: kept, next } })));
}

// Children are matched by key: only changed ones flash, and open details stay open.
function reconcile(old, next) {
  const keys = new Set([...next.children].map((fresh) => fresh.dataset.key));
  // What is gone goes first: an element that moves loses the focus.
  for (const child of [...old.children]) if (!keys.has(child.dataset.key)) leave(child);
  const children = new Map([...old.children].map((child) => [child.dataset.key, child]));
  let place = null;
  for (const fresh of [...next.children]) {
    const mine = children.get(fresh.dataset.key);
    let here = mine;
    if (!mine) {
      here = document.adoptNode(fresh);
      here.classList.add("is-fresh");
    } else if (mine.hasAttribute("data-list")) {
      reconcile(mine, fresh);
    } else if (sources.get(mine) !== sources.get(fresh) && !typedIn(mine)) {
      here = fresh;
      swap(mine, here);
      here.classList.add("is-fresh");
    }
    let after = place ? place.nextElementSibling : old.firstElementChild;
    while (after && !keys.has(after.dataset.key)) after = after.nextElementSibling;
    if (here !== after) old.insertBefore(here, after);
    place = here;
  }
}

// A call that was decided here stays where it is, with its result, and so does what a person types.
function leave(child) {
  if ("decided" in child.dataset) return;
  if (typedIn(child)) child.querySelector("[data-message]").textContent = "This call is not pending any more: it was decided elsewhere, or it has expired.";
  else child.remove();
}

const typedIn = (child) => child.querySelector(".drawer:not([hidden])") !== null;

/** Return the element of a new part that stands for one of the old part. */
function twin(element, next) {
  const mark = (one) => pathOf(one) || one.id || one.getAttribute("href") || one.value || one.textContent;
  return [...next.querySelectorAll(element.localName)].find((one) => mark(one) === mark(element));
}

function swap(old, next, done = () => {}) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  for (const detail of old.querySelectorAll("details[id]")) {
    const twin = next.querySelector(`details[id="${CSS.escape(detail.id)}"]`);
    if (twin) twin.open = detail.open;
  }
  const scroll = old.scrollTop;
  old.replaceWith(document.adoptNode(next));
  next.scrollTop = scroll;
  done();
  if (focused) twin(focused, next)?.focus({ preventScroll: true });
}

/** Refresh the page after a moment; more events until then change nothing. */
export function soon() {
  timer ??= setTimeout(() => {
    timer = null;
    refresh();
  }, Math.max(SETTLE_MS, rested - performance.now()));
}

function state(name, words) {
  const place = document.querySelector("[data-feed]");
  place.dataset.feed = name;
  place.querySelector("[data-feed-words]").textContent = words;
}

function follow() {
  feed = new EventSource("/api/events");
  feed.addEventListener("open", () => {
    state("live", "following your files");
    // The project may have changed since the page was made, or since the feed broke off.
    soon();
  });
  feed.addEventListener("error", () => {
    state("lost", "no answer");
    // A browser stops after an answer that is not a stream: the session may have ended.
    if (feed.readyState === EventSource.CLOSED) refresh();
  });
  for (const kind of KINDS) feed.addEventListener(kind, soon);
  for (const [kind, heard] of listeners) feed.addEventListener(kind, heard);
}

// A browser opens six connections to one server: a hidden tab closes its own.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    feed.close();
    state("waiting", "paused");
  } else {
    awake();
  }
});
window.addEventListener("pageshow", awake);

function awake() {
  if (feed.readyState === EventSource.CLOSED) follow();
}
follow();
