// Shows the distribution of the next word after temperature, top-k and top-p, and draws from it.
import { drawn, generator } from "./dice.js";
import {
  announcer, fill, format, h, list, put, softmax, temperatureSlider, uid, watch,
} from "./shared.js";

export const STRINGS = {
  es: {
    title: "Muestreo de la palabra siguiente", contexts: "Texto empezado",
    context: "«{source}» → «{written} …»", start: "«{source}» → «…»",
    temperature: "Temperatura", topK: "top-k", topP: "top-p", all: "todas",
    caption: "Las palabras más probables, antes y después de filtrar",
    head: ["palabra", "modelo", "muestreo", "salió"], rest: "las otras {count}", gone: "quitada",
    none: "ninguna queda", draw: "Muestrear 100", again: "Empezar de nuevo",
    keptAll: "Quedan las {total} palabras. Las {rest} que no caben en la tabla suman {tail}.",
    kept: "Quedan {kept} de {total} palabras, que en el modelo sumaban {mass}. {top}",
    keptOne: "Queda 1 de {total} palabras, que en el modelo tenía {mass}. {top}",
    top: "«{token}» pasa de {before} a {after}.",
    nothing: "Aún no hay muestras.",
    drawn: "Muestras: {count}. Palabras distintas: {different}. {outside}",
    inside: "Ninguna de fuera de la tabla.", outside: "De fuera de la tabla, {count}: {words}.",
    and: "y", more: "otras {count}",
  },
  en: {
    title: "Sampling the next word", contexts: "Text so far",
    context: "“{source}” → “{written} …”", start: "“{source}” → “…”",
    temperature: "Temperature", topK: "top-k", topP: "top-p", all: "all",
    caption: "The most probable words, before and after filtering",
    head: ["word", "model", "sampling", "came up"], rest: "the other {count}", gone: "removed",
    none: "none remains", draw: "Sample 100", again: "Start again",
    keptAll: "All {total} words remain. The {rest} that do not fit in the table sum to {tail}.",
    kept: "{kept} of {total} words remain, which summed to {mass} in the model. {top}",
    keptOne: "1 of {total} words remains, which had {mass} in the model. {top}",
    top: "“{token}” goes from {before} to {after}.",
    nothing: "No samples yet.",
    drawn: "Samples: {count}. Different words: {different}. {outside}",
    inside: "None from outside the table.", outside: "From outside the table, {count}: {words}.",
    and: "and", more: "{count} others",
  },
};

const SHOWN = 9;
const NAMED = 6;
/** Write a probability. A small probability must not look like zero. */
const share = (p) => (p === 0 ? "0" : p < 0.0005 ? "<\u20090.001" : format(p, 3));
const STEPS = [1, 2, 3, 5, 10, 20, 50, 100];

/** Return the indices of a row's numbers, the largest first. Of equal numbers, the first comes first. */
const ranked = (row) => [...row.keys()].sort((a, b) => row[b] - row[a] || a - b);

