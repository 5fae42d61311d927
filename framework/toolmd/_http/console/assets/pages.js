// The pages: each reads the API and returns its parts.

import { act, announce, api, button, checks, chips, clock, code, el, empty, facts, finding, head, json, labels, link, many, note, outcome, pane, source, status, table } from "./parts.js";
import { inFuture, object } from "./forms.js";

/** What the pages need of the script around them: who calls, and how to go and to show again. */
export const site = { who: {}, go: () => {}, show: async () => {} };

const STATES = { stale: "last good version", pending: "stricter version live", idle: "no implementation", suspended: "suspended", live: "live" };
const stateOf = (one, changes, own) => (own.some((other) => other.code === "changed-remote-tool") ? "suspended" : one.stale ? "stale" : changes.some((edit) => edit.name === one.name) ? "pending" : one.implementation.kind === "none" ? "idle" : "live");

export async function catalogue() {
  const [tools, skills, changes, found] = await Promise.all([api("tools"), api("skills"), api("changes"), api("diagnostics?source=true")]);
  const all = [...tools, ...skills], groups = {};
  const ofEntry = (one) => found.filter((other) => [one.source.path, one.implementation.target?.split(":")[0]].includes(other.path));
  const known = new Set(all.flatMap(ofEntry));
  const broken = Object.groupBy(found.filter((one) => one.severity === "error" && !known.has(one)), (one) => one.path);
  for (const one of all) (groups[one.kind === "skill" ? "Skills" : one.category] ??= []).push(one);
  const details = (some) => (some.length ? el("details", { class: "findings", open: some.some((one) => one.severity === "error") }, el("summary", {}, counts(some)), some.map(finding)) : null);
  const entry = (one) => {
    const state = stateOf(one, changes, ofEntry(one));
    return el("article", { class: `entry is-${state}`, "data-words": [one.name, one.title, one.description, one.category, STATES[state]].join(" ").toLowerCase() },
      el("div", { class: "entry-line" }, el("h3", { class: "entry-name" }, link(`/${one.kind}s/${one.name}`, code(one.name))), chips(labels(one)), status(state, STATES[state])),
      el("p", { class: "entry-what", dir: "auto" }, one.description), details(ofEntry(one)));
  };
  const fit = el("span", { class: "sub", role: "status" });
  const filter = el("input", { id: "filter", type: "search", placeholder: "Filter by name or word", autocomplete: "off", value: site.words ?? "", oninput: () => {
    site.words = filter.value;
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), entries = [...document.querySelectorAll("[data-words]")];
    for (const one of entries) one.hidden = !words.every((word) => one.dataset.words.includes(word));
    for (const group of document.querySelectorAll(".group")) group.hidden = !group.querySelector(".entry:not([hidden])");
    fit.textContent = words.length ? `${entries.filter((one) => !one.hidden).length} of ${entries.length}` : "";
  } });
  return [
    head("Catalogue", `${many(tools.length, "tool")}, ${many(skills.length, "skill")}. `, found.length ? link("/problems", counts(found)) : el("span", { class: "count is-well" }, "No problems"),
      site.who.trust_edits ? el("span", { class: "count is-warning" }, " Edits are trusted: weaker policies are live at once.") : null),
    changes.length ? el("div", { class: "slips" }, changes.map(weakened)) : null,
    el("p", { class: "filter" }, el("label", { class: "unseen", for: "filter" }, "Show only definitions with"), filter, " ", fit),
    all.length ? null : empty("No definitions yet: ", code("toolmd new tool NAME"), " writes the first one."),
    Object.keys(broken).length ? el("section", { class: "group" }, el("h2", { class: "group-title" }, "Not loaded"), Object.entries(broken).map(([path, some]) => el("article", { class: "entry is-broken", "data-words": path.toLowerCase() }, el("div", { class: "entry-line" }, el("h3", { class: "entry-name" }, code(path)), status("broken", "not loaded")), details(some)))) : null,
    Object.entries(groups).map(([title, entries]) => el("section", { class: "group" }, el("h2", { class: "group-title", dir: "auto" }, title), entries.map(entry))),
  ];
}

