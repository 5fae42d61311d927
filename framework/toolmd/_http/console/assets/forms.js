// Build a form from a JSON Schema, read it as JSON text, fill it, and show its errors.

import { el } from "./parts.js";

const DEEPEST = 6;
let made = 0;

const isJson = (text) => { try { JSON.parse(text); return true; } catch { return false; } };
const words = (schema) => [schema.type ?? "any"].flat().map((type) => (type === "array" && schema.items ? `array of ${words(schema.items)}` : type)).join(" | ");
const BOUNDS = { minimum: "at least", maximum: "at most", exclusiveMinimum: "more than", exclusiveMaximum: "less than", multipleOf: "a multiple of", minLength: "min length", maxLength: "max length", minItems: "min items", maxItems: "max items", pattern: "pattern", format: "", default: "default" };
const limits = (schema) => Object.entries(BOUNDS).filter(([key]) => key in schema).map(([key, word]) => `${word} ${typeof schema[key] === "string" ? schema[key] : JSON.stringify(schema[key])}`.trim()).join(" · ");
const example = (schema) => { const one = schema.examples?.[0]; return one === undefined ? (schema.format === "date-time" ? "2027-03-05T09:30:00Z" : "") : typeof one === "string" ? one : JSON.stringify(one); };

/** Return the field of a value; `read` gives its JSON text or undefined, `put` fills it. */
function field(key, schema, required, level) {
  const id = `f${++made}`, types = [schema.type ?? []].flat();
  const error = el("p", { class: "field-error", id: `${id}-e` });
  const about = el("p", { class: "field-note", id: `${id}-t`, dir: "auto" }, [schema.description, limits(schema)].filter(Boolean).join(" · "));
  const title = (tag, more) => el(tag, { class: "field-label", ...more }, el("span", { dir: "auto" }, key || "item"), " ", el("span", { class: "field-type" }, words(schema) + (required ? " · required" : "")));
  const one = { key, blame: (message) => (error.textContent = message) };
  const group = (kind, ...parts) => (one.node = el("fieldset", { class: `field is-${kind}`, "data-key": key, "aria-describedby": `${id}-t ${id}-e` }, title("legend"), about, parts, error));
  if (types.join() === "object" && schema.properties && level < DEEPEST) {
    const inner = object(schema, level + 1);
    group("object", inner.node);
    return Object.assign(one, { read: () => inner.read() ?? (required ? "{}" : undefined), put: inner.put, at: inner.at });
  }
  if (types.join() === "array" && level < DEEPEST) {
    const list = el("ol", { class: "items" });
    let items = [];
    const add = (value) => {
      const item = field("", schema.items ?? {}, true, level + 1);
      const row = el("li", { class: "item" }, item.node, el("button", { class: "button is-small", type: "button", onclick: () => {
        row.remove();
        items = items.filter((other) => other !== item);
        more.focus();
      } }, "Remove", el("span", { class: "unseen" }, ` this item of ${key || "the list"}`)));
      list.append(row);
      items.push(item);
      if (value !== undefined) item.put(value);
      return item;
    };
    const more = el("button", { class: "button is-small", type: "button", onclick: () => add().node.querySelector("input, select, textarea, button")?.focus() }, "Add", el("span", { class: "unseen" }, ` an item to ${key || "the list"}`));
    group("array", list, more);
    return Object.assign(one, {
      read: () => (items.length || required ? `[${items.map((item) => item.read() ?? '""').join(", ")}]` : undefined),
      put: (values) => { list.replaceChildren(); items = []; if (Array.isArray(values)) for (const value of values) add(value); },
      at: (index) => items[index],
    });
  }
  const choices = schema.enum ?? (types.join() === "boolean" ? [true, false] : null);
  const is = choices ? "enum" : types.length !== 1 || ["object", "array"].includes(types[0]) ? "json" : types[0] === "string" ? "text" : "number";
  const common = { id, autocomplete: "off", placeholder: is === "json" ? "JSON or plain text" : example(schema), "aria-describedby": `${id}-t ${id}-e` };
  const kind = schema["x-sensitive"] ? "password" : ["date", "time"].includes(schema.format) ? schema.format : "text";
  const input = is === "enum" ? el("select", { id, "aria-describedby": common["aria-describedby"] }, el("option", { value: "" }, required ? "choose" : "not set"), choices.map((choice) => el("option", { value: JSON.stringify(choice) }, typeof choice === "string" ? choice : JSON.stringify(choice))))
    : is === "json" || (is === "text" && schema.maxLength > 160) ? el("textarea", { ...common, rows: 3, class: is === "json" ? "mono" : "" })
    : el("input", { ...common, type: kind, inputmode: is === "number" ? "decimal" : null, max: kind === "date" ? "9999-12-31" : null, step: kind === "time" ? 1 : null });
  one.node = el("div", { class: `field is-${is}`, "data-key": key }, title("label", { for: id }), input, about, error);
  return Object.assign(one, {
    read: () => (input.value === "" ? undefined : is === "enum" ? input.value : is === "text" ? JSON.stringify(input.value) : isJson(input.value) ? input.value.trim() : JSON.stringify(input.value)),
    put: (value) => (input.value = value === undefined ? "" : is === "text" && typeof value === "string" ? value : JSON.stringify(value)),
    at: () => undefined,
    blame: (message) => {
      error.textContent = message;
      if (message) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
      return input;
    },
  });
}

