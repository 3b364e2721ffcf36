"use strict";

// The page of search results: the answer of the box (answer.js), then the pages that are
// about the words (search.js), with the pairs of each that have them.
(async () => {
  const results = document.getElementById("search-results");
  const { data, element, linked, load, marked, ready, to } = window.tf1to2Answer;
  const ANSWERS = 3, PAGES = 10, PAIRS = 3, EXCERPT = 200;
  const asked = (new URLSearchParams(location.search).get("q") ?? "").trim();
  document.getElementById("query").value = asked;
  if (!asked) return;
  document.getElementById("box").value = asked;  // to be changed there
  const status = element("p", "Searching…");
  status.setAttribute("role", "status");
  results.append(status);
  await ready();
  await Promise.all([load(data.passages), load(results.dataset.pages)]);
  const { guide, site, pairs } = window.tf1to2;

  function excerpt(text) {
    if (text.length <= EXCERPT) return text;
    const short = text.slice(0, text.lastIndexOf(" ", EXCERPT));
    return `${short}${short.split("`").length % 2 ? "" : "`"} …`;
  }

  function shownPair(place) {
    const [page, name] = place.split(".");
    const link = linked(element("code", name), `${page}.html#${place}`);
    return element("li", link, `: ${pairs[place][0].replaceAll("`", "")}`);
  }

  function shownPage([page, title, lesson, own, passage]) {
    const shown = element("li", linked(title, `${page}.html`));
    const told = lesson || passage;
    if (told) shown.append(element("p", ...marked(excerpt(told))));
    if (own.length) shown.append(element("ul", ...own.slice(0, PAIRS).map(shownPair)));
    return shown;
  }

  function list(pages, start) {
    const shown = element("ol", ...pages.map(shownPage));
    shown.start = start;
    return shown;
  }

  const { shown, words, page } = await to(asked, ANSWERS, true);
  if (shown.length) {
    const part = element("div", ...shown);
    part.className = "answer";
    results.append(element("h2", "Answer"), part);
  }
  const found = window.tf1to2Search.pages(words, guide, site, page);
  status.textContent = found.length > 1 ? `${found.length} pages found, the best first.`
    : found.length ? "1 page found." : "No page has these words.";
  // Sphinx marks a name on the page that a link leads to.
  results.addEventListener("click", (event) => {
    if (!event.target.closest("a") || /\s/.test(words)) return;
    localStorage.setItem("sphinx_highlight_terms", words.split(".").pop().toLowerCase());
  });
  if (!found.length) return;
  results.append(element("h2", "Pages"), list(found.slice(0, PAGES), 1));
  if (found.length > PAGES) {
    const summary = element("summary", `${found.length - PAGES} more pages`);
    results.append(element("details", summary, list(found.slice(PAGES), PAGES + 1)));
  }
})();
