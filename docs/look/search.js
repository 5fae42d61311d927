// Find pages and headings that hold every word that was typed.
const field = document.getElementById("search");
const found = document.getElementById("found");
const article = document.querySelector("article");
const to = document.body.dataset.to;

function matches(words) {
  const rows = [];
  const phrase = words.join(" ");
  for (const page of PAGES) {
    const title = page.t.toLowerCase();
    if (words.every((word) => title.includes(word))) rows.push([3, page.t, "", page.u]);
    for (const [anchor, text] of page.h) {
      if (words.every((word) => text.toLowerCase().includes(word)))
        rows.push([2, text, page.t, `${page.u}#${anchor}`]);
    }
    const body = page.w.toLowerCase();
    if (words.every((word) => body.includes(word))) {
      const whole = body.indexOf(phrase);
      const at = Math.max(0, (whole < 0 ? body.indexOf(words[0]) : whole) - 60);
      rows.push([whole < 0 ? 0 : 1, page.t, `…${page.w.slice(at, at + 160)}…`, page.u]);
    }
  }
  return rows.sort((a, b) => b[0] - a[0]).slice(0, 30);
}

function row([, name, beside, url]) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = to + url;
  link.textContent = name;
  const small = document.createElement("small");
  small.textContent = beside;
  item.append(link, " ", small);
  return item;
}

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  article.hidden = words.length > 0;
  found.replaceChildren(...matches(words).map(row));
  if (words.length && !found.children.length) {
    const none = document.createElement("li");
    none.textContent = "Nothing was found.";
    found.append(none);
  }
});
