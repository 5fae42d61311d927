// Start the session, show the page of the address, and follow the events of the server.

import { announce, api, el, head, note } from "./parts.js";
import * as pages from "./pages.js";

const { site } = pages;
const PAGES = [
  [/^\/$/, pages.catalogue, "Catalogue", "/"], [/^\/tools\/([^/]+)$/, pages.tool], [/^\/skills\/([^/]+)$/, pages.skill],
  [/^\/pending$/, pages.pending, "Pending", "/pending"], [/^\/crises$/, pages.crises, "Crises", "/crises"], [/^\/runs$/, pages.runs, "Runs", "/runs"], [/^\/runs\/(.+)$/, pages.run],
  [/^\/audit$/, pages.audit, "Audit", "/audit"], [/^\/problems$/, pages.problems, "Problems", "/problems"],
];
const main = document.getElementById("main"), feedLine = document.getElementById("feed");
const badgeOf = { Catalogue: () => api("changes").then((some) => some.length), Pending: () => api("pending?limit=51").then((some) => (some.length > 50 ? "50+" : some.length)), Crises: () => api("crises").then((some) => some.length), Problems: () => api("diagnostics").then((some) => some.filter((one) => one.severity === "error").length) };
let turn = 0, feed = null, timer = null, rests = 0;

/** Show the page of the address; what a person typed or opened meanwhile is not replaced by an update. */
site.show = async (isUpdate = false) => {
  const mine = ++turn, [path, page] = PAGES.find(([one]) => one.test(location.pathname)) ?? [/^/, async () => [head("Nothing is here")]];
  const began = performance.now();
  let parts;
  try {
    parts = await page(...path.exec(location.pathname).slice(1).map(decodeURIComponent));
  } catch (error) {
    if (isUpdate && error.status !== 401) return;
    parts = [head(error.status === 401 ? "Open the link that the terminal shows" : error.status === 404 ? "Not found" : "This can't be shown"), note(error.message)];
    if (error.status === 401) state("lost", "open the new link");
  }
  rests = performance.now() + 5 * (performance.now() - began);
  if (mine !== turn || (isUpdate && isBusy())) return;
  const focus = mark(document.activeElement), scroll = scrollY;
  main.replaceChildren(...parts.flat(4).filter(Boolean));
  document.getElementById("filter")?.dispatchEvent(new Event("input"));
  document.title = `${main.querySelector("h1")?.textContent ?? ""} · Toolmd`;
  if (isUpdate) {
    scrollTo(0, scroll);
    if (focus) [...main.querySelectorAll("a, button, input, select")].find((one) => mark(one) === focus)?.focus({ preventScroll: true });
  } else {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  await margin();
};
site.go = (href) => {
  history.pushState(null, "", href);
  return site.show();
};
const mark = (one) => (main.contains(one) && one !== main ? (one.id || (one.getAttribute("href") ?? one.textContent)) : "");
const isForm = () => /^\/(tools|skills)\//.test(location.pathname);

/** Whether a person types or reads a result here: an update must not replace it. */
function isBusy() {
  if (main.querySelector(".drawer:not([hidden])")) return true;
  if (/^\/runs\/./.test(location.pathname)) return false;
  if (main.querySelector(".result, [data-decided]")) return true;
  if (document.activeElement?.matches("main :is(input, textarea, select):not(#filter)")) return true;
  return isForm() && [...main.querySelectorAll("form.try .fields :is(input, textarea, select)")].some((one) => one.value);
}

/** Show the menu with its numbers; Crises stands only where a project has any. */
async function margin() {
  const numbers = Object.fromEntries(await Promise.all(Object.entries(badgeOf).map(async ([word, ask]) => [word, await ask().catch(() => 0)])));
  const items = PAGES.filter(([, , word]) => word && (word !== "Crises" || numbers.Crises));
  document.getElementById("nav").replaceChildren(...items.map(([path, , word, href]) => el("li", {}, el("a", { href, "aria-current": path.test(location.pathname) ? "page" : null }, word,
    numbers[word] ? el("span", { class: `badge is-${["Crises", "Problems"].includes(word) ? "danger" : "guard"}` }, numbers[word]) : null))));
}

function state(name, words) {
  feedLine.dataset.feed = name;
  feedLine.lastElementChild.textContent = words;
}

function soon() {
  timer ??= setTimeout(() => {
    timer = null;
    if (isBusy()) margin();
    else site.show(true);
  }, Math.max(30, rests - performance.now()));
}

function follow() {
  feed = new EventSource("/api/events");
  feed.addEventListener("open", () => state("live", "following your files"));
  feed.addEventListener("error", () => {
    state("lost", "no answer");
    // A browser stops after an answer that is not a stream: the session may have ended.
    if (feed.readyState === EventSource.CLOSED) api("caller").catch((error) => { if (error.status === 401) site.show(); });
  });
  for (const kind of ["snapshot", "diagnostics", "policy-change", "call", "pending", "run", "run-step", "resync"]) feed.addEventListener(kind, soon);
}

// A browser opens six connections to one server: a hidden tab closes its own.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) { feed?.close(); state("waiting", "paused"); } else if (feed?.readyState === EventSource.CLOSED) { follow(); soon(); }
});
document.addEventListener("click", (event) => {
  const to = event.target.closest?.("a[href^='/']");
  if (!to || event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
  event.preventDefault();
  site.go(to.getAttribute("href"));
});
addEventListener("popstate", () => site.show());

/** Exchange the token of the printed link for a session, and remove it from the address. */
async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", token ? "/" : location.pathname);
  if (!token) throw Object.assign(new Error("The link has no token: open it as the terminal shows it."), { status: 401 });
  await api("session", { token });
}

try {
  if (location.pathname === "/enter") await enter();
  site.who = await api("caller");
  document.getElementById("project").textContent = site.who.project;
  await site.show();
  follow();
} catch (error) {
  state("lost", "no session");
  main.replaceChildren(head("Open the link that the terminal shows"), note(error.status === 401 && location.pathname !== "/enter" ? "This console needs a session: open the link that the server printed at its start. A token ends with the process that printed it." : error.message));
  announce(error.message);
}
