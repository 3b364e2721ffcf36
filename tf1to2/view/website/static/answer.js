"use strict";

// The answer to a name, an error or a question, as elements: what `tf1to2 explain` says of
// a name or a member of TensorFlow 1, and of a message that the guide or a proof knows; of
// a question, the passages of the guide that have its words (search.js). What it knows is
// in names.js (view/website/box.py) and passages.js, which are loaded when they are needed.
window.tf1to2Answer = (() => {
  const data = document.getElementById("box").dataset;
  const root = document.documentElement.dataset.content_root;
  const loaded = new Map();
  let index = null, lookup = null, messages = null;

  // A script of data, which is loaded once; a promise.
  function load(source) {
    if (!loaded.has(source)) {
      loaded.set(source, new Promise((resolve) => {
        const script = document.createElement("script");
        script.src = source;
        script.onload = resolve;
        document.head.append(script);
      }));
    }
    return loaded.get(source);
  }

  async function ready() {
    await load(data.names);
    if (index) return;
    index = window.tf1to2;
    lookup = window.tf1to2Lookup(index);
    messages = window.tf1to2Messages(index, lookup);
    Object.assign(index, { answerTo: lookup.told, ofError: messages.ofError });
  }

  function element(tag, ...inner) {
    const made = document.createElement(tag);
    made.append(...inner);
    return made;
  }

  function linked(text, address) {
    const link = element("a", text);
    link.href = root + address;
    return link;
  }

  function way(place) {
    const page = place.split(".")[0];
    return linked(place, `${page}.html${place.includes(".") ? `#${place}` : ""}`);
  }

  // Text of which what stands between backticks is code.
  const marked = (text) => text.split("`")
    .map((part, i) => i % 2 ? element("code", part) : part);

  function shownName(name, whole) {
    const known = lookup.told(name);
    const part = element("div", element("p", element("strong", name), ` ${known.verdict}`));
    if (known.verdict !== "same" || whole) part.append(element("p", known.text));
    if (known.pair) {
      const [what, proof] = index.pairs[known.pair] ?? [];
      const line = element("p", known.called ? "" : "see ", way(known.pair));
      if (whole && what) line.append(known.called ? `: ${proof}` : `: ${what}`);
      known.others.forEach((other, i) => line.append(i ? ", " : "; also ", way(other)));
      part.append(line);
    }
    return part;
  }

  function shownError({ message, because, places, code, anchor }) {
    const title = element("strong", message);
    const part = element("div", element("p", anchor ? linked(title, anchor) : title));
    part.append(element("p", ...marked(because)));
    if (code) part.append(element("pre", code));
    const links = places.flatMap((place) => [", ", way(place)]);
    if (links.length) part.append(element("p", ...links.slice(1)));
    return part;
  }

  // Of what has but a part of the words, that comes first.
  function shownPassages(found, most) {
    const lacks = (found[0]?.[4] ?? []).slice(0, index.guide.FEW).join(", ");
    const told = lacks && element("p", index.guide.LACKS.replace("{}", lacks));
    return [...lacks ? [told] : [], ...found.map((one) => shownPassage(one, most))];
  }

  // A passage; of the causes of a symptom, which are a line each, the likeliest.
  function shownPassage([page, heading, text, places], most) {
    const link = linked("", window.tf1to2Search.addressOf(page, heading, places));
    link.append(...marked(heading));
    const causes = text.split("\n");
    const part = causes.length === 1 ? element("div", element("p", link, ": ", ...marked(text)))
      : element("div", element("p", link), element("ul", ...causes.slice(0, most)
        .map((cause) => element("li", ...marked(cause)))));
    const more = causes.length - most;
    if (more > 0) part.append(element("p", `and ${more} other causes`));
    const ways = places.slice(0, 2).flatMap((place) => [", ", way(place)]);
    if (ways.length) part.append(element("p", ...ways.slice(1)));
    return part;
  }

  // What answers a text, with so many of each kind at most; a promise. `shown`: elements,
  // or []. `words`, `page`: what it is about, and the page that the answer leads to first.
  // `whole`: where a name is called so, without those that have it in their name.
  async function to(asked, most, whole = false) {
    await ready();
    const text = messages.withoutNode(asked);
    const isText = /\s/.test(text), shown = [];
    const found = isText ? messages.ofError(text) : { names: lookup.find(text), errors: [] };
    const asks = isText && !messages.isError(text) && (!found.errors.length || found.like);
    if (asks) {
      await load(data.passages);
      shown.push(...shownPassages(window.tf1to2Search.passages(text, index.guide, most), most));
    }
    if (found.like && found.errors.length) shown.push(element("p", index.LIKE));
    shown.push(...found.errors.slice(0, most).map(shownError));
    const meant = whole && !isText ? found.names.filter((name) => lookup.isMeant(name, text)) : [];
    const names = meant.length ? meant : found.names;
    names.slice(0, most).forEach((name, i) => shown.push(shownName(name, i === 0)));
    const more = names.length - most;
    if (more > 0) shown.push(element("p", `and ${more} more`));
    return { shown, ...asks ? { words: text, page: null } : about(text, isText, found) };
  }

  // An error is about the name that it misses, not about its words.
  function about(text, isText, { names: [name], errors: [error] }) {
    if (!isText) return { words: text, page: lookup.pageMeant(text) };
    if (name) return { words: name, page: lookup.pageMeant(name) };
    return { words: error?.message ?? text, page: error?.anchor?.split(".html")[0] ?? null };
  }

  return { data, element, linked, load, marked, ready, to, way };
})();
