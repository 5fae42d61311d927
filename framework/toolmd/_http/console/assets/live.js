// Follow what happens, and bring the page up to date where it says something else now.

// What every page shows in its margin, and what this one is about.
const MATTERS = ["snapshot", "diagnostics", "policy-change", "pending", "run", "resync", ...document.body.dataset.follows.split(" ").filter(Boolean)];
const SETTLE_MS = 15;
const known = new Map();
const sources = new WeakMap();
const held = new Set();
let timer;
let fetching = false;
let again = false;
let feed = null;
const listeners = [];

/** Remember what the server said of each part, for people and the script change the page too. */
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

/** Let a part be, or no more, whatever the server says of it. */
export function hold(name, on) {
  if (on) held.add(name);
  else held.delete(name);
}

/** Hear the events of one kind, with their JSON. */
export function hear(kind, listener) {
  const heard = (event) => listener(JSON.parse(event.data));
  listeners.push([kind, heard]);
  feed?.addEventListener(kind, heard);
}

/** Ask for the page anew and exchange what is different. */
export async function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (answer.status === 401) {
      state("lost", "open the new link");
    } else if (answer.ok || answer.status === 404) {
      exchange(parsed(await answer.text()));
    }
  } catch {
    // The feed tells that nobody answers.
  } finally {
    fetching = false;
    if (again) {
      again = false;
      await refresh();
    }
  }
}

function exchange(fresh) {
  const now = new Map();
  remember(fresh, now);
  const changed = [];
  for (const [name, html] of now) {
    if (known.get(name) === html) continue;
    if (held.has(name)) {
      // It is being played over; whoever holds it asks again.
      now.delete(name);
      continue;
    }
    const old = document.querySelector(`[data-live="${CSS.escape(name)}"]`);
    const next = fresh.querySelector(`[data-live="${CSS.escape(name)}"]`);
    if (!old) {
      // A part under a new name takes the place of the one that is no more: `checks HASH`.
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
    if (changed.some((name) => name !== "nav")) announce("This page has changed.");
  }
}

function replace(old, next) {
  if (old.hasAttribute("data-list")) {
    reconcile(old, next);
    return;
  }
  const kept = "keeps" in old.dataset ? old : null;
  swap(old, next, () => kept && document.dispatchEvent(new CustomEvent("kept", { detail: { old: kept, next } })));
}

// Children keep their places by key: only what is different flashes, and an open detail stays open.
function reconcile(old, next) {
  const children = new Map([...old.children].map((child) => [child.dataset.key, child]));
  let place = null;
  for (const fresh of [...next.children]) {
    const mine = children.get(fresh.dataset.key);
    children.delete(fresh.dataset.key);
    let here = mine;
    if (!mine) {
      here = document.adoptNode(fresh);
      here.classList.add("is-fresh");
    } else if (mine.hasAttribute("data-list")) {
      reconcile(mine, fresh);
    } else if (sources.get(mine) !== sources.get(fresh)) {
      here = fresh;
      swap(mine, here);
      here.classList.add("is-fresh");
    }
    const after = place ? place.nextElementSibling : old.firstElementChild;
    if (here !== after) old.insertBefore(here, after);
    place = here;
  }
  // What was decided here stays, with what came of it.
  for (const gone of children.values()) if (!("decided" in gone.dataset)) gone.remove();
}

function swap(old, next, done = () => {}) {
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  for (const detail of old.querySelectorAll("details[id]")) {
    const twin = next.querySelector(`details[id="${CSS.escape(detail.id)}"]`);
    if (twin) twin.open = detail.open;
  }
  const scroll = old.scrollTop;
  old.replaceWith(document.adoptNode(next));
  next.scrollTop = scroll;
  done();
  if (focused) document.getElementById(focused)?.focus();
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(refresh, SETTLE_MS);
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
    // Something may have happened since the page was made, or since the feed broke off.
    soon();
  });
  feed.addEventListener("error", () => {
    state("lost", "nobody answers");
    // A browser gives up after an answer that is no stream: the session may be over.
    if (feed.readyState === EventSource.CLOSED) refresh();
  });
  for (const kind of MATTERS) feed.addEventListener(kind, soon);
  for (const [kind, heard] of listeners) feed.addEventListener(kind, heard);
}

// A browser opens six connections to one server: a tab that nobody looks at gives its own back.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    feed.close();
    state("waiting", "resting");
  } else {
    awake();
  }
});
window.addEventListener("pageshow", awake);

function awake() {
  if (feed.readyState === EventSource.CLOSED) follow();
}
follow();
