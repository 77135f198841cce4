// The search page: ranks the sections that the build has put into searchindex.js (attn_search.py).
(function () {
  "use strict";

  const results = document.getElementById("search-results");
  const t = JSON.parse(results.dataset.words);
  const query = (new URLSearchParams(location.search).get("q") ?? "").trim();
  const field = document.getElementById("attn-query");
  field.value = query;
  if (!query) {
    field.focus();
    return;
  }
  // The index is larger than three pages, so it is loaded only for a search.
  const index = document.createElement("script");
  index.src = results.dataset.index;
  index.onload = () => answer(globalThis.attnSearch);
  document.head.append(index);

  function answer({ pages, entries }) {
    /** A word without its accents, which not every keyboard has. */
    const fold = (word) => word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
    const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
    const split = (text) => text.match(WORD) ?? [];
    const stemmer = new Stemmer(); // Sphinx's, of the edition's language
    const stem = (word) => fold(stemmer.stemWord(word.toLowerCase()));

    // Every word, written without accents: its stems, its commonest spelling, and its places.
    const forms = new Map();
    const stems = new Map(); // from a stem to the forms that have it
    const spelled = new Map();
    function learn(word, entry, part) {
      let known = spelled.get(word);
      if (!known) {
        const form = fold(word);
        if (!forms.has(form)) forms.set(form, { form, stems: new Set(), spellings: new Map(), places: new Map() });
        known = forms.get(form);
        const root = stem(word);
        known.stems.add(root);
        stems.set(root, (stems.get(root) ?? new Set()).add(known));
        spelled.set(word, known);
      }
      const spelling = word.toLowerCase();
      known.spellings.set(spelling, (known.spellings.get(spelling) ?? 0) + 1);
      const place = known.places.get(entry) ?? { title: 0, text: 0, code: 0 };
      place[part] += 1;
      known.places.set(entry, place);
    }
    entries.forEach(([page, , title, , text, code], entry) => {
      split(title).forEach((word) => learn(word, entry, "title"));
      split(text).forEach((word) => learn(word, entry, "text"));
      split(code).forEach((word) => learn(word, entry, "code"));
    });

    // Words that other texts use: the glossary's "see" entries lead from each to the course's own.
    const instead = new Map();
    for (const [, , title, kind, text] of entries) {
      const [, ...own] = split(text); // "See key."
      if (kind === "see" && split(title).length === 1 && own.length === 1) instead.set(fold(title), own[0]);
    }

    // The weight of a word in an entry, by where it occurs and how near it is to the typed one.
    const IN_TITLE = 8;
    const IN_CODE = 0.4;
    const ITS_NAME = 1.2; // a term of the glossary whose exact name was typed
    /** The forms that match a typed word, each with its weight: the word, its stem's forms, and words that begin with it. */
    function meanings(word) {
      const form = fold(word);
      const worth = new Map();
      const own = new Set([stem(word), ...(forms.get(form)?.stems ?? [])]);
      if (form.length > 2) for (const [other, known] of forms) if (other.startsWith(form)) worth.set(known, 0.3);
      if (instead.has(form)) for (const known of stems.get(stem(instead.get(form))) ?? []) worth.set(known, 0.6);
      for (const root of own) for (const known of stems.get(root) ?? []) worth.set(known, 0.8);
      if (forms.has(form)) worth.set(forms.get(form), 1);
      return worth;
    }
    function scores(word) {
      const found = new Map();
      for (const [{ places }, worth] of meanings(word)) {
        for (const [entry, { title, text, code }] of places) {
          const whole = title ? title / Math.sqrt(split(entries[entry][2]).length) : 0;
          const value = worth * (IN_TITLE * whole + (text ? 1 + Math.log2(text) : 0) + (code ? IN_CODE : 0));
          found.set(entry, (found.get(entry) ?? 0) + value);
        }
      }
      return found;
    }
    /** The pages that contain all words, best first, each with its sections that contain all or some. */
    function search(words) {
      const each = words.map(scores);
      const rare = each.map((found) => Math.log(1 + entries.length / (1 + found.size)));
      const byPage = new Map();
      entries.forEach(([page], entry) => {
        const held = each.map((found) => found.get(entry) ?? 0);
        if (!held.some(Boolean)) return;
        const ranked = byPage.get(page) ?? { page, places: [], held: words.map(() => false) };
        const all = held.filter(Boolean).length / words.length;
        ranked.places.push({ entry, score: all ** 2 * held.reduce((total, value, i) => total + rare[i] * value, 0) });
        held.forEach((value, i) => { ranked.held[i] ||= value > 0; });
        byPage.set(page, ranked);
      });
      const asked = words.map(fold).join(" ");
      const named = ({ entry }) => ["term", "see"].includes(entries[entry][3]) && split(entries[entry][2]).map(fold).join(" ") === asked;
      const complete = [...byPage.values()].filter(({ held }) => held.every(Boolean));
      for (const ranked of complete) {
        ranked.places.sort((a, b) => b.score - a.score || a.entry - b.entry);
        // A page with one good section beats one with many poor ones, and a chapter teaches.
        const [best, ...rest] = ranked.places.map(({ score }) => score);
        ranked.score = (best + Math.log2(1 + rest.reduce((total, score) => total + score, 0))) * (pages[ranked.page].number ? 1.5 : 1);
        if (ranked.places.some(named)) ranked.score *= ITS_NAME;
      }
      return complete.sort((a, b) => b.score - a.score || a.page - b.page);
    }

    /** The number of letters that differ; two swapped neighbours count as one. */
    function distance(a, b, most) {
      if (Math.abs(a.length - b.length) > most) return Infinity;
      let [before, last] = [[], [...Array(b.length + 1).keys()]];
      for (let i = 1; i <= a.length; i++) {
        const now = [i];
        for (let j = 1; j <= b.length; j++) {
          now[j] = Math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
          if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) now[j] = Math.min(now[j], before[j - 2] + 1);
        }
        [before, last] = [last, now];
      }
      return last[b.length];
    }
    /** The word of the course that was probably meant, or null. */
    function near(word) {
      const form = fold(word);
      const most = form.length > 4 ? 2 : 1;
      let best = null;
      for (const known of forms.values()) {
        if (/[\d_]/.test(known.form) || known.form.length < 3) continue;
        const away = distance(form, known.form, most);
        if (away > most || (best && (away > best.away || (away === best.away && known.places.size <= best.known.places.size)))) continue;
        best = { known, away };
      }
      return best && [...best.known.spellings].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
    }

    // What is shown ------------------------------------------------------------------------
    function node(tag, attributes, ...children) {
      const made = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      made.append(...children);
      return made;
    }
    const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
    /** A text whose sought words are marked. */
    function marked(text, wanted) {
      const parts = [];
      let end = 0;
      for (const { 0: word, index } of text.matchAll(WORD)) {
        if (!wanted.has(fold(word))) continue;
        parts.push(text.slice(end, index), node("mark", {}, word));
        end = index + word.length;
      }
      return [...parts, text.slice(end)];
    }
    const ROOM = 170; // characters of an excerpt
    function excerpt(text, wanted) {
      const first = [...text.matchAll(WORD)].find(({ 0: word }) => wanted.has(fold(word)))?.index ?? 0;
      let from = Math.max(0, first - ROOM / 3);
      if (from) from = text.indexOf(" ", from) + 1 || from;
      let to = Math.min(text.length, from + ROOM);
      if (to < text.length) to = Math.max(first + 1, text.lastIndexOf(" ", to));
      return [from ? "… " : "", ...marked(text.slice(from, to), wanted), to < text.length ? " …" : ""];
    }
    function show(words) {
      const found = search(words);
      const unknown = words.filter((word) => meanings(word).size === 0);
      const guesses = new Map(unknown.map((word) => [word, near(word)]).filter(([, guess]) => guess));
      const count = found.length === 1 ? t.one : found.length ? t.many : t.none;
      results.append(node("p", { role: "status" }, fill(count, { count: found.length, query })));
      if (guesses.size) {
        const better = words.map((word) => guesses.get(word) ?? word).join(" ");
        const [before, after] = t.suggestion.split("{query}");
        results.append(node("p", { class: "attn-suggestion" }, before, node("a", { href: `?q=${encodeURIComponent(better)}` }, better), after));
      }
      const wanted = new Set(words.flatMap((word) => [...meanings(word)].filter(([, worth]) => worth > 0.5 || !forms.has(fold(word))).map(([{ form }]) => form)));
      const address = (page, anchor, places) => {
        const held = [...wanted].filter((form) => places.some((entry) => forms.get(form).places.has(entry)));
        return `${pages[page].address}.html?highlight=${held.map(encodeURIComponent).join("+")}${anchor && `#${anchor}`}`;
      };
      const list = node("ol", { class: "attn-results" });
      for (const { page, places } of found) {
        const { title, number } = pages[page];
        const link = node("a", { href: address(page, "", places.map(({ entry }) => entry)) }, ...(number ? [node("span", { class: "attn-number" }, number)] : []), ...marked(title, wanted));
        const item = node("li", {}, node("h2", {}, link));
        const place = ({ entry }) => {
          const [, anchor, name, kind, text] = entries[entry];
          const line = anchor
            ? [node("a", { href: address(page, anchor, [entry]) }, ...marked(name, wanted)), t.kinds[kind] ? node("small", {}, ` ${t.kinds[kind]}`) : ""] : [];
          return node("li", {}, ...line, text ? node("p", {}, ...excerpt(text, wanted)) : "");
        };
        item.append(node("ul", {}, ...places.slice(0, 3).map(place)));
        if (places.length > 3) {
          const more = fill(places.length === 4 ? t.moreOne : t.more, { count: places.length - 3 });
          item.append(node("details", {}, node("summary", {}, more), node("ul", {}, ...places.slice(3).map(place))));
        }
        list.append(item);
      }
      if (found.length) results.append(list);
    }
    const words = split(query);
    if (words.length) show(words);
  }
})();
