// Handle a person's actions on a page: try, decide, accept, run, switch tabs, filter.

import { blame, collect, fill, filled, joined } from "./forms.js";
import { announce, parsed, refresh } from "./live.js";
import { watch } from "./runs.js";

async function post(path, body) {
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const kind = answer.headers.get("content-type") ?? "";
    if (kind.startsWith("text/html")) return parsed(await answer.text()).body;
    return note(answer.status === 401 ? "The session has ended: open the link that the terminal shows." : `The server denied the request (${answer.status}).`);
  } catch {
    return note("The server does not answer: is toolmd dev still running?");
  }
}

function note(words) {
  const body = document.createElement("body");
  const line = document.createElement("p");
  line.className = "note is-danger";
  line.textContent = words;
  body.append(line);
  return body;
}

async function busy(form, work) {
  const pressed = document.activeElement;
  const buttons = [...form.querySelectorAll("button")];
  for (const button of buttons) button.disabled = true;
  try {
    return await work();
  } finally {
    for (const button of buttons) button.disabled = false;
    // A disabled button loses the focus.
    if (document.activeElement === document.body) pressed.focus({ preventScroll: true });
  }
}

/** Move the focus to a result if the button that asked for it is gone. */
function settle(where) {
  if (document.activeElement !== document.body) return;
  where.tabIndex = -1;
  where.focus({ preventScroll: true });
}

/** Put an answer into its place on the page; return its result part. */
function place(where, body) {
  const part = body.querySelector("[data-part=result]");
  where.replaceChildren(...(part ? [part] : body.childNodes));
  for (const root of where.querySelectorAll("[data-values]")) begin(root);
  return part;
}

function given(form) {
  const box = form.querySelector("[data-json]");
  const root = form.querySelector("[data-root]");
  const words = Object.fromEntries(new FormData(form));
  return {
    arguments: box && !box.hidden ? box.querySelector("textarea").value : collect(root),
    user: words.user ?? "",
    context: words.context ?? "",
    message: words.message ?? "",
    confidence: (words.confidence ?? "").trim() === "" ? null : Number(words.confidence),
  };
}

async function tryCall(form, how) {
  const root = form.querySelector("[data-root]");
  const body = await busy(form, () => post(form.dataset.try, { ...given(form), dry_run: how === "dry" }));
  const where = form.parentElement.querySelector("[data-part=result]");
  const part = place(where, body);
  const checks = body.querySelector("[data-part=checks]");
  if (checks) document.querySelector("[data-part=checks][data-live]").replaceChildren(...checks.childNodes);
  const fields = blame(root, part ? JSON.parse(part.dataset.problems) : []);
  const first = fields[0]?.querySelector("[data-input]");
  (first ?? where).focus({ preventScroll: true });
}

async function decide(choice, decision) {
  const edit = decision === "edit" ? joined(changed(choice.querySelector("[data-root]"))) : "{}";
  const text = choice.querySelector("[name=text]").value;
  const slip = choice.closest(".slip");
  const where = slip.querySelector("[data-message]");
  // Before the answer: the event of the decision may arrive first, and would remove the slip.
  slip.dataset.decided = decision;
  const body = await busy(choice, () => post(choice.dataset.decide, { decision, text, edit }));
  place(where, body);
  if (body.querySelector(".note.is-danger")) delete slip.dataset.decided;
  else choice.remove();
  settle(where);
  announce(where.textContent);
}

/** Return the fields that differ from their first values. */
function changed(root) {
  const before = new Map(JSON.parse(root.dataset.before));
  return [...filled(root)].filter(([key, text]) => before.get(key) !== text);
}

async function run(form) {
  const body = await busy(form, () => post(form.dataset.run, given(form)));
  const where = form.parentElement.querySelector("[data-part=result]");
  const part = place(where, body);
  if (part?.dataset.runId) watch(part.dataset.runId);
  where.focus({ preventScroll: true });
}