const counts = (some) => ["error", "warning", "hint"].map((kind) => [kind, some.filter((one) => one.severity === kind).length]).filter(([, number]) => number).map(([kind, number]) => [el("span", { class: `count is-${kind}` }, many(number, kind)), " "]);

function weakened(change) {
  const place = el("div"), show = (value) => (value === null || value === undefined ? "none" : typeof value === "string" ? value : JSON.stringify(value));
  return el("article", { class: "slip is-guard", "aria-label": `Weakened policy of ${change.name}` },
    el("p", { class: "slip-kind" }, "Weakened policy"),
    el("h2", { class: "slip-title" }, "This edit weakens the policy of ", link(`/${change.kind}s/${change.name}`, code(change.name))),
    el("p", { class: "slip-words" }, "The stricter version stays live until you accept the edit. ", el("span", { class: "where" }, `${change.path}:${change.line}`)),
    el("dl", { class: "diff" }, change.weakened.map((one) => el("div", {}, el("dt", {}, one.place), el("dd", { class: "was" }, show(one.before)), el("dd", { class: "will" }, show(one.after))))),
    el("div", { class: "buttons" }, button("Accept: make it live", () => act(place, async () => {
      await api(`changes/${encodeURIComponent(change.name)}/accept`, {});
      announce(`The edit of ${change.name} is live.`);
      await site.show();
    }), "is-guard")), place);
}

/** Return the headers that name the caller of the form, where it is not the token's own. */
function callerHeaders(user, context, roles) {
  const stated = {};
  for (const part of context.split(",").map((one) => one.trim()).filter(Boolean)) {
    const [name, value] = part.split(/=(.*)/s);
    if (!/^[a-z_][a-z0-9_-]*$/i.test(name.trim()) || value === undefined) throw new Error("Write the context as patient=P-1001, tenant=north.");
    stated[name.trim()] = value.trim();
  }
  const own = site.who.context ?? {};
  const same = user === (site.who.user ?? "") && roles === (site.who.roles ?? []).join(", ");
  if (same && JSON.stringify(stated) === JSON.stringify(own)) return {};
  return { "toolmd-user": user, ...(roles ? { "toolmd-roles": roles } : {}), ...Object.fromEntries(Object.entries(stated).map(([name, value]) => [`toolmd-context-${name.replaceAll("_", "-")}`, value])) };
}

/** A form for a call or a run; who calls is typed once and remembered. */
function form(one, word, send) {
  const fields = object(one.input_schema), place = el("div", { class: "outcome-place" }), moved = el("p", { class: "fill-note", role: "status" });
  const box = el("textarea", { class: "mono json-box", rows: 10, hidden: true, spellcheck: "false", "aria-label": "All arguments as JSON" });
  const written = Object.entries(site.who.context ?? {}).map(([name, value]) => `${name}=${value}`).join(", ");
  const known = { user: site.who.user ?? "", roles: (site.who.roles ?? []).join(", "), context: written, confidence: "", message: "" };
  const input = (name, more = {}) => el("input", { name, autocomplete: "off", value: (name === "message" ? "" : localStorage[`caller-${name}`]) ?? known[name], onchange: ({ target }) => { if (name !== "message") localStorage[`caller-${name}`] = target.value; }, ...more });
  const user = input("user"), roles = input("roles", { placeholder: "support, manager" }), context = input("context", { placeholder: "patient=P-1001" }), confidence = input("confidence", { inputmode: "decimal" }), message = input("message");
  const start = (more) => act(place, () => {
    const words = { message: message.value, ...(confidence.value.trim() ? { confidence: Number(confidence.value) } : {}), ...more };
    return send(box.hidden ? (fields.read() ?? "{}") : box.value, words, callerHeaders(user.value, context.value, roles.value), fields);
  });
  const fill = (given) => {
    const [value, weeks] = inFuture(given.arguments);
    fields.put(value);
    box.value = JSON.stringify(value, null, 2);
    moved.textContent = weeks ? `Its dates lie in the past: they were moved ${many(weeks, "week")} ahead.` : "";
    announce(`Filled in ${given.title}`);
  };
  const examples = (one.examples ?? []).filter((given) => given.arguments);
  const asJson = button("Write JSON", () => {
    box.hidden = !box.hidden;
    fields.node.hidden = !box.hidden;
    if (!box.hidden) box.value = JSON.stringify(JSON.parse(fields.read() ?? "{}"), null, 2);
    else try { fields.put(JSON.parse(box.value)); } catch { announce("This is not JSON, so the form did not change."); }
    asJson.setAttribute("aria-pressed", String(!box.hidden));
  }, "is-quiet", { "aria-pressed": "false" });
  return el("form", { class: "try", onsubmit: (event) => { event.preventDefault(); start({}); } },
    examples.length ? el("div", {}, el("p", { class: "fill" }, "Fill in ", examples.map((given) => button(given.title, () => fill(given), "is-small"))), moved) : null,
    fields.node, box,
    el("fieldset", { class: "who" }, el("legend", { class: "field-label" }, "Call as"), el("div", { class: "who-fields" },
      el("label", {}, "User", user), el("label", {}, "Roles", roles), el("label", {}, "Context", context), el("label", {}, "Confidence, 0 to 1", confidence), el("label", { class: "wide" }, "The user's message", message))),
    el("div", { class: "buttons" }, el("button", { class: "button is-main" }, word), word === "Call" ? button("Dry run", () => start({ dry_run: true })) : null, asJson), place);
}

