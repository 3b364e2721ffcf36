"use strict";

// What the guide has on a question: the passages that `explain/questions.py` finds, by
// its numbers, which are in passages.js (view/website/passages.py), and the pages that are
// about its words, by those in pages.js (view/website/ranking.py).
(() => {
  const isRelease = (stem) => stem.includes(".");

  // The stems of a text: words without endings, and of compound names the parts, too.
  function stems(text, words) {
    const found = [], common = new Set(words.common);
    for (const word of text.match(new RegExp(words.word, "g")) ?? []) {
      const parts = isRelease(word) ? [] : word.match(new RegExp(words.parts, "g")) ?? [];
      for (const one of [word, ...(parts.length > 1 ? parts : [])]) {
        const small = one.toLowerCase();
        const stem = small.replace(new RegExp(words.endings), "");
        if (!common.has(small) && !common.has(stem) && one.length > 1) found.push(stem);
      }
    }
    return found;
  }

  const has = (index, stem) => Object.hasOwn(index.having, stem) ? index.having[stem] : [];

  function rarity(index, stem, guide) {
    const number = index.lengths.length, having = has(index, stem).length / 2;
    const rare = Math.log(1 + (number - having + 0.5) / (having + 0.5));
    return isRelease(stem) ? guide.RELEASE * rare : rare;
  }

  // {document: its score} by BM25.
  function scores(index, asked, guide) {
    const mean = index.lengths.reduce((a, b) => a + b, 0) / index.lengths.length;
    const found = new Map();
    for (const stem of asked) {
      const rows = has(index, stem), rare = rarity(index, stem, guide);
      for (let i = 0; i < rows.length; i += 2) {
        const [document, times] = [rows[i], rows[i + 1]];
        const length = index.lengths[document] / mean;
        const damped = guide.SATURATION * (1 - guide.LENGTH + guide.LENGTH * length);
        const gain = times * (guide.SATURATION + 1) / (times + damped);
        found.set(document, (found.get(document) ?? 0) + rare * gain);
      }
    }
    return found;
  }

  const led = (passage) => passage[3].slice(0, 2);

  // [the causes of what goes wrong in a question, as one passage], or [].
  function symptom(question, guide) {
    const whole = question.match(new RegExp(guide.words.word, "g")) ?? [];
    const ending = new RegExp(guide.words.endings);
    const said = new Set(whole.map((word) => word.toLowerCase().replace(ending, "")));
    let words = null, rows = [];
    for (const [others, on] of guide.symptoms) {
      const longer = !words || others.length > words.length;
      if (longer && others.every((stem) => said.has(stem))) [words, rows] = [others, on];
    }
    if (!words) return [];
    if (rows.length === 1) return [[...guide.passages[rows[0]], []]];
    const [page, heading] = guide.passages[rows[0]];
    const common = new Set(stems(heading, guide.words));
    const telling = [...said].filter((stem) =>
      !common.has(stem) && rarity(guide.index, stem, guide) >= guide.RARE);
    const score = scores(guide.index, telling, guide);
    const ranked = [...rows].sort((a, b) => (score.get(b) ?? 0) - (score.get(a) ?? 0));
    const text = ranked.map((row) => guide.causes[row]).join("\n");
    const pairs = ranked.slice(0, 2).map((row) => guide.passages[row][3][0]);
    return [[page, heading, text, [...new Set(pairs)], []]];
  }

  // The stems of a question, and what the guide calls them.
  function askedOf(question, guide) {
    const asked = new Set(stems(question, guide.words));
    for (const stem of [...asked]) {
      if (Object.hasOwn(guide.ALSO, stem)) asked.add(guide.ALSO[stem]);
    }
    return asked;
  }

  // The words of a question that a passage does not have, by its number.
  function lacking(question, row, guide) {
    const hasRow = (stem) => has(guide.index, stem).some((n, i) => i % 2 === 0 && n === row);
    const words = question.match(new RegExp(guide.words.word, "g")) ?? [];
    return [...new Set(words)].filter((word) => {
      const asked = [...askedOf(word, guide)];
      return asked.length && !asked.some(hasRow);
    });
  }

  // The passages on a question, the best first: [page, heading, text, pairs, words of
  // the question that it does not have, where these are most] each.
  function passages(question, guide, count = 3) {
    const plain = stems(question, guide.words);
    const asked = askedOf(question, guide);
    const ofPair = scores(guide.ofPairs, asked, guide);
    const score = scores(guide.index, asked, guide);
    const numbers = new Map(guide.pairs.map((pair, i) => [pair, i]));
    let weight = 0, whole = 0, heard = 0;
    const shares = new Map(), hits = new Map();
    const names = question.match(new RegExp(guide.words.names, "g")) ?? [];
    const foreign = new Set(stems(names.join(" "), guide.words)
      .filter((stem) => !has(guide.index, stem).length));
    const enough = foreign.size ? guide.ELSE : guide.ENOUGH;
    for (const stem of asked) {
      const rows = has(guide.index, stem), rare = rarity(guide.index, stem, guide);
      const counts = isRelease(stem) ? 0 : 1;
      whole += rare;
      weight += rows.length || foreign.has(stem) ? rare : guide.UNKNOWN * rare;
      heard += rows.length ? counts : 0;
      for (let i = 0; i < rows.length; i += 2) {
        shares.set(rows[i], (shares.get(rows[i]) ?? 0) + rare);
        hits.set(rows[i], (hits.get(rows[i]) ?? 0) + counts);
      }
    }
    for (const [row, own] of score) {
      const more = led(guide.passages[row])
        .map((pair) => guide.TOGETHER * (ofPair.get(numbers.get(pair)) ?? 0));
      score.set(row, own + (more.length ? Math.max(...more) : guide.ALONE * own));
    }
    const key = (stemsOf) => [...new Set(stemsOf)].sort().join(" ");
    const listed = new Set(Object.entries(guide.subjects)
      .filter(([subject]) => key(stems(subject, guide.words)) === key(plain))
      .flatMap(([, pairs]) => pairs));
    // What is wrong is not what is asked by a subject.
    const apart = (row) => guide.passages[row][0] !== guide.CAUSES
      && led(guide.passages[row]).some((pair) => listed.has(pair)) ? 0 : 1;
    const ranked = [...score.keys()]
      .sort((a, b) => apart(a) - apart(b) || score.get(b) - score.get(a));
    const found = [], seen = new Set();
    const first = listed.size ? [] : symptom(question, guide);
    for (const row of ranked) {
      const passage = guide.passages[row];
      const few = hits.get(row) < Math.min(2, heard)
        && shares.get(row) < guide.ALL_BUT * weight;
      if (few || shares.get(row) < enough * weight) continue;
      if (first.some((one) => one[1] === passage[1])) continue;
      const [page, heading, text, pairs] = passage;
      const others = pairs.filter((pair) => !first.some((one) => one[3].includes(pair)));
      if (pairs.length && (!others.length || seen.has(others[0]))) continue;
      const less = shares.get(row) < guide.MOST * whole;
      found.push([page, heading, text, others, less ? lacking(question, row, guide) : []]);
      others.forEach((pair) => seen.add(pair));
      if (found.length === count) break;
    }
    return [...first, ...found];
  }

  // The stems that a field of the pages knows; of a word that none has, those it begins.
  function known(asked, field) {
    return [...asked].flatMap((stem) => {
      if (has(field, stem).length || stem.length < 3) return [stem];
      return Object.keys(field.having).filter((one) => one.startsWith(stem));
    });
  }

  const spelling = (name) => name.toLowerCase().replace(/[^a-z0-9.]+/g, " ").trim();

  // The page of the site that has a document of the guide.
  const pageOf = (path) => path === "README.md" ? "readme"
    : path.replace(/^guide\//, "").replace(/\.md$/, "");

  // The address of a passage: the section under its heading, or the top of a chapter.
  function addressOf(path, heading, places) {
    if (heading === pageOf(path)) return `${heading}.html`;
    const pair = places.find((place) => place === heading || place.endsWith(`.${heading}`));
    const anchor = pair ?? heading.toLowerCase()
      .replace(/[^a-z0-9]+/g, "-").replace(/^[-0-9]+|-$/g, "");  // as Sphinx makes it
    return `${pageOf(path)}.html#${anchor}`;
  }

  // The pages on a question, the best first: [page, title, lesson, pairs and passage of it
  // that have the words] each. The page that is called so comes first, then the page of the
  // answer: `named` for a name, else that of the symptom in the question.
  function pages(question, guide, site, named = null) {
    const asked = known(askedOf(question, guide), site.fields.at(-1));
    const score = new Map();
    for (const field of site.fields) {
      for (const [page, own] of scores(field, asked, guide)) {
        score.set(page, (score.get(page) ?? 0) + own * site.weights[page]);
      }
    }
    const called = spelling(question), [cause] = symptom(question, guide);
    const answering = named ?? (cause && pageOf(cause[0]));
    site.pages.forEach(([page, title], number) => {
      const first = [page, title].map(spelling).includes(called) ? 2 : page === answering ? 1 : 0;
      if (first) score.set(number, first * 1e6);
    });
    const ofPair = scores(guide.ofPairs, asked, guide);
    const pairs = [...ofPair.keys()].sort((a, b) => ofPair.get(b) - ofPair.get(a))
      .map((number) => guide.pairs[number]);
    const ofPassage = scores(guide.index, asked, guide), best = new Map();
    for (const [row, own] of ofPassage) {
      const page = pageOf(guide.passages[row][0]);
      if (own > (ofPassage.get(best.get(page)) ?? 0)) best.set(page, row);
    }
    return [...score.keys()].sort((a, b) => score.get(b) - score.get(a)).map((number) => {
      const [page, title, lesson] = site.pages[number];
      const own = pairs.filter((pair) => pair.startsWith(`${page}.`));
      return [page, title, lesson, own, guide.passages[best.get(page)]?.[2] ?? ""];
    });
  }

  window.tf1to2Search = { addressOf, pages, passages };
})();
