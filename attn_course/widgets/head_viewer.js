// Shows every head of the trained model on one sentence, and the translation when some heads are removed.
import { greedy } from "./decoding.js";
import { words } from "./joined.js";
import { announcer, examples, fill, format, formatBrief, h, largest, list, put, radios, roving, scroller, softmax, uid } from "./shared.js";
import { join } from "./tokenizer.js";
import { encodeSource, loadTranslator } from "./trained.js";

const STACKS = ["encoder", "decoder", "cross"];

export const STRINGS = {
  es: {
    title: "Visor de cabezas", sentence: "Oración en inglés", translate: "Traducir", pick: "O elige una", pickOne: "oraciones de ejemplo",
    ready: "Ejemplo ya calculado. El modelo se carga cuando traduces o cortas una cabeza.",
    loading: "Se carga el modelo…", failed: "El modelo no llegó: faltan sus archivos junto a esta página, o no se pueden leer.",
    empty: "Escribe una oración en inglés.",
    tooLong: "Son {length} tokens, y el modelo admite hasta {most}.",
    unknown: "Fuera del vocabulario: {words}.",
    whole: "Con todas las cabezas", without: "Sin las que has cortado", none: "Ninguna cortada todavía.",
    same: "La traducción no cambia. La probabilidad de la traducción completa pasa de {before} a {after}.",
    changed: "La traducción cambia. La probabilidad de la original pasa de {before} a {after}.",
    mend: "Devolver todas", list: "Cortadas: {heads}.", one: "{stack} {layer}·{head}",
    attention: "Atención", encoder: "codificador", decoder: "decodificador", cross: "cruzada",
    heads: "Cabezas", name: "Capa {layer}, cabeza {head}",
    cut: "cortar", cutName: "Cortar capa {layer}, cabeza {head}", alone: "p = {p}",
    explain: "Bajo cada cabeza, p: la probabilidad de la traducción completa si se corta solo esa. Con todas es {p}.",
    matrix: "{stack}, capa {layer}, cabeza {head}", rows: "Cada fila es una query y suma 1; cada columna, una key.", isCut: "Cortada: sus pesos se calculan, pero no llegan a nadie.",
    reads: "La query de {query} da su mayor peso a {keys}: {weight}.", predicts: "La query que predice {query} da su mayor peso a {keys}: {weight}.",
    quoted: "«{token}»", and: "y", full: "autoatención del codificador", fullDecoder: "autoatención del decodificador", fullCross: "atención cruzada",
  },
  en: {
    title: "Head viewer", sentence: "English sentence", translate: "Translate", pick: "Or pick one", pickOne: "example sentences",
    ready: "An example computed beforehand. The model loads when you translate or cut a head.",
    loading: "The model is loading…", failed: "The model did not arrive: its files are not beside this page, or cannot be read.",
    empty: "Write a sentence in English.",
    tooLong: "That is {length} tokens, and the model takes up to {most}.",
    unknown: "Outside the vocabulary: {words}.",
    whole: "With every head", without: "Without those you have cut", none: "No head is cut.",
    same: "The translation stays. The probability of the whole translation goes from {before} to {after}.",
    changed: "The translation changes. The probability of the original one goes from {before} to {after}.",
    mend: "Put all back", list: "Cut: {heads}.", one: "{stack} {layer}·{head}",
    attention: "Attention", encoder: "encoder", decoder: "decoder", cross: "cross",
    heads: "Heads", name: "Layer {layer}, head {head}",
    cut: "cut", cutName: "Cut layer {layer}, head {head}", alone: "p = {p}",
    explain: "Under each head, p: the probability of the whole translation if that head alone is cut. With every head it is {p}.",
    matrix: "{stack}, layer {layer}, head {head}", rows: "Each row is a query and sums to 1; each column is a key.", isCut: "Cut: its weights are computed, and reach nobody.",
    reads: "The query of {query} gives its largest weight to {keys}: {weight}.", predicts: "The query that predicts {query} gives its largest weight to {keys}: {weight}.",
    quoted: "“{token}”", and: "and", full: "self-attention of the encoder", fullDecoder: "self-attention of the decoder", fullCross: "cross-attention",
  },
};

/**
 * Run a function while heads are removed, each { stack, layer, head }. The columns of the output
 * projection that read a removed head are zero meanwhile, so the head contributes nothing.
 */