async function about(one, changes, found) {
  const own = found.filter((other) => [one.source.path, one.implementation.target?.split(":")[0]].includes(other.path));
  const state = stateOf(one, changes, own);
  return [
    el("div", { class: "head" }, el("p", { class: "trail" }, link("/", "Catalogue"), " / ", one.kind === "skill" ? "Skills" : one.category), el("h1", {}, code(one.name)), el("p", { class: "lead", dir: "auto" }, one.description),
      el("div", { class: "facts-line" }, status(state, STATES[state]), chips(labels(one)), el("span", { class: "where" }, [one.source.path, one.implementation.target, one.version].filter(Boolean).join(" · ")))),
    el("div", { class: "slips" }, changes.filter((edit) => edit.name === one.name).map(weakened)),
    own.length ? el("section", { class: "block" }, el("h2", {}, "Findings"), own.map(finding)) : null,
  ];
}

const everything = (kind, name) => Promise.all([api(`${kind}/${encodeURIComponent(name)}`), api("changes"), api("diagnostics?source=true")]);

export async function tool(name) {
  const [one, changes, found] = await everything("tools", name);
  const steps = el("div", { "data-part": "checks" }, checks(one));
  const send = async (text, words, headers, fields) => {
    const result = await api(`tools/${encodeURIComponent(one.name)}/call`, { arguments: text, ...words }, headers);
    steps.replaceChildren(checks(one, result));
    const waiting = result.confirmation?.id ? (await api("pending?limit=1000")).filter((other) => other.id === result.confirmation.id) : [];
    fields.blame(result.error?.details ?? []);
    return [outcome(result), await Promise.all(waiting.map(slip))];
  };
  return [
    await about(one, changes, found),
    el("div", { class: "pair is-try" }, pane("Try it", form(one, "Call", send)), pane("Checks of a call", steps)),
    el("div", { class: "pair" }, pane("Definition", source(one.text ?? "")), pane("What the model sees", views(one.name))),
  ];
}