/** Compute `attn.decoding.next_token_probabilities`: temperature, then top-k, then top-p. */
export function nextTokenProbabilities(logits, { temperature = 1, topK = logits.length, topP = 1 } = {}) {
  const order = ranked(logits);
  const kept = new Set(order.slice(0, topK));
  const probabilities = softmax(logits.map((x, i) => (kept.has(i) ? x / temperature : -Infinity)));
  let before = 0;
  for (const i of order) {
    if (topP < 1 && before >= topP) kept.delete(i);
    before += probabilities[i];
  }
  const total = probabilities.reduce((sum, p, i) => sum + (kept.has(i) ? p : 0), 0);
  return probabilities.map((p, i) => (kept.has(i) ? p / total : 0));
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const tokens = model.get("tokens");
  const contexts = model.get("contexts");
  const live = announcer();
  let random = generator(1);
  let draws = [];

  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  const group = uid();
  const radios = contexts.map(({ source, written }, i) =>
    h("label", { class: "attn-w-choice" },
      h("input", {
        type: "radio", name: group, value: i, checked: i === model.get("context"), "data-attn": "context",
        onchange: () => set("context", i),
      }), h("span", {}, fill(written ? t.context : t.start, { source, written }))));

  const sizes = [...STEPS.filter((k) => k < tokens.length), tokens.length];
  const slider = (name, label, most, value, show) => {
    const id = uid();
    const shown = h("span", { class: "attn-w-number", "aria-hidden": "true", "data-attn": `${name}-value` });
    const input = h("input", {
      type: "range", id, min: name === "top_p" ? 1 : 0, max: most, step: 1, "data-attn": name,
      oninput: () => set(name, value(Number(input.value))),
    });
    const update = (position) => {
      if (Number(input.value) !== position) input.value = position;
      input.setAttribute("aria-valuetext", show());
      put(shown, show());
    };
    return { node: h("div", { class: "attn-w-slider" }, h("label", { for: id }, label), input, shown), update };
  };
  const temperature = temperatureSlider(t.temperature, model);
  const topK = slider("top_k", t.topK, sizes.length - 1, (i) => sizes[i],
    () => (model.get("top_k") === tokens.length ? t.all : String(model.get("top_k"))));
  const topP = slider("top_p", t.topP, 100, (i) => i / 100, () => format(model.get("top_p")));

  const n = Math.min(SHOWN, tokens.length);
  const hasRest = tokens.length > n;
  const rows = Array.from({ length: n + hasRest }, (_, place) => {
    const word = h("span", { lang: place < n ? "es" : language });
    const note = h("span", { class: "attn-w-hidden" });
    const [ghost, bar] = [h("i", {}), h("b", {})];
    const cell = (hook) => h("td", { class: "attn-w-number", "data-attn": hook });
    const [before, now, count] = [cell("model"), cell("draw"), cell("count")];
    const node = h("tr", { "data-attn": "row" },
      h("th", { scope: "row" }, word, note),
      h("td", { class: "attn-sampling-share", "aria-hidden": "true" }, h("span", {}, ghost, bar)),
      before, now, count);
    return { node, word, note, ghost, bar, before, now, count };
  });
  const [word, ...numbers] = t.head;
  const table = h("table", { class: "attn-w-table attn-sampling-table" },
    h("caption", { class: "attn-w-hidden" }, t.caption),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, word), h("td", { "aria-hidden": "true" }),
      numbers.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map(({ node }) => node)));
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const told = h("p", { class: "attn-sampling-told", "data-attn": "told" });
  const button = (hook, label, act) =>
    h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: act }, label);

  const now = () => nextTokenProbabilities(contexts[model.get("context")].logits,
    { temperature: model.get("temperature"), topK: model.get("top_k"), topP: model.get("top_p") });

  function update() {
    const { logits } = contexts[model.get("context")];
    const [first, probabilities] = [softmax(logits), now()];
    const order = ranked(logits);
    const rest = order.slice(n);
    const total = (values, places) => places.reduce((sum, i) => sum + values[i], 0);
    const times = (places) => draws.filter((i) => places.includes(i)).length;
    rows.forEach((row, place) => {
      const mine = place < n ? [order[place]] : rest;
      const [before, after] = [total(first, mine), total(probabilities, mine)];
      const gone = mine.every((i) => probabilities[i] === 0);
      put(row.word, place < n ? tokens[mine[0]] : fill(t.rest, { count: rest.length }));
      put(row.note, gone ? ` (${place < n ? t.gone : t.none})` : "");
      row.node.toggleAttribute("data-gone", gone);
      row.ghost.style.width = `${100 * before}%`;
      row.bar.style.width = `${100 * after}%`;
      for (const [node, value] of [[row.before, before], [row.now, after]]) {
        put(node, share(value));
        node.setAttribute("data-value", value);
      }
      put(row.count, draws.length ? String(times(mine)) : "");
    });
    radios.forEach((radio, i) => { radio.firstChild.checked = i === model.get("context"); });
    temperature.update();
    topK.update(sizes.findLastIndex((size) => size <= model.get("top_k")));
    topP.update(Math.round(100 * model.get("top_p")));
    const kept = probabilities.filter((p) => p > 0).length;
    const best = order[0];
    put(summary, fill(kept === tokens.length ? t.keptAll : kept === 1 ? t.keptOne : t.kept, {
      kept, total: tokens.length, rest: rest.length, tail: format(total(probabilities, rest), 3),
      mass: format(total(first, [...probabilities.keys()].filter((i) => probabilities[i] > 0)), 3),
      top: fill(t.top, { token: tokens[best], before: format(first[best], 3), after: format(probabilities[best], 3) }),
    }));
    const strange = [...new Set(draws.filter((i) => rest.includes(i)))].map((i) => `*${tokens[i]}*`);
    const words = strange.length > NAMED
      ? [...strange.slice(0, NAMED - 1), fill(t.more, { count: strange.length - NAMED + 1 })] : strange;
    const outside = times(rest);
    put(told, draws.length ? fill(t.drawn, {
      count: draws.length, different: new Set(draws).size,
      outside: outside ? fill(t.outside, { count: outside, words: list(words, t.and).replaceAll("*", "") }) : t.inside,
    }) : t.nothing);
    model.set("probabilities", probabilities);
  }
  const forget = () => { draws = []; random = generator(1); update(); };
  const settings = ["context", "temperature", "top_k", "top_p"];
  // The samples were drawn with the old settings, so a change of settings deletes them.
  const stops = [watch(model, settings, forget), watch(model, settings, () => live.say(summary.textContent))];

  el.append(h("div", {
    class: "attn-w attn-sampling", lang: language, role: "group", "aria-label": t.title, "data-attn": "sampling",
  },
  h("fieldset", { class: "attn-sampling-contexts" }, h("legend", { class: "attn-w-label" }, t.contexts), radios),
  h("div", { class: "attn-w-controls" }, temperature.node, topK.node, topP.node),
  table, summary,
  h("div", { class: "attn-sampling-draws" },
    button("draw", t.draw, () => {
      const probabilities = now();
      for (let i = 0; i < 100; i++) draws.push(drawn(probabilities, random()));
      update();
      live.say(told.textContent);
    }),
    button("again", t.again, () => { forget(); live.say(told.textContent); }), told),
  live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