export function withoutHeads({ config, parameters }, cuts, run) {
  const kept = new Map();
  try {
    for (const { stack, layer, head } of cuts) {
      const { selfAttention, crossAttention } = parameters[stack === "encoder" ? "encoder" : "decoder"].layers[layer];
      const { weight } = (stack === "cross" ? crossAttention : selfAttention).outProj;
      if (!kept.has(weight)) kept.set(weight, weight.slice());
      const width = weight.length / config.dModel;
      const size = width / config.nHeads;
      for (let row = head * size; row < weight.length; row += width) weight.fill(0, row, row + size);
    }
    return run();
  } finally {
    kept.forEach((before, weight) => weight.set(before));
  }
}

/** Return the translation without some heads, and the weights of all heads in that run. */
export function translateWithout({ transformer, source, target }, ids, cuts) {
  return withoutHeads(transformer, cuts, () => {
    const encoded = transformer.encode(ids);
    const model = { ...transformer, encode: () => encoded }; // The source is encoded only once.
    const written = greedy(model, ids, { maxNewTokens: 2 * ids.length + 10 });
    const { layers } = transformer.decode(written.slice(0, -1), encoded.memory);
    const weights = (some, name) => some.map((layer) => layer[name].weights);
    return {
      written, source: ids.map((id) => source.tokens[id]), target: written.slice(1).map((id) => target.tokens[id]),
      encoder: weights(encoded.layers, "selfAttention"), decoder: weights(layers, "selfAttention"), cross: weights(layers, "crossAttention"),
    };
  });
}

/** Return the probability of a whole translation without some heads: the product of its tokens' probabilities. */
export function probabilityWithout({ transformer }, ids, written, cuts) {
  return withoutHeads(transformer, cuts, () => {
    const { logits } = transformer.decode(written.slice(0, -1), transformer.encode(ids).memory);
    return logits.reduce((product, row, i) => product * softmax(Array.from(row))[written[i + 1]], 1);
  });
}

/** Tell for each token of `after` whether it belongs to the longest common subsequence with `before`. */
export function sharedTokens(before, after) {
  const best = Array.from({ length: before.length + 1 }, () => new Array(after.length + 1).fill(0));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      best[i][j] = before[i] === after[j] ? 1 + best[i + 1][j + 1] : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const shared = new Array(after.length).fill(false);
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i] === after[j]) { shared[j] = true; i++; j++; } else if (best[i + 1][j] >= best[i][j + 1]) i++;
    else j++;
  }
  return shared;
}