function views(name) {
  const panel = el("div", { role: "tabpanel", id: "view", "aria-label": "What the model sees" });
  const open = (target, tab) => act(panel, async () => {
    for (const other of tabs.children) { other.setAttribute("aria-selected", String(other === tab)); other.tabIndex = other === tab ? 0 : -1; }
    const made = await api(`exports/${target}?name=${encodeURIComponent(name)}`);
    return [made.losses.length ? el("ul", { class: "losses" }, made.losses.map((loss) => el("li", {}, loss))) : null, json(Array.isArray(made.items) && made.items.length === 1 ? made.items[0] : made.items, target)];
  });
  const tabs = el("div", { class: "tab-list", role: "tablist", "aria-label": "Program", onkeydown: (event) => {
    const list = [...tabs.children], step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { const next = list[(list.indexOf(event.target) + step + list.length) % list.length]; next.focus(); next.click(); }
  } }, ["openai", "openai-responses", "anthropic", "gemini", "mcp", "prompt"].map((target) => el("button", { type: "button", role: "tab", "aria-controls": "view", onclick: ({ currentTarget }) => open(target, currentTarget) }, target)));
  open("openai", tabs.firstElementChild);
  return el("div", {}, tabs, panel);
}

/** Return a drawing of the server as elements, so that its text can be read and its steps styled. */
async function drawing(path) {
  const made = new DOMParser().parseFromString(await api(path), "image/svg+xml").documentElement;
  return el("div", { class: "drawing paper", tabindex: 0, role: "region", "aria-label": "Graph" }, document.importNode(made, true));
}

export async function skill(name) {
  const [one, changes, found] = await everything("skills", name);
  const runs = one.implementation.kind !== "none";
  const send = async (text, words, headers) => {
    const { run_id: id, ...result } = await api(`skills/${encodeURIComponent(one.name)}/run`, { inputs: text, ...words, wait: false }, headers);
    if (!id) return outcome(result);
    site.go(`/runs/${id}`);
    return [];
  };
  return [
    await about(one, changes, found),
    el("div", { class: "pair is-graph" }, pane("Steps", await drawing(`skills/${encodeURIComponent(one.name)}/graph`)),
      pane("Run it", runs && one.can_start ? form(one, "Run", send) : empty(runs ? "It is not for people to start (User Invocable: no)." : "A model reads this skill; it does not run by itself."))),
    el("div", { class: "block" }, pane("Definition", source(one.text ?? ""))),
  ];
}

const DONE = { approve: "Approved", edit: "Approved with other values", reject: "Rejected", respond: "Answered" };