/** Return the fields of an object's schema. */
export function object(schema, level = 0) {
  const fields = Object.entries(schema.properties ?? {}).map(([key, inner]) => field(key, inner, (schema.required ?? []).includes(key), level));
  const read = () => {
    const parts = fields.map((one) => [one.key, one.read()]).filter(([, text]) => text !== undefined);
    return parts.length ? `{${parts.map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join(", ")}}` : undefined;
  };
  const all = (some, each) => some.forEach((one) => { each(one); });
  return {
    node: el("div", { class: "fields" }, fields.length ? fields.map((one) => one.node) : el("p", { class: "empty" }, "No parameters.")),
    fields, read,
    put: (values) => all(fields, (one) => one.put(values?.[one.key])),
    at: (key) => fields.find((one) => one.key === key),
    /** Show the problems of a denial at their fields, such as `items[0].name`; focus the first. */
    blame(problems) {
      all(fields, (one) => one.blame(""));
      let first = null;
      for (const { path, message } of problems) {
        let found = this;
        for (const part of (path ?? "").replaceAll("[", ".").replaceAll("]", "").split(".")) found = found?.at(part);
        if (found && found !== this) first ??= found.blame(message);
      }
      first?.focus?.();
    },
  };
}

const DATE = /^(\d{4}-\d{2}-\d{2})(T.*)?$/;
const WEEK_MS = 7 * 86_400_000;

/** Return an example and the weeks by which its dates were moved, so that the first lies in the future. */
export function inFuture(value, now = Date.now()) {
  const dates = [];
  const walk = (one, each) => (typeof one === "string" ? each(one) : Array.isArray(one) ? one.map((inner) => walk(inner, each)) : one && typeof one === "object" ? Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, walk(inner, each)])) : one);
  walk(value, (text) => { if (DATE.test(text)) dates.push(Date.parse(text.slice(0, 10))); return text; });
  const weeks = dates.length ? Math.max(0, Math.ceil((now + 86_400_000 - Math.min(...dates)) / WEEK_MS)) : 0;
  const move = (text) => { const [, day, time = ""] = DATE.exec(text) ?? []; return day ? new Date(Date.parse(day) + weeks * WEEK_MS).toISOString().slice(0, 10) + time : text; };
  return weeks > 0 ? [walk(value, move), weeks] : [value, 0];
}