const probability = (p) => (p < 0.001 && p > 0 ? "<0.001" : format(p, 3));
const percentOf = (i, n) => `${((100 * i) / n).toFixed(3)}%`;

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const example = model.get("example");
  const live = announcer();
  const at = { stack: model.get("stack"), layer: example.cross.length - 1, head: 0, row: Math.max(0, example.target.length - 2) };
  const cuts = new Map(); // The removed heads by name, so that no head is removed twice.
  let translator = null;
  let ids = null;
  let whole = example;
  let shown = example;
  let alone = null; // The probability of the translation when each head alone is removed.
  let before = null;

  const nameOf = (stack, layer, head) => `${stack} ${layer} ${head}`;
  const all = STACKS.flatMap((stack) => example[stack].flatMap((heads, layer) => heads.map((_, head) => ({ stack, layer, head }))));
  const stackName = { encoder: t.full, decoder: t.fullDecoder, cross: t.fullCross };
  const capital = (text) => text[0].toUpperCase() + text.slice(1);

  // The sentence ------------------------------------------------------------------------------
  const input = h("input", {
    type: "text", id: uid(), class: "attn-live-input", lang: "en", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    value: example.source.join(" "), "data-attn": "sentence",
  });
  const sentences = [...new Set([example.source.join(" "), ...model.get("sentences")])];
  const picker = examples(t, sentences.map((text) => h("option", { lang: "en" }, text)), (sentence) => {
    input.value = sentence;
    read();
  });
  const form = h("form", {
    class: "attn-live-form", novalidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      picker.at(-1).value = "";
      read();
    },
  }, h("label", { for: input.id, class: "attn-w-label" }, t.sentence), input,
  h("button", { class: "attn-w-button", "data-attn": "translate" }, t.translate),
  picker);
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const mend = h("button", { type: "button", class: "attn-w-button", "data-attn": "mend", onclick: () => { cuts.clear(); again(); grid.querySelector("button").focus(); } }, t.mend);
  const cutList = h("span", { "data-attn": "cut-list" });
  const [full, less] = ["whole", "without"].map((name) => h("p", { class: "attn-heads-text", lang: "es", "data-attn": name }));

  function say(text, bad = false) {
    put(note, text);
    note.toggleAttribute("data-bad", bad);
    if (text !== t.ready) live.say(text);
  }
  async function load() {
    const waiting = setTimeout(() => say(t.loading), 200);
    try {
      translator ??= await loadTranslator(model);
    } catch (error) {
      console.warn(error.message);
      say(t.failed, true);
    }
    clearTimeout(waiting);
    return translator;
  }
  /** Take a new sentence; return whether the model could translate it. */
  async function read() {
    if (!await load()) return false;
    const { ids: found, unknown, tooLong } = encodeSource(translator, input.value);
    const fault = unknown.length ? fill(t.unknown, { words: list([...new Set(unknown.map(({ word }) => fill(t.quoted, { token: word })))], t.and) })
      : !found.length ? t.empty : tooLong ? fill(t.tooLong, { length: found.length, most: translator.maxLen }) : "";
    if (fault) {
      say(fault, true);
      return false;
    }
    ids = found;
    whole = translateWithout(translator, ids, []);
    before = probabilityWithout(translator, ids, whole.written, []);
    alone = new Map(all.map((head) => [nameOf(head.stack, head.layer, head.head), probabilityWithout(translator, ids, whole.written, [head])]));
    again();
    return true;
  }
  /** Translate the same sentence without the heads that are removed now. */
  function again() {
    shown = cuts.size ? translateWithout(translator, ids, [...cuts.values()]) : whole;
    const after = probabilityWithout(translator, ids, whole.written, [...cuts.values()]);
    const same = shown.target.join(" ") === whole.target.join(" ");
    if (cuts.size) say(fill(same ? t.same : t.changed, { before: probability(before), after: probability(after) }));
    else say(fill(t.explain, { p: probability(before) }));
    draw();
  }
  async function cut(head, wanted) {
    if (!translator && !await read()) return draw();
    const name = nameOf(head.stack, head.layer, head.head);
    if (wanted) cuts.set(name, head);
    else cuts.delete(name);
    Object.assign(at, head);
    again();
  }

  // The heads ---------------------------------------------------------------------------------
  const stacks = radios(t.attention, "stack", STACKS.map((stack) => [stack, t[stack]]), at.stack, (stack) => {
    at.stack = stack;
    build();
    draw();
    live.say(stackName[stack]);
  });
  const grid = h("div", { class: "attn-heads-grid", role: "group", "aria-label": t.heads });
  const big = h("div", { class: "attn-heads-big" });
  let tiles = [];
  let focusTile = () => {};
  const tokensOf = () => ({
    rows: at.stack === "encoder" ? shown.source : shown.target,
    columns: at.stack === "decoder" ? ["<sos>", ...shown.target.slice(0, -1)] : shown.source,
  });

  function build() {
    tiles = example[at.stack].flatMap((heads, layer) => heads.map((_, head) => {
      const names = { layer: layer + 1, head: head + 1 };
      const map = h("span", { class: "attn-heads-map", "aria-hidden": "true" });
      const choose = h("button", {
        type: "button", "data-attn": "head", "data-layer": layer, "data-head": head,
        onclick: () => select(layer, head),
      }, h("span", { class: "attn-w-label" }, `${layer + 1}·${head + 1}`), h("span", { class: "attn-w-hidden" }, ` ${fill(t.name, names)}`), map);
      const box = h("input", { type: "checkbox", "aria-label": fill(t.cutName, names), "data-attn": "cut", onchange: () => cut({ stack: at.stack, layer, head }, box.checked) });
      const p = h("span", { class: "attn-w-number", "data-attn": "alone" });
      return { layer, head, map, choose, box, p, node: h("div", { class: "attn-heads-tile" }, choose, h("label", { class: "attn-w-choice" }, box, t.cut), p) };
    }));
    focusTile = roving(tiles.map(({ choose }) => choose), (i) => select(tiles[i].layer, tiles[i].head), () => getComputedStyle(grid).gridTemplateColumns.split(" ").length);
    grid.style.setProperty("--heads", example[at.stack][0].length);
    grid.replaceChildren(...tiles.map(({ node }) => node));
  }
  function select(layer, head) {
    Object.assign(at, { layer, head });
    draw();
    live.say(`${fill(t.name, { layer: layer + 1, head: head + 1 })}. ${summary()}`);
  }
  function summary() {
    const { rows, columns } = tokensOf();
    const weights = shown[at.stack][at.layer][at.head][at.row];
    const quote = (token) => fill(t.quoted, { token });
    const places = largest(weights);
    return fill(at.stack === "encoder" ? t.reads : t.predicts, {
      query: quote(rows[at.row]), keys: list(places.map((j) => quote(columns[j])), t.and), weight: format(weights[places[0]]),
    });
  }
  /** Draw a row of weights as one gradient of hard steps, which is one element instead of a hundred. */
  const strip = (weights) => `linear-gradient(90deg,${weights.map((w, j) =>
    `rgb(var(--attn-heat) / ${w.toFixed(3)}) ${percentOf(j, weights.length)} ${percentOf(j + 1, weights.length)}`).join(",")})`;

  function enlarge() {
    const { rows, columns } = tokensOf();
    const weights = shown[at.stack][at.layer][at.head];
    const show = columns.length > 6 ? (w) => formatBrief(w).replace("1.00", "1") : format;
    const [rowLanguage, columnLanguage] = [at.stack === "encoder" ? "en" : "es", at.stack === "decoder" ? "es" : "en"];
    const names = rows.map((token, i) => h("button", { type: "button", "aria-pressed": String(i === at.row), lang: rowLanguage, class: "attn-w-query", "data-attn": "row", onclick: () => choose(i) }, token));
    roving(names, choose)(at.row);
    const title = h("b", { id: uid() }, fill(t.matrix, { stack: capital(stackName[at.stack]), layer: at.layer + 1, head: at.head + 1 }));
    const said = h("p", { class: "attn-w-summary", "data-attn": "summary" }, summary());
    const lines = rows.map((_, i) => h("tr", { onclick: () => choose(i), "data-shown": i === at.row }, h("th", { scope: "row" }, names[i]),
      weights[i].map((w) => h("td", { "data-attn": "weight", "data-weight": w, "data-deep": w > 0.757, style: `background-color:rgb(var(--attn-heat) / ${w.toFixed(3)})` }, h("span", {}, show(w))))));
    function choose(i) {
      at.row = i;
      names.forEach((button, k) => {
        button.setAttribute("aria-pressed", String(k === i));
        button.tabIndex = k === i ? 0 : -1;
        lines[k].toggleAttribute("data-shown", k === i);
      });
      put(said, summary());
      live.say(said.textContent);
    }
    const table = h("table", { class: "attn-w-table attn-explorer-heat attn-heads-heat", "data-upright": columns.length > 5, "aria-labelledby": title.id, "data-size": columns.length > 8 ? "small" : "medium" },
      h("thead", {}, h("tr", {}, h("td", {}), columns.map((token) => h("th", { scope: "col", class: "attn-w-key", lang: columnLanguage }, h("span", {}, token))))),
      h("tbody", {}, lines));
    const isCut = cuts.has(nameOf(at.stack, at.layer, at.head));
    big.replaceChildren(h("p", {}, title), scroller(title.textContent, table), said,
      h("p", { class: "attn-w-label" }, isCut ? t.isCut : t.rows));
  }

  function draw() {
    at.row = Math.min(at.row, tokensOf().rows.length - 1);
    tiles.forEach(({ layer, head, map, choose, box, p, node }) => {
      const name = nameOf(at.stack, layer, head);
      map.replaceChildren(...shown[at.stack][layer][head].map((weights) => h("i", { style: `background-image:${strip(weights)}` })));
      choose.setAttribute("aria-pressed", String(layer === at.layer && head === at.head));
      box.checked = cuts.has(name);
      node.toggleAttribute("data-cut", cuts.has(name));
      put(p, alone ? fill(t.alone, { p: probability(alone.get(name)) }) : "\u00a0");
      node.toggleAttribute("data-needed", Boolean(alone) && alone.get(name) < before / 2);
    });
    focusTile(tiles.findIndex(({ layer, head }) => layer === at.layer && head === at.head));
    put(full, join(words(whole.target)));
    const shared = sharedTokens(whole.target, shown.target);
    less.replaceChildren(...(cuts.size
      ? words(shown.target).flatMap((token, i) => [i ? " " : "", shared[i] ? token : h("mark", { "data-attn": "changed" }, token)])
      : [h("span", { class: "attn-w-label", lang: language }, t.none)]));
    put(cutList, cuts.size ? fill(t.list, { heads: [...cuts.values()].map(({ stack, layer, head }) => fill(t.one, { stack: t[stack], layer: layer + 1, head: head + 1 })).join(", ") }) : "");
    mend.hidden = !cuts.size;
    enlarge();
  }

  el.append(h("div", { class: "attn-w attn-heads", lang: language, role: "group", "aria-label": t.title, "data-attn": "head-viewer" },
    form, note,
    h("div", { class: "attn-heads-said" }, h("span", { class: "attn-w-label" }, t.whole), full, h("span", { class: "attn-w-label" }, t.without), less),
    h("div", { class: "attn-heads-cuts" }, cutList, mend),
    h("div", { class: "attn-w-controls" }, stacks), grid, big, live.node));
  build();
  draw();
  say(t.ready);
}

export default { render };