/** A card of a pending call; after the decision it says what happened. */
async function slip(one) {
  const isRun = one.id.includes("/"), bound = one.form ? { input_schema: one.form } : await api(`tools/${encodeURIComponent(one.tool)}`).catch(() => null);
  const place = el("div", { "data-message": true }), buttons = el("div", { class: "buttons" }), drawer = el("form", { class: "drawer", hidden: true });
  const kind = el("p", { class: "slip-kind" }, one.form ? "Its server asks for input" : one.kind === "review" ? `Waits for ${(one.approvals ?? []).map((each) => [].concat(each.by).join(" or ")).join(" and ") || "a review"}` : "Waits for a confirmation", one.sensitivity && one.sensitivity !== "low" ? el("span", { class: `is-${one.sensitivity}` }, ` · ${one.sensitivity}`) : null);
  const decide = (decision, more = {}) => act(place, async () => {
    card.dataset.decided = decision;
    let result;
    try {
      result = await api(`pending/${one.id.split("/").map(encodeURIComponent).join("/")}`, { decision, ...more });
    } catch (error) {
      delete card.dataset.decided;
      throw error;
    }
    // A run that a decision went on with may end with a denial of its own.
    if (result.outcome === "denied" && !result.run_id && result.error.code !== "rejected") {
      delete card.dataset.decided;
      kind.textContent = ["approve", "edit"].includes(decision) ? "Not approved" : "Not decided";
    } else {
      buttons.remove();
      drawer.remove();
      kind.textContent = result.outcome === "failed" ? `${DONE[decision]}, but the tool failed` : DONE[decision];
    }
    announce(`${kind.textContent}: ${result.error?.message ?? result.message ?? result.outcome}`);
    const again = result.confirmation?.id ? (await api("pending?limit=1000")).filter((other) => other.id === result.confirmation.id) : [];
    return [outcome(result), await Promise.all(again.map(slip))];
  });
  let opener = null;
  const open = (pressed, work, ...parts) => {
    if (opener) opener.setAttribute("aria-expanded", "false");
    const closes = opener === pressed && !drawer.hidden;
    drawer.hidden = closes;
    opener = pressed;
    pressed.setAttribute("aria-expanded", String(!closes));
    drawer.onsubmit = (event) => { event.preventDefault(); work(); };
    drawer.replaceChildren(...parts);
    if (!closes) drawer.querySelector("input, select, textarea")?.focus();
  };
  drawer.addEventListener("keydown", (event) => { if (event.key === "Escape") { drawer.hidden = true; opener.setAttribute("aria-expanded", "false"); opener.focus(); } });
  const schema = bound?.input_schema ?? {}, shown = Object.entries(schema.properties ?? {}).filter(([, inner]) => !JSON.stringify(inner).includes('"x-sensitive":true'));
  const edit = ({ currentTarget }) => {
    const fields = object({ ...schema, properties: Object.fromEntries(shown) });
    fields.put(one.parameters);
    const before = new Map(fields.fields.map((field) => [field.key, field.read()]));
    open(currentTarget, () => {
      const changed = fields.fields.map((field) => [field.key, field.read()]).filter(([key, text]) => text !== undefined && text !== before.get(key));
      decide("edit", { edit: Object.fromEntries(changed.map(([key, text]) => [key, JSON.parse(text)])) });
    }, el("p", { class: "drawer-words" }, one.form ? "The values go to the tool's server." : "Changed arguments are checked again. Hidden values stay as they are."), fields.node, el("div", { class: "buttons" }, el("button", { class: "button is-main" }, one.form ? "Answer" : "Approve with these values")));
  };
  const respond = ({ currentTarget }) => {
    const text = el("textarea", { rows: 3, name: "text" });
    open(currentTarget, () => decide("respond", { text: text.value }), el("label", { class: "field-label" }, "Answer for the model, in place of the tool", text), el("div", { class: "buttons" }, el("button", { class: "button is-main" }, "Respond")));
  };
  const closed = { "aria-expanded": "false" }, isOwn = one.user === (site.who.user ?? undefined);
  buttons.append(...[
    one.form || !one.can_approve ? null : button("Approve", () => decide("approve"), "is-main"), shown.length && one.can_approve ? button(one.form ? "Answer…" : "Edit…", edit, "", closed) : null,
    one.form || !one.can_approve ? null : button("Respond…", respond, "", closed), one.can_approve || isOwn ? button("Reject", () => decide("reject"), "is-danger") : null,
  ].filter(Boolean));
  const run = isRun ? one.id.split("/")[0] : "";
  const card = el("article", { class: "slip is-guard", "data-pending": one.id, "aria-label": `Pending call of ${one.tool}` }, kind, el("h2", { class: "slip-title", dir: "auto" }, one.prompt),
    facts({ Tool: link(bound || !isRun ? `/tools/${one.tool}` : `/skills/${one.tool}`, code(one.tool)), User: one.user, Run: run && link(`/runs/${run}`, run), Created: clock(one.created), Expires: clock(one.expires) }),
    json(one.parameters ?? {}, "Arguments"), buttons, drawer, place);
  return card;
}

const PAGE = 50;

/** Return the links to the first page and to the next. */
const pager = (path, found, size, key = "after") => el("p", { class: "pages" }, new URLSearchParams(location.search).has(key) ? link(path, "First page") : null, found.length >= size ? link(`${path}?${key}=${encodeURIComponent(found.at(-1).id)}`, "Next page") : null);

export async function pending() {
  const after = new URLSearchParams(location.search).get("after");
  const found = await api(`pending?limit=${PAGE}${after ? `&after=${encodeURIComponent(after)}` : ""}`);
  return [head("Pending", found.length ? many(found.length, "call") : "No call is pending."), el("div", { class: "slips" }, await Promise.all(found.map(slip))), pager("/pending", found, PAGE)];
}

