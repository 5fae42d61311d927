// Read the generated forms as JSON text, fill them from JSON, and show their errors.

const OPTIONAL = "[data-control]";
let made = 0;

const within = (root) => [...root.querySelectorAll(OPTIONAL)].filter((field) => owner(field) === root);
const owner = (field) => field.parentElement.closest("[data-control], [data-root]");
const input = (field) => field.querySelector("[data-input]");
const items = (field) => [...field.querySelector(":scope > .items").children].map((item) => item.querySelector(OPTIONAL));

/** Return the JSON text of the filled fields below a root; numbers stay as typed. */
export function collect(root) {
  return object(root) ?? "{}";
}

/** Return the filled fields below a root, by key, with the JSON text of their values. */
export function filled(root) {
  return new Map(
    within(root).flatMap((field) => {
      const text = value(field);
      return text === undefined ? [] : [[field.dataset.key, text]];
    }),
  );
}

/** Return the JSON text of an object of such fields. */
export function joined(fields) {
  return `{${[...fields].map(([key, text]) => `${JSON.stringify(key)}: ${text}`).join(", ")}}`;
}

function object(root) {
  const fields = filled(root);
  return fields.size ? joined(fields) : undefined;
}

function value(field) {
  const required = "required" in field.dataset;
  switch (field.dataset.control) {
    case "object":
      return object(field) ?? (required ? "{}" : undefined);
    case "array": {
      const listed = items(field).map((item) => value(item) ?? '""');
      return listed.length || required ? `[${listed.join(", ")}]` : undefined;
    }
    default:
      return plain(field.dataset.control, input(field).value);
  }
}

function plain(control, text) {
  if (text === "") return undefined;
  if (control === "enum" || control === "boolean") return text;
  if (control === "number" && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim())) return text.trim();
  if (control === "json") {
    try {
      JSON.parse(text);
      return text;
    } catch {
      return JSON.stringify(text);
    }
  }
  return JSON.stringify(text);
}

/** Fill the fields below a root with a value; other fields are emptied. */
export function fill(root, values) {
  const given = values !== null && typeof values === "object" ? values : {};
  for (const field of within(root)) put(field, Object.hasOwn(given, field.dataset.key) ? given[field.dataset.key] : undefined);
}

function put(field, given) {
  switch (field.dataset.control) {
    case "object":
      fill(field, given);
      break;
    case "array":
      field.querySelector(":scope > .items").replaceChildren();
      if (Array.isArray(given)) for (const one of given) put(add(field), one);
      break;
    case "enum":
    case "boolean":
    case "json":
      input(field).value = given === undefined ? "" : JSON.stringify(given);
      break;
    default:
      input(field).value = given === undefined ? "" : typeof given === "string" ? given : JSON.stringify(given);
  }
}

function add(list) {
  const item = list.querySelector(":scope > template").content.cloneNode(true).firstElementChild;
  made += 1;
  number(item);
  list.querySelector(":scope > .items").append(item);
  return item.querySelector(OPTIONAL);
}

// Templates within the item get their numbers when they are used.
function number(item) {
  for (const part of item.querySelectorAll("*")) {
    if (part instanceof HTMLTemplateElement) {
      for (const inner of part.content.children) number(inner);
    }
    for (const name of ["id", "for", "aria-describedby"]) {
      if (part.hasAttribute(name)) part.setAttribute(name, part.getAttribute(name).replace("__n__", made));
    }
  }
}

/** Mark the fields of a denial's problems, such as `items[0].name`; return them. */
export function blame(root, problems) {
  for (const place of root.querySelectorAll("[data-error]")) place.textContent = "";
  for (const marked of root.querySelectorAll("[aria-invalid]")) marked.removeAttribute("aria-invalid");
  const paths = new Map();
  walk(root, "", paths);
  return problems.flatMap(([, path, message]) => {
    const field = paths.get(path);
    if (!field) return [];
    field.querySelector(":scope > [data-error]").textContent = message;
    input(field)?.setAttribute("aria-invalid", "true");
    return [field];
  });
}

/** Return the place of an input in its form, as in `items/0/name`; empty for any other element. */
export function pathOf(input) {
  const keys = [];
  for (let field = input.closest("[data-input]")?.parentElement; field; field = field.parentElement.closest(OPTIONAL)) {
    const item = field.closest(".item");
    keys.unshift(field.dataset.key || [...item.parentElement.children].indexOf(item));
  }
  return keys.join("/");
}

function walk(root, path, paths) {
  for (const field of within(root)) visit(field, path ? `${path}.${field.dataset.key}` : field.dataset.key, paths);
}

function visit(field, path, paths) {
  paths.set(path, field);
  if (field.dataset.control === "object") walk(field, path, paths);
  if (field.dataset.control === "array") items(field).forEach((item, at) => visit(item, `${path}[${at}]`, paths));
}

document.addEventListener("click", ({ target }) => {
  const adds = target.closest("[data-add]");
  if (adds) {
    const field = add(adds.closest(OPTIONAL));
    (field.querySelector("input, select, textarea, button") ?? field).focus();
  }
  const removes = target.closest("[data-remove]");
  if (removes) {
    const list = removes.closest("[data-control=array]");
    removes.closest(".item").remove();
    list.querySelector(":scope > [data-add]").focus();
  }
});
