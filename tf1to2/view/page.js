"use strict";
const input = document.getElementById("filter");
const found = document.getElementById("found");
const hits = document.getElementById("hits");
const symbols = JSON.parse(document.getElementById("symbol-index").textContent);
const names = Object.keys(symbols.names);
const sections = [...document.querySelectorAll("main > section")];
const entries = new Map();
for (const link of document.querySelectorAll("#contents a")) {
  entries.set(link.getAttribute("href").slice(1), link.parentElement);
}
// The text of every part, once: prose and pairs are found apart.
const parts = sections.map((section) => ({
  section,
  prose: [...section.children]
    .filter((child) => !child.classList.contains("pair"))
    .map((child) => child.textContent.toLowerCase()).join("\n"),
  pairs: [...section.querySelectorAll(":scope > .pair")]
    .map((pair) => ({ pair, text: pair.textContent.toLowerCase() })),
}));

function filter() {
  const query = input.value.trim().toLowerCase();
  document.body.classList.toggle("filtered", query !== "");
  let count = 0, chapters = 0;
  for (const { section, prose, pairs } of parts) {
    const inProse = prose.includes(query);
    let any = inProse;
    for (const { pair, text } of pairs) {
      const show = query === "" || text.includes(query);
      pair.hidden = !show;
      entries.get(pair.id).hidden = !show;
      any ||= show;
      count += show && query !== "";
    }
    section.hidden = !any;
    chapters += any;
    entries.get(section.id).hidden = !any;
  }
  hits.replaceChildren(...symbolHits(query));
  found.textContent = query === "" ? ""
    : `${count} pair${count === 1 ? "" : "s"}, ${chapters} chapter${chapters === 1 ? "" : "s"}` + (hits.children.length ? ", and in the index:" : "");
}

function symbolHits(query) {
  if (query.length < 3) return [];
  const wanted = query.startsWith("tf.") || query.startsWith(".") ? query : "." + query;
  const matches = names.filter((name) => name.toLowerCase().includes(wanted));
  matches.sort((a, b) => a.length - b.length || a.localeCompare(b));
  return matches.slice(0, 6).map((name) => {
    const [verdict, replacement, pair] = symbols.names[name];
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = "#" + symbols.pairs[pair];
    link.textContent = name;
    item.append(link, ` ${verdict}${replacement ? " → " + replacement : ""}`);
    return item;
  });
}

function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) { input.value = ""; filter(); }
  const section = target.closest("main > section");
  for (const item of document.querySelectorAll("#contents .open")) item.classList.remove("open");
  entries.get(section?.id)?.classList.add("open");
  target.scrollIntoView();
}

function step(direction) {
  const pairs = [...document.querySelectorAll(".pair:not([hidden])")]
    .filter((pair) => !pair.closest("[hidden]"));
  const tops = pairs.map((pair) => pair.getBoundingClientRect().top);
  const next = direction > 0 ? tops.findIndex((top) => top > 40)
    : tops.findLastIndex((top) => top < -4);
  if (next >= 0) location.hash = pairs[next].id;
}

input.addEventListener("input", filter);
input.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    const first = hits.querySelector("a") || document.querySelector("#contents li:not([hidden]) li:not([hidden]) a");
    if (first) location.hash = first.getAttribute("href");
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { input.value = ""; filter(); input.blur(); }
  if (event.target.matches("input, summary, button") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); input.focus(); input.select(); }
  if (event.key === "j") step(1);
  if (event.key === "k") step(-1);
});
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const sides = button.closest(".sides");
  const shared = [...sides.querySelectorAll("span.b")];
  const lines = [...sides.querySelectorAll(`code.${button.dataset.copy} > span`)]
    .map((line) => line.className === "c" ? shared.shift() : line);
  const text = lines.map((line) => line.textContent).join("");
  const label = button.firstChild;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = "copied";
  } catch {  // a page that is opened from disk may not be allowed to
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    label.textContent = document.execCommand("copy") ? "copied" : "select and copy by hand";
    area.remove();
  }
  setTimeout(() => { label.textContent = "copy"; }, 1500);
});
addEventListener("hashchange", reveal);
if (location.hash) reveal();