export async function runs() {
  const after = new URLSearchParams(location.search).get("after");
  const found = await api(`runs?limit=100${after ? `&after=${encodeURIComponent(after)}` : ""}`);
  return [head("Runs", "The stored runs of skills, the latest first."),
    found.length ? table("Runs", ["Run", "Skill", "State", "Began", "Result"], found.map((one) => [link(`/runs/${one.id}`, code(one.id)), link(`/skills/${one.skill}`, one.skill), status(one.state, one.state, "standing"), clock(one.began), one.result?.message ?? one.questions[0]?.prompt ?? ""])) : empty("No run yet."),
    pager("/runs", found, 100)];
}

const WAITS = /(:ask|:wait|:happened)\d*$/;
const seconds = (ms) => { const s = ms / 1000; return s < 10 ? `${s.toFixed(1)} s` : s < 120 ? `${Math.round(s)} s` : s < 7200 ? `${Math.round(s / 60)} min` : `${(s / 3600).toFixed(1)} h`; };

/** The steps of a run in the order of their start, each with its time, its words and its records. */
function timeline(one, events) {
  const lines = new Map(), began = Date.parse(one.began), spans = [];
  for (const event of events) lines.set(event.step, { ...lines.get(event.step), ...event, spans: [], records: [] });
  for (const asked of one.questions) lines.set(asked.key, { ...(lines.get(asked.key) ?? { spans: [], records: [] }), step: asked.key, kind: "waiting", title: asked.step ?? asked.key, text: asked.prompt });
  let last = began;
  for (const record of one.steps) {
    const key = [...lines.keys()].filter((step) => record.key === step || record.key.startsWith(`${step}:`) || record.key.startsWith(`${step}[`)).sort((a, b) => b.length - a.length)[0] ?? record.key;
    if (!lines.has(key)) lines.set(key, { step: key, kind: "done", title: "", spans: [], records: [] });
    const span = { from: last, to: Math.max(last, Date.parse(record.at)), waits: WAITS.test(record.key) };
    lines.get(key).spans.push(span);
    lines.get(key).records.push(record);
    spans.push(span);
    last = span.to;
  }
  const open = [...lines.values()].findLast((line) => ["waiting", "started", "progress"].includes(line.kind));
  if (open && !one.result) { const span = { from: last, to: Math.max(last, Date.now()), waits: open.kind === "waiting" }; open.spans.push(span); spans.push(span); }
  const whole = Math.max(1, ...spans.map((span) => span.to - began));
  const bar = (span) => { const made = document.createElementNS("http://www.w3.org/2000/svg", "rect"); const width = Math.max(6, ((span.to - span.from) / whole) * 1000); for (const [name, value] of Object.entries({ x: Math.min(994, ((span.from - began) / whole) * 1000), width, height: 8 })) made.setAttribute(name, value); if (span.waits) made.setAttribute("class", "is-wait"); return made; };
  const bars = (line) => { const made = document.createElementNS("http://www.w3.org/2000/svg", "svg"); for (const [name, value] of Object.entries({ viewBox: "0 0 1000 8", preserveAspectRatio: "none", class: "bars", "aria-hidden": "true" })) made.setAttribute(name, value); made.append(...line.spans.map(bar)); return made; };
  const took = (some) => [false, true].map((waits) => [waits, some.filter((span) => span.waits === waits).reduce((sum, span) => sum + span.to - span.from, 0), some.some((span) => span.waits === waits)]).filter(([, , any]) => any).map(([waits, ms]) => (waits ? `waited ${seconds(ms)}` : seconds(ms))).join(", ");
  return [el("p", { class: "took" }, took(spans)), el("ol", { class: "log" }, [...lines.values()].map((line) => el("li", { class: `log-line is-${line.kind}` },
    el("p", {}, el("span", { class: "log-title", dir: "auto" }, `${line.step}${line.title ? `. ${line.title}` : ""}`), el("span", { class: "took" }, ` ${line.kind}`)), bars(line),
    el("p", { class: "log-foot" }, el("span", {}, took(line.spans)), line.records.length ? clock(line.records.at(-1).at) : null), line.text ? el("p", { class: "log-words", dir: "auto" }, line.text) : null,
    line.records.map((record) => el("details", {}, el("summary", {}, record.key), json(record.value ?? null, record.key))))))];
}

