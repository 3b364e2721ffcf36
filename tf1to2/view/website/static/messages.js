"use strict";

// What a pasted message is about, by the rules of explain/messages.py, which names.js has
// (view/website/box.py): names, and sections of the chapters on errors.
window.tf1to2Messages = (index, lookup) => {
  const { exists, isMember, named, ofClasses, owner, spelled, tail, told } = lookup;
  const rules = index.messages, constants = new Set(index.constants), re = {};
  for (const row of [...rules.PATTERNS, ...rules.MODULES]) row[0] = new RegExp(row[0]);
  for (const name in rules.expressions) re[name] = new RegExp(rules.expressions[name], "s");

  // Each is the function of that name there: the names that the groups of a pattern are
  // about.
  const finders = {
    attribute(module, name) {
      const known = rules.MODULES.find(([pattern]) => pattern.test(module));
      if (!known) return [];
      const real = module.replace(...known), legacy = real.replace(/^tf\.keras\./, "tf.");
      return [...new Set([legacy, real])].map((one) => `${one}.${name}`).filter(exists);
    },
    module(name) {
      let symbol = name.replace(re.TENSORFLOW, "tf");
      while (symbol.startsWith("tf.") && !exists(symbol)) symbol = owner(symbol);
      if (symbol.startsWith("tf.")) return [symbol];
      return name === "tensorflow.examples" ? [rules.EXAMPLES] : [];
    },
    imported(name, module) {
      if (!module) return named(name);
      return re.KERAS.test(module) ? finders.attribute(module, name)
        : finders.module(`${module}.${name}`);
    },
    member(object, name) {
      const own = tail(object), layer = `tf.keras.layers.${own}.${name}`;
      if (exists(layer)) return [layer];
      const found = ofClasses(`.${own}.${name}`);
      if (found.length || name === "numpy") return found;
      if (own === "_local") return [];  // of Python's threads
      if (own.endsWith("Tensor") && name === "value") return [];  // which dimensions had
      const ours = ofClasses(`.${name}`)
        .filter((symbol) => own.toLowerCase().includes(tail(owner(symbol)).toLowerCase()));
      return ours.length ? ours : [`.${name}`].filter(exists);
    },
    keyword(called = "", name) {
      const method = called.match(re.TRAINER);
      if (method) return [`tf.keras.Model.${method[1]}`].filter(exists);
      if (called.startsWith("__")) return [];  // of whichever object it is
      const plain = called.replace(re.ENDING, ""), symbol = `tf.${plain}`;
      const taking = (index.arguments[name] ?? [])
        .filter((taker) => !plain || tail(taker) === tail(plain));
      const found = taking.length || !plain ? taking
        : (index.refused[name] ?? []).filter((taker) => tail(taker) === tail(plain));
      // It took it before 1.15; others of that name are not it.
      if (exists(symbol) && !found.includes(symbol)) return [symbol];
      return found.length || !rules.OF_MODELS.includes(called) ? found
        : [`tf.keras.Model.${called}`];
    },
    keras: (name) => rules.LEGACY_KERAS.map((module) => module + name).filter(exists),
    undefined(name) {
      const symbol = name.replace("contrib_", "tf.contrib.");
      return [symbol].filter((one) => one !== name && exists(one));
    },
  };

  // What `tf.NAME`, or `from MODULE import NAME`, asks for beside its error.
  function written(name, line) {
    if (new RegExp(`\\btf\\.${name}\\b`).test(line)) return finders.attribute("tensorflow", name);
    const module = line.match(`\\bfrom ([\\w.]+) import [\\w, ]*\\b${name}\\b`)?.[1];
    return module ? finders.imported(name, module) : null;
  }

  function linesOf(text) {
    const whole = text.trim().replace(new RegExp(re.ROWS, "g"), " ");
    let lines = whole.split("\n").map((line) => line.trim())
      .filter((line) => line && !re.UNDERLINE.test(line));
    const without = lines[0]?.replace(re.OCCASION, "");
    if (lines.length === 1 && without !== lines[0] && without.length >= rules.ENOUGH) {
      lines = [without, ...lines];  // the last one counts first
    }
    return lines.map((line) => line.replace(re.NAME_ALONE, rules.RAISED_ALONE));
  }

  function ofError(text) {
    const lines = linesOf(text).reverse();
    // What TensorFlow 2 has as it was is missing somewhere else.
    const keras = ofKeras(lines);
    const missing = keras.length ? keras : ofNames(lines);
    const stays = missing.filter((n) => told(n).verdict === "same").map((n) => tail(owner(n)));
    const names = missing.filter((n) => !stays.includes(tail(owner(n))) && told(n).verdict !== "same");
    const lacks = lines.some((line) => rules.PATTERNS.some(([pattern, finder]) => {
      const match = line.match(pattern);
      return match && (finder !== "member" || isMember(match[2]));
    }));
    const known = sections(lines, letters, lacks && !names.length);
    if (names.length || known.length) return { names, errors: known };
    const like = likely(lines);
    return { names: like.length ? [] : mentioned(text), errors: like, like: true };
  }

  // The first name that is written with its module, or is no word of English.
  function mentioned(text) {
    const error = isError(text);
    let plain = text.replace(re.CONFIG, "");
    if (error) {
      const lines = plain.replace(new RegExp(re.FRAME, "g"), "").split("\n");
      plain = lines.map((line) => line.trim().replace(re.TYPE, "")).join("\n")
        .replace(new RegExp(re.REPR, "gs"), " ");
    }
    for (const word of plain.match(/[\w.]*\w/g) ?? []) {
      const found = word.includes(".") ? [spelled(word)].filter(exists)
        : word.match(re.COMPOUND)?.[0] === word ? named(word) : [];
      // A dtype or a code is not what an error is about.
      if (found.length && !(error && constants.has(found[0]))) return found.slice(0, 1);
    }
    return [];
  }

  function isError(text) {
    const lines = linesOf(text);
    if (lines.some((line) => re.TYPE.test(line) || re.MISSING.test(line))) return true;
    const line = lines.at(-1);
    return re.SAYS.test(line) && !re.PERSON.test(line) && re.STATES.test(line) && re.MARKS.test(line);
  }

  // What Keras does not have: a name of the package keras, or of tf.keras.
  function ofKeras(lines) {
    for (const line of lines) {
      for (const pattern of rules.OF_MODULES) {
        const { module, name } = line.match(pattern)?.groups ?? {};
        if (!module) continue;
        const full = name ? `${module}.${name}` : module;
        for (const [known, api] of rules.KERAS_MODULES) {
          const match = full.match(`^(?:${known})`);
          if (!match) continue;
          const asked = `${api}${full.slice(match[0].length)}`;
          const symbol = index.of_keras[asked] ?? asked;
          if (exists(symbol) && told(symbol).verdict !== "same") return [symbol];
          break;
        }
      }
    }
    return [];
  }

  function ofNames(lines) {
    for (const line of lines) {
      for (const [pattern, finder] of rules.PATTERNS) {
        const match = line.match(pattern);
        const beside = match && finder === "imported" && !match[2] && written(match[1], line);
        if (beside) return beside;
        const found = match ? [...new Set(finders[finder](...match.slice(1)))] : [];
        if (found.length) return found;
      }
    }
    return [];
  }

  const count = (text) => (text.match(/[\p{L}\p{N}_]/gu) ?? []).length;
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&");

  const quoted = (text) => [...text.matchAll(new RegExp(re.QUOTED, "g"))].map((m) => m[1]);

  // How many letters a line has of the very words of a message, or of a part of it.
  const bare = (text) => text.replace(new RegExp(re.QUOTE_MARKS, "g"), "");
  function letters(asWritten, asPasted) {
    const wording = bare(asWritten), line = bare(asPasted);
    const parts = line.split(re.PART_ENDS), last = parts.pop();
    // Where it has another name, what follows is of that.
    const ended = quoted(asWritten).every((name) => quoted(asPasted).includes(name)) ? parts : [];
    const said = [
      ...[line.replace(re.TYPE, ""), last].map((part) => [part, ""]),
      ...ended.map((part) => [part, rules.END]),
    ];
    // Of the code that raises a part is in any traceback.
    const found = said.filter(([part, end]) => part.length >= rules.ENOUGH
      && !rules.SYSTEM.includes(part) && !part.startsWith("raise ")
      && new RegExp(escaped(part) + end).test(wording)).map(([part]) => part);
    for (const whole of [wording, wording.split(". ")[0]]) {
      const part = whole.replace(/\.$/, "");
      if (whole !== wording && count(part) < rules.LETTERS) continue;
      const pattern = part.split("…").map(escaped).join(".*?");
      // One word is all that a line says; another part is not of a longer name:
      // tensorflow.contrib.slim has an answer of its own.
      const known = part.includes(" ") ? pattern + "(?!\\.\\w)" : `${pattern}$`;
      if (new RegExp(known, "s").test(line)) found.push(part);
    }
    return Math.max(0, ...found.map(count));
  }

  // `general`: also the wordings of any name.
  function sections(lines, score, general) {
    const wordings = (section) => general ? [...section[0], ...section[6]] : section[0];
    for (const line of lines) {
      const found = highest(index.errors.map((section) =>
        [Math.max(0, ...wordings(section).map((wording) => score(wording, line))), section]));
      if (found.length) {
        return found.map(([, message, because, places, code, anchor]) =>
          ({ message, because, places, code, anchor }));
      }
    }
    return [];
  }

  function likely(lines) {
    const known = sections(lines, likeness);
    if (known.length) return known;
    for (const line of lines) {
      const type = line.match(re.TYPE)?.[1];
      for (const kind of type ? [type, null] : [null]) {  // another type says it, too
        const raised = index.raised.filter(([, , , types]) => !kind || types.includes(kind));
        const found = highest(raised.map((one) => [likeness(one[0], line), one]));
        if (found.length) {
          return found.map(([message, because, places]) => ({ message, because, places }));
        }
      }
    }
    return [];
  }

  function highest(scored) {
    const most = Math.max(0, ...scored.map(([score]) => score));
    return most ? scored.filter(([score]) => score === most).map(([, one]) => one) : [];
  }

  // How many letters of a line a message accounts for; 0 for too few.
  function likeness(message, line) {
    const matches = (text, expression) => text.match(new RegExp(expression, "g")) ?? [];
    // What is quoted in a text, called, or the name of a class.
    const naming = (text) =>
      [...quoted(text), ...matches(text, re.CALLED), ...matches(text, re.CAMEL)];
    const words = message.match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
    const inLine = new Set(line.toLowerCase().match(/[\p{L}\p{N}_]+/gu));
    const there = words.filter((word) => inLine.has(word.toLowerCase()));
    const letters = there.join("").length, missing = words.length - there.length;
    if (!line.toLowerCase().includes(message.toLowerCase())) {
      const known = naming(message), given = naming(line);
      const others = known.some((name) => !given.includes(name))
        || matches(line, re.CALLED).some((called) => !known.includes(called));
      if (others || words.length < rules.WORDS || missing * rules.ONE_IN > words.length) return 0;
    }
    const said = line.replace(re.TYPE, "").split(re.GIVEN)[0];
    const plain = matches(said.replace(new RegExp(re.QUOTED, "g"), " "), "\\b[A-Za-z_]{2,}\\b");
    const [least, of] = rules.SHARE, whole = plain.join("").length;
    return letters >= rules.LETTERS && letters * of >= whole * least ? letters : 0;
  }

  // A node of a graph, as messages name it, is no part of what is asked.
  const withoutNode = (text) => text.replace(new RegExp(re.NODE, "g"), "").trim() || text;

  return { isError, ofError, withoutNode };
};
