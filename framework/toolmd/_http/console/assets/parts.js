// Elements, requests to the API, and the small parts that the pages share.

/** The characters that can't be seen, as `_types/visible.py` has them; tabs and line breaks stay. */
const HIDDEN = /(?![\t\n])[\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** Replace each character that hides or reorders text by its code point. */
export const visible = (text) => text.replace(HIDDEN, (one) => `<U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`);

/** Make an element with attributes, `on…` handlers and children; text is never read as HTML. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  const parts = children.flat(4).filter((child) => child !== null && child !== undefined && child !== false && child !== "");
  made.append(...parts.map((child) => (child instanceof Node ? child : visible(String(child)))));
  return made;
}

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail);
    this.status = status;
  }
}

/** Send a request to the API; a body makes it a POST. The result of a denied call is returned, too. */
export async function api(path, body, headers = {}) {
  const sent = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(`/api/${path}`, sent);
  } catch (error) {
    throw new ApiError(0, { detail: error.message.includes("ByteString") ? "User and context can't have these characters in a header." : "The server does not answer. Start it again with `toolmd dev`." });
  }
  if (answer.status === 204) return null;
  if (answer.headers.get("content-type")?.startsWith("image/")) return answer.text();
  const value = await answer.json().catch(() => ({ detail: `${answer.status} ${answer.statusText}` }));
  if (answer.ok) return value;
  if (value.result) return value.result;
  throw new ApiError(answer.status, answer.status === 401 ? { detail: "The session has ended: open the link that the terminal shows." } : value);
}

export const announce = (words) => (document.getElementById("announcer").textContent = words);
export const link = (href, ...text) => el("a", { href }, ...text);
export const code = (text) => el("code", {}, text);
export const many = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
export const empty = (...text) => el("p", { class: "empty" }, ...text);
export const note = (text, kind = "is-danger") => el("p", { class: `note ${kind}` }, text);
export const button = (text, onclick, kind = "", more = {}) => el("button", { class: `button ${kind}`, type: "button", onclick, ...more }, text);
export const chips = (list) => (list.length ? el("ul", { class: "chips", "aria-label": "Policy" }, list.map(([word, tone]) => el("li", { class: `chip is-${tone}` }, word))) : null);
export const facts = (given) => el("dl", { class: "facts" }, Object.entries(given).filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { dir: "auto" }, value))));
export const status = (state, words, kind = "status") => el("span", { class: `${kind} is-${state}` }, el("span", { class: "dot", "aria-hidden": "true" }), words);
export const head = (title, ...sub) => el("div", { class: "head" }, el("h1", {}, title), sub.length ? el("p", { class: "sub" }, ...sub) : null);

export function pane(title, ...parts) {
  const id = `pane-${title.toLowerCase().replaceAll(" ", "-")}`;
  return el("section", { class: "pane", "aria-labelledby": id }, el("h2", { id }, title), ...parts);
}