export async function run(id) {
  const path = `runs/${encodeURIComponent(id)}`;
  const [one, events, asked, picture] = await Promise.all([api(path), api(`${path}/events`), api("pending?limit=1000"), drawing(`${path}/graph`)]);
  const place = el("div");
  const steer = (what) => act(place, async () => { const result = await api(`${path}/${what}`, {}); await site.show(); announce(result.message); return []; });
  return [
    el("div", { class: "head" }, el("p", { class: "trail" }, link("/runs", "Runs"), " / ", link(`/skills/${one.skill}`, one.skill)), el("h1", {}, code(one.id)), el("div", { class: "facts-line" }, status(one.state, one.state, "standing"), el("span", { class: "where" }, "began ", clock(one.began)))),
    one.result ? outcome(one.result) : null,
    el("div", { class: "slips" }, await Promise.all(asked.filter((other) => other.id.startsWith(`${id}/`)).map(slip))),
    el("div", { class: "buttons" }, ["running", "waiting", "scheduled"].includes(one.state) ? button("Cancel", () => steer("cancel"), "is-danger") : null, one.state === "stuck" ? button("Resume", () => steer("resume")) : null), place,
    el("div", { class: "pair" }, pane("Steps", picture), el("div", {}, pane("Timeline", timeline(one, events)), pane("Inputs", json(one.inputs, "Inputs")))),
  ];
}

export async function audit() {
  const asked = new URLSearchParams(location.search);
  const [found, verified] = await Promise.all([api(`audit${location.search}`), api("audit/verify")]);
  const pick = (name) => el("label", {}, name, el("input", { name, value: asked.get(name) ?? "", autocomplete: "off" }));
  const kinds = ["run", "deny", "confirm", "review", "answered", "superseded"];
  return [head("Audit", "Each decision on a call, written before its effect, with the hash of the one before."),
    el("p", { class: `verdict ${verified.sound ? "is-good" : "is-bad"}` }, verified.sound ? `${many(verified.records, "record")}: all unchanged.` : `${verified.file}:${verified.first_bad}: ${verified.problem}`),
    el("form", { class: "wanted", onsubmit: (event) => { event.preventDefault(); site.go(`/audit?${new URLSearchParams([...new FormData(event.target)].filter(([, value]) => value))}`); } }, pick("tool"), pick("user"),
      el("label", {}, "outcome", el("select", { name: "outcome" }, el("option", { value: "" }, "any"), kinds.map((kind) => el("option", { selected: asked.get("outcome") === kind }, kind)))), el("button", { class: "button" }, "Show")),
    found.length ? table("Decisions", ["At", "Decision", "Tool", "User", "Reason"], found.map((one) => [clock(one.at), el("span", { class: `decision is-${one.decision}` }, one.decision), one.tool ?? "", [one.user, one.by && one.by !== one.user ? `by ${one.by}` : ""].filter(Boolean).join(", "), one.code ?? ""])) : empty("No decision is recorded."),
    pager("/audit", found, 100, "before")];
}

export async function problems() {
  const found = await api("diagnostics?source=true");
  return [head("Problems", found.length ? counts(found) : "No problems."), Object.entries(Object.groupBy(found, (one) => one.path)).map(([path, some]) => el("section", { class: "group" }, el("h2", { class: "group-title is-path" }, path), some.map(finding)))];
}

export async function crises() {
  const found = await api("crises"), place = el("div");
  return [head("Crises", found.length ? "In these conversations, each call that is not Read Only waits for an operator. Clear a flag after a person has looked after the user." : "No conversation has a crisis flag."), place,
    found.length ? table("Crises", ["Conversation", "User", "Heard last", "Flag"], found.map((one) => [code(one.conversation), one.user ?? "not signed in", clock(one.since),
      button("Clear", () => act(place, async () => { await api("crises/clear", { conversation: one.conversation, user: one.user }); await site.show(); announce(`${one.conversation}: the crisis flag is cleared.`); return []; }), "is-small is-danger")])) : null];
}
