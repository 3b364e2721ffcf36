"use strict";

// A field that leaves those rows or messages of a long page which have what is typed: on
// the pages of errors, of names, and of false friends.
(() => {
  const root = document.documentElement.dataset.content_root;
  const place = location.pathname.split("/").slice(root === "../" ? -2 : -1).join("/");
  const isErrors = /^errors[\w-]*\.html$/.test(place);
  if (!isErrors && !/^(names(\/.+|\.html)|false-friends\.html)$/.test(place)) return;

  const [kind, by, unit, example] = isErrors
    ? ["messages", "message", "section:has(> h3)", "no attribute"]
    : place === "names.html" ? ["modules", "module", "li", "contrib"]
      : ["rows", "name", "tbody tr", "Optimizer"];
  const article = document.querySelector("article");
  const units = [...article.querySelectorAll(unit)];
  // What is hidden when nothing is left in it: not the section of the whole page.
  const groups = [...article.querySelectorAll("section section:not(:has(> h3)), .table-wrapper")];
  const texts = [];  // of the units, when somebody filters

  const form = document.createElement("form");
  form.className = "filter";
  form.setAttribute("role", "search");
  form.setAttribute("aria-label", "This page");
  form.innerHTML = `<label for="filter">Filter by ${by}</label>
    <input id="filter" type="search" autocomplete="off" autocapitalize="off" spellcheck="false"
      placeholder="${example}"><p role="status"></p>`;
  const [field, status] = form.querySelectorAll("input, p");
  article.querySelector("h1").after(form);
  const introduction = [...form.parentElement.children]
    .filter((one) => one !== form && !one.matches("h1, section"))
    .filter((one) => !units.some((unit) => one.contains(unit)));

  // Of what was pasted, marks and quotes do not count; "…" of a message is any name.
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

  function filter() {
    if (!texts.length) texts.push(...units.map((unit) => words(unit.textContent).join(" ")));
    const asked = words(field.value);
    let left = 0;
    units.forEach((unit, i) => {
      unit.hidden = !asked.every((word) => texts[i].includes(word));
      left += !unit.hidden;
    });
    for (const group of groups) {
      group.hidden = asked.length > 0 && !units.some((unit) => !unit.hidden && group.contains(unit));
    }
    for (const one of introduction) one.hidden = asked.length > 0;
    status.textContent = asked.length ? `${left} of ${units.length} ${kind}` : "";
    if (left || !asked.length) return;
    const link = document.createElement("a");
    link.href = `${root}search.html?q=${encodeURIComponent(field.value)}`;
    link.textContent = "search all pages";
    status.append(": ", link);
  }

  function clear() {
    field.value = "";
    filter();
  }

  // A link leads to what is hidden: all is shown again.
  function show(hash) {
    const target = document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target?.closest("[hidden]") || !field.value) return;
    clear();
    target.scrollIntoView();
  }

  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => { if (event.key === "Escape") clear(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => show(location.hash));
  // The anchor may be that of the address already, which is no change of it.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) show(link.getAttribute("href"));
  });
  if (field.value) filter();  // kept by the browser, which went back
})();