export function table(label, heads, rows) {
  return el("div", { class: "table-place", tabindex: 0, role: "region", "aria-label": label },
    el("table", {}, el("thead", {}, el("tr", {}, heads.map((one) => el("th", { scope: "col" }, one)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", { dir: "auto" }, cell)))))));
}

/** Return a time in local form; an unreadable one stays as it is. */
export function clock(moment) {
  if (!moment) return "";
  const at = new Date(typeof moment === "number" ? moment * 1000 : moment);
  return Number.isNaN(at.getTime()) ? String(moment) : el("time", { class: "when", datetime: at.toISOString() }, at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }));
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)/g;
const LONGEST = 200_000;

/** Return indented JSON with marks for keys, texts and numbers. */
export function json(value, label = "JSON") {
  const whole = typeof value === "string" && label !== "Data" ? value : JSON.stringify(value, null, 2);
  const text = whole.slice(0, LONGEST), parts = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    parts.push(text.slice(end, found.index));
    if (found[1]) parts.push(el("span", { class: found[2] ? "j-key" : "j-text" }, found[1]), found[2] ?? "");
    else parts.push(el("span", { class: found[3] ? "j-number" : "j-word" }, found[0]));
    end = found.index + found[0].length;
  }
  return el("pre", { class: "json", tabindex: 0, "aria-label": label }, parts, text.slice(end), whole.length > LONGEST ? "\n…" : "");
}

/** Return the text of a definition with its headings and keys marked. */
export function source(text) {
  const lines = text.split("\n").map((line) => {
    if (/^#{1,6} /.test(line)) return el("b", { class: "d-head" }, `${line}\n`);
    const [, lead, key, rest] = /^(\s*[-*] )(\*\*[^*]+\*\*:?)(.*)$/.exec(line) ?? [];
    return key ? [lead, el("b", { class: "d-key" }, key), `${rest}\n`] : `${line}\n`;
  });
  return el("pre", { class: "paper source-text", tabindex: 0, dir: "auto", "aria-label": "Definition" }, lines);
}

/** Return a finding with its line and a caret. */
export function finding(one) {
  const line = one.source ?? "", start = one.column - 1;
  const end = Math.max(start, one.end_line === one.line ? one.end_column - 1 : line.length);
  const carets = "^".repeat(Math.max(1, line.slice(start, end).trimEnd().length));
  return el("div", { class: `finding is-${one.severity}` },
    el("p", { class: "finding-head" }, el("span", { class: "severity" }, one.severity), " ", el("span", { class: "finding-words", dir: "auto" }, one.message)),
    line.trim() ? el("pre", { class: "source", tabindex: 0, "aria-label": "Line" }, el("span", { class: "line-number" }, one.line), line.slice(0, start), el("mark", {}, line.slice(start, end)), line.slice(end), "\n",
      el("span", { class: "line-number", "aria-hidden": "true" }), el("span", { class: "ghost", "aria-hidden": "true" }, line.slice(0, start)), el("span", { class: "caret", "aria-hidden": "true" }, carets)) : null,
    el("p", { class: "finding-foot" }, el("span", { class: "where" }, `${one.path}:${one.line}:${one.column}`), " ", code(one.code), one.help ? el("span", { class: "help", dir: "auto" }, ` ${one.help}`) : null));
}

/** Return the result of a call or a run. */
export function outcome(result) {
  const took = result.duration_ms === undefined ? "" : `${result.duration_ms.toFixed(1)} ms${result.attempts > 1 ? ` · ${result.attempts} attempts` : ""}`;
  const problems = result.error?.details ?? [];
  return el("div", { class: `result is-${result.outcome}` },
    el("p", { class: "result-head" }, el("span", { class: "outcome" }, result.outcome), result.error ? code(result.error.code) : null, el("span", { class: "took" }, took)),
    el("p", { class: "result-words", dir: "auto" }, result.error?.message ?? result.message ?? ""),
    result.crisis ? note("The user's message may be about a crisis: a person should read it.") : null,
    (result.notes ?? []).map((text) => note(text, "")),
    problems.length ? el("ul", { class: "problems" }, problems.map((one) => el("li", {}, code(one.path || "all arguments"), " ", one.message))) : null,
    result.data === undefined || result.data === null ? null : json(result.data, "Data"),
    result.truncated ? note(`Truncated: ${JSON.stringify(result.truncated)}`, "") : null);
}

/** Do something, and show its parts or its error in a place. */
export async function act(place, work) {
  const pressed = document.activeElement;
  try {
    const parts = [await work()].flat(4).filter(Boolean);
    place.replaceChildren(...parts);
  } catch (error) {
    place.replaceChildren(note(error.message));
  }
  if (!pressed?.isConnected) {
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }
}

const CHECKS = ["size", "syntax", "lookup", "context", "arguments", "permission", "confidence", "intent", "review", "confirmation", "limits", "run"];
const STOPS = {
  malformed_call: "syntax", unknown_tool: "lookup", auth_required: "context", context_required: "context", not_allowed: "context", rule_unavailable: "permission", approval_required: "review",
  invalid_arguments: "arguments", missing_argument: "arguments", low_confidence: "confidence", missing_confidence: "confidence",
  no_explicit_intent: "intent", not_stated_by_user: "intent", review_required: "review", rejected: "confirmation",
  rate_limited: "limits", quota_exceeded: "limits", budget_exhausted: "limits", domain_not_approved: "limits",
};
const MARKS = { passed: "✓", stopped: "✕", pending: "?" };
const STATES = { passed: "passed", stopped: "denied here", pending: "pending here", unreached: "not reached" };

/** Return what each check asks of a tool's calls, in words. */
function asks(one) {
  const { safety = {}, limits = {} } = one.policy ?? {}, own = one.safety ?? {};
  const properties = one.input_schema?.properties ?? {}, needed = one.input_schema?.required?.length ?? 0;
  const either = (own.intent_keywords ?? safety.intent_keywords ?? []).map((word) => `“${word}”`).join(" or ");
  const read = (one.given ?? []).map((each) => each.name);
  const ofCaller = (rule) => (rule.expression.match(/\w+/g) ?? []).some((word) => ["caller", "now", ...read].includes(word));
  const say = (value, words) => (value === undefined || value === null || value === false ? [] : [words]);
  return {
    size: ["a reply of at most 256 KiB, 32 calls, 32 levels"],
    syntax: ["one JSON object, no key twice"],
    lookup: ["a tool of this snapshot"],
    context: [...say(one.requires_auth, "a signed-in user"), ...(one.requires_context ?? []).map((fact) => `the ${fact}, supplied by the host`), ...say(one.allowed_roles, (one.allowed_roles ?? []).join(" or "))],
    permission: [...(one.given ?? []).map((each) => `a read of ${each.tool} with each call`), ...(one.rules ?? []).filter(ofCaller).map((rule) => rule.message)],
    arguments: [`${many(Object.keys(properties).length, "parameter")}, ${needed || "none"} required`, ...(one.rules ?? []).filter((rule) => !ofCaller(rule)).map((rule) => rule.message)],
    confidence: say(safety.min_confidence, `a confidence of at least ${safety.min_confidence}`),
    intent: say(safety.explicit_intent, `the user says ${either || "so"}`),
    review: [...say(safety.crisis_when, `an operator reviews it when ${safety.crisis_when}`), ...(one.approvals ?? []).map((each) => `${[].concat(each.by).join(" or ")} approves when ${each.when}`)],
    confirmation: safety.requires_confirmation || safety.sensitivity === "critical" ? ["a person confirms every call"] : say(safety.confirm_when, `a person confirms when ${safety.confirm_when}`),
    limits: Object.entries(limits).filter(([key]) => !["timeout_s", "retries", "max_rows", "max_bytes"].includes(key)).map(([key, value]) => `${key.replaceAll("_", " ")} ${key === "quotas" ? value.map((one) => `${one.amount} ${one.of ? `of ${one.of}` : "calls"} per ${one.per.join(" and ")} ${one.window}`).join(", ") : typeof value === "object" ? Object.values(value).join(" per ") : value}`),
    run: [...say(limits.timeout_s, `within ${limits.timeout_s} s`), ...say(limits.retries, many(limits.retries, "retry").replace("retrys", "retries")), ...say(limits.max_bytes, `at most ${limits.max_bytes} bytes`)],
  };
}

/** List the checks of a call, lit as far as a call came. */
export function checks(tool, result) {
  const error = result?.error, names = [...CHECKS];
  let last = "run", end = { ok: "passed", waiting: "pending", allowed: "unreached" }[result?.outcome] ?? "stopped";
  if (["confirm", "review"].includes(result?.outcome)) [last, end] = [result.outcome === "confirm" ? "confirmation" : "review", "pending"];
  else if (result?.outcome === "denied") last = error?.code === "not_allowed" && error.details?.length ? "permission" : (STOPS[error?.code] ?? "guards");
  if (last === "guards") names.splice(-2, 0, "guards");
  const wanted = { ...asks(tool), guards: ["the rules of plugins and guards"] };
  const reason = result?.outcome === "allowed" ? "A dry run ends here: all checks before have passed." : result?.outcome === "ok" ? "" : (error?.message ?? result?.message ?? "");
  const at = names.indexOf(last);
  return el("ol", { class: "checks", "aria-label": "Checks of a call" }, names.map((name, place) => {
    const state = !result ? "idle" : place < at ? "passed" : place === at ? end : "unreached";
    return el("li", { class: `check is-${state}${wanted[name].length ? "" : " is-open"}` },
      el("span", { class: "check-mark", "aria-hidden": "true" }, MARKS[state] ?? ""),
      el("div", {}, el("p", { class: "check-name" }, name, STATES[state] ? el("span", { class: "check-state" }, ` ${STATES[state]}`) : null),
        el("p", { class: "check-asks", dir: "auto" }, wanted[name].join(" · ") || "no requirement"),
        place === at && reason ? el("p", { class: "check-reason", dir: "auto" }, reason) : null));
  }));
}

/** Return the policy of a tool or skill as short labels. */
export function labels(one) {
  const { safety = {}, limits = {} } = one.policy ?? {};
  return [
    [safety.sensitivity === "critical", "critical", "danger"], [safety.requires_confirmation && safety.sensitivity !== "critical", "confirmed", "guard"],
    [safety.confirm_when, "confirmed when…", "guard"], [safety.crisis_when, "reviewed when…", "guard"],
    [safety.min_confidence, `confidence ≥ ${safety.min_confidence}`, "guard"], [safety.explicit_intent, "explicit intent", "guard"],
    [one.policy?.requires_auth, "user", "plain"], ...(one.policy?.requires_context ?? []).map((fact) => [true, fact, "plain"]), ...(one.policy?.allowed_roles ?? []).map((role) => [true, role, "guard"]),
    [limits.rate, "rate", "plain"], [one.read_only, "read only", "calm"], [one.durable, "durable", "calm"],
  ].filter(([holds]) => holds).map(([, word, tone]) => [word, tone]);
}