/** Fill a form with its first values, and store them in the form's own notation. */
function begin(root) {
  fill(root, JSON.parse(root.dataset.values));
  root.dataset.before = JSON.stringify([...filled(root)]);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.hasAttribute("action")) return;
  event.preventDefault();
  const pressed = event.submitter?.value ?? "";
  if (form.dataset.try) await tryCall(form, pressed);
  const choice = form.closest("[data-decide]");
  if (choice) await decide(choice, pressed);
  if (form.dataset.run) await run(form);
  if (form.dataset.accept) {
    const body = await busy(form, () => post(form.dataset.accept, {}));
    place(form.parentElement.querySelector("[data-message]"), body);
    announce(form.parentElement.querySelector("[data-message]").textContent);
    await refresh();
    settle(document.getElementById("main"));
  }
  if (form.dataset.post) {
    const body = await busy(form, () => post(form.dataset.post, Object.fromEntries(new FormData(form))));
    const where = document.getElementById(form.dataset.into);
    place(where, body);
    await refresh();
    settle(where);
  }
});

document.addEventListener("click", ({ target }) => {
  const fills = target.closest("[data-fill]");
  if (fills) {
    const form = fills.closest("form");
    const box = form.querySelector("[data-json]");
    fill(form.querySelector("[data-root]"), JSON.parse(fills.dataset.fill));
    box.querySelector("textarea").value = fills.dataset.fill;
    announce(`Filled in ${fills.textContent}`);
  }
  const opens = target.closest("[data-toggle]");
  if (opens) {
    const drawer = toggle(opens);
    if (!drawer.hidden) drawer.querySelector("input, select, textarea")?.focus();
  }
  const writes = target.closest("[data-as-json]");
  if (writes) asJson(writes);
  const tab = target.closest("[role=tab]");
  if (tab) select(tab);
});

function toggle(button) {
  const drawer = document.getElementById(button.dataset.toggle);
  drawer.hidden = !drawer.hidden;
  button.setAttribute("aria-expanded", String(!drawer.hidden));
  return drawer;
}

function asJson(button) {
  const form = button.closest("form");
  const box = form.querySelector("[data-json]");
  const text = box.querySelector("textarea");
  const root = form.querySelector("[data-root]");
  const on = box.hidden;
  if (on) {
    text.value = JSON.stringify(JSON.parse(collect(root)), null, 2);
  } else {
    try {
      fill(root, JSON.parse(text.value));
    } catch {
      announce("This is not JSON, so the form did not change.");
    }
  }
  box.hidden = !on;
  root.hidden = on;
  button.setAttribute("aria-pressed", String(on));
  if (on) text.focus();
}

function select(tab) {
  for (const other of tab.parentElement.children) {
    const on = other === tab;
    other.setAttribute("aria-selected", String(on));
    other.tabIndex = on ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !on;
  }
  tab.focus();
}

document.addEventListener("keydown", (event) => {
  const drawer = event.key === "Escape" && event.target.closest?.(".drawer");
  if (drawer) {
    const button = document.querySelector(`[data-toggle="${CSS.escape(drawer.id)}"]`);
    toggle(button);
    button.focus();
  }
  const tab = event.target.closest?.("[role=tab]");
  if (!tab) return;
  const tabs = [...tab.parentElement.children];
  const to = { ArrowRight: 1, ArrowLeft: -1, Home: -tabs.indexOf(tab), End: tabs.length - 1 - tabs.indexOf(tab) }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  select(tabs[(tabs.indexOf(tab) + to + tabs.length) % tabs.length]);
});

// A form that changed on the server keeps the typed values of its remaining fields.
document.addEventListener("kept", ({ detail: { old, next } }) => {
  const before = old.querySelector("[data-root]");
  const after = next.querySelector("[data-root]");
  if (before && after) {
    fill(after, JSON.parse(collect(before)));
    after.hidden = before.hidden;
  }
});

function filter() {
  const words = document.querySelector("[data-filter]").value.toLowerCase().split(/\s+/).filter(Boolean);
  const entries = [...document.querySelectorAll("[data-words]")];
  for (const entry of entries) entry.hidden = !words.every((word) => entry.dataset.words.includes(word));
  document.querySelector("[data-fit]").textContent = words.length ? `${entries.filter((entry) => !entry.hidden).length} of ${entries.length}` : "";
  for (const group of document.querySelectorAll(".group")) {
    group.hidden = group.querySelector("[data-words]") && !group.querySelector("[data-words]:not([hidden])");
  }
}
if (document.querySelector("[data-filter]")) {
  document.querySelector("[data-filter]").addEventListener("input", filter);
  document.addEventListener("exchanged", filter);
}
for (const root of document.querySelectorAll("[data-values]")) begin(root);
document.addEventListener("exchanged", () => {
  for (const root of document.querySelectorAll("[data-values]:not([data-before])")) begin(root);
});
