"use strict";

// Names of TensorFlow 1 and their members: what names.js (view/website/box.py) says of one,
// and which ones a text may mean.
window.tf1to2Lookup = (index) => {
  const names = Object.keys(index.names), lower = names.map((name) => name.toLowerCase());
  const last = new Map(), members = new Map();

  const add = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value]);
  const tail = (name) => name.slice(name.lastIndexOf(".") + 1);
  const owner = (name) => name.slice(0, Math.max(0, name.lastIndexOf(".")));

  // Names of contrib and deep ones stand behind the rest.
  function plainFirst(a, b) {
    const key = (name) => {
      const parts = name.split(".");
      return [["contrib", "compat"].includes(parts[1]) ? 1 : 0, parts.length, name.length];
    };
    const [x, y] = [key(a), key(b)];
    return x[0] - y[0] || x[1] - y[1] || x[2] - y[2] || (a < b ? -1 : 1);
  }

  for (const name of names) if (!name.startsWith("keras.")) add(last, tail(name).toLowerCase(), name);
  for (const [whose, own] of Object.entries(index.members)) {
    for (const name of Object.keys(own)) add(members, name, `${whose}.${name}`);
  }

  const exists = (name) => told(name) !== null;

  function number(name) {
    return index.names[name] ?? index.members[owner(name)]?.[tail(name)];
  }

  function told(name) {
    const found = number(name);
    if (found === undefined) return null;
    const [verdict, message, pair, called, others] = index.told[found];
    const marks = {
      "{}": name, "{.}": owner(name), "{_}": tail(name),
      "{@}": index.places[owner(name)] ?? owner(name),
    };
    const text = message.replace(/\{[.@_]?\}/g, (mark) => marks[mark]);
    return { name, verdict, text, pair, called, others: others ? others.split(" ") : [] };
  }

  function spelled(text) {
    let name = text.trim().replace(/\(\)$/, "");
    if (name.startsWith(".")) return name;
    const beside = name.replace(/^tensorflow_hub\./, "hub.");
    if (!/^(tf|keras)\b/.test(beside) && index.names[beside] !== undefined) return beside;
    name = name.replace(/^tensorflow(_core)?\b/, "tf").replace(/^tf(\.compat\.v[12])+\b/, "tf")
      .replace(/^compat\.v1\./, "tf.");
    if (name !== "tf" && !name.startsWith("tf.")) name = `tf.${name}`;
    for (const [module, real] of index.facades) {
      if (name === module || name.startsWith(`${module}.`)) return real + name.slice(module.length);
    }
    return name;
  }

  // Members of that name, one for each class that says the same of it.
  function ofClasses(text) {
    const suffix = text.startsWith(".") ? text : `.${text}`;
    const found = (members.get(tail(text)) ?? []).filter((name) => name.endsWith(suffix));
    const once = new Map();
    for (const name of found.sort(plainFirst)) if (!once.has(number(name))) once.set(number(name), name);
    return [...once.values()];
  }

  function find(text) {
    const plain = text.trim().replace(/\(\)$/, "");
    // What the package keras does not have.
    const name = plain.startsWith("keras.") && exists(plain) ? plain : spelled(text);
    if (exists(name)) {
      const deeper = names.filter((other) => other.startsWith(`${name}.`)).sort(plainFirst);
      return [name, ...deeper];
    }
    const found = plain.includes(".") ? ofClasses(plain) : [];
    const begun = spelled(plain).toLowerCase();
    const words = last.get(plain.toLowerCase()) ?? [];
    const begins = names.filter((_, i) => lower[i].startsWith(begun)).sort(plainFirst);
    const word = plain.toLowerCase().replace(/^tf\./, "");
    const has = word.length < 3 ? []
      : names.filter((_, i) => lower[i].includes(word)).sort(plainFirst);
    const own = plain.includes(".") || words.length ? [] : ofClasses(`.${plain}`);
    return [...new Set([...found, ...[...words].sort(plainFirst), ...begins, ...own, ...has])];
  }

  // Whether a text spells a name, whole or from one of its dots on.
  function isMeant(name, text) {
    const end = text.trim().toLowerCase().replace(/^\.|\(\)$/g, "");
    const full = name.toLowerCase();
    return full === spelled(text).toLowerCase() || full.endsWith(`.${end}`);
  }

  // The page that the pair of a name is on, which a text spells; or null.
  function pageMeant(text) {
    const [first] = find(text);
    return first && isMeant(first, text) && told(first).pair.split(".")[0] || null;
  }

  const named = (word) => [...(last.get(word.toLowerCase()) ?? [])].sort(plainFirst);

  const isMember = (name) => members.has(name);
  return {
    exists, find, isMeant, isMember, named, ofClasses, owner, pageMeant, spelled, tail, told,
  };
};
