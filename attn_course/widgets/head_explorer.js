// Shows every head of a pretrained model on stored sentences: the original, a changed one, and a patched run.
import { announcer, fill, format, formatBrief, h, largest, list, put, roving, scroller, uid, visible } from "./shared.js";
import { figureExercise } from "./figure_exercise.js";
import { loadModel } from "./loading.js";
import { OWN, ownSentence, ownViews, spoken } from "./own_sentence.js";

export const STRINGS = {
  es: {
    title: "Explorador de cabezas", sentence: "Oración", own: "Una oración tuya", loading: "Se cargan las cabezas…",
    failed: "Los pesos no llegaron: faltan sus archivos junto a esta página.",
    version: "Qué se lee, y con qué probabilidad viene después cada token. Un parche lleva un vector de la primera oración a la segunda.", reads: "Se lee",
    clean: "La oración tal cual", exchanged: "Con «{new}» por «{old}»", patched: "Parche, capa {layer}",
    asItIs: "La oración tal cual.", isExchanged: "Se cambió «{old}» por «{new}».",
    isPatched: "Se lee «{new}», pero al entrar en la capa {layer} su vector se cambia por el de «{old}». Antes de esa capa nada es distinto de la oración cambiada.",
    isTail: "El parche va en el último token, del que sale la predicción.",
    sink: "sin el primer token", change: "solo lo que cambia", beside: "junto a la otra",
    find: "Medir", none: "nada", first: "cuánto mira al primer token", before: "cuánto mira al token anterior",
    induction: "cuánto mira a lo que siguió (inducción)", differs: "cuánto cambia lo que mira",
    found: "Las seis mayores:", scored: "{name}: {share}", nothing: "En esta oración no se repite ningún token.",
    uneven: "Las dos oraciones no tienen tantos tokens la una como la otra.",
    unchanged: "Elige una oración cambiada o con parche para ver qué cambia.",
    heads: "Las 270 cabezas", name: "Capa {layer}, cabeza {head}", layerShort: "capa", headShort: "cabeza",
    axes: "Capas 1 a 30 hacia abajo, de izquierda a derecha; cabezas 1 a 9 a lo ancho. Toca una.",
    lower: "{name} anterior", higher: "{name} siguiente",
    matrix: "Capa {layer}, cabeza {head}", rows: "Cada fila es una query y suma 1; cada columna, una key.",
    changes: "Cada casilla: el peso menos el que había en la oración tal cual. Azul, más; naranja, menos.",
    query: "La query de {query} da su mayor peso a {keys}: {weight}.", gains: "La query de {query} gana más en {keys}: {weight}.",
    quoted: "«{token}»", and: "y",
    exercise: {
      title: "Ejercicio 4: hasta qué capa espera la noticia en su palabra", check: "Comprobar lo que muestra la figura", solved: "Resuelto",
      text: "Dos oraciones se distinguen en una palabra y tienen respuestas distintas. Lleva el vector de esa palabra de una a la otra y busca la última capa, de las que hay aquí, en la que eso basta para que la respuesta sea la otra. Con el modelo en la página, hazlo con dos oraciones tuyas en «Un vector». Sin el modelo, elige una oración guardada y marca en su tabla el último parche que basta: esos parches los calculó antes el mismo modelo, así que la pregunta es la misma.",
      verdicts: {
        right: "Correcto: al entrar en la capa {layer} el vector todavía lleva la respuesta, y en la siguiente que se puede elegir ya no.",
        unread: "Falta leer una oración.", alone: "Hace falta la segunda oración: la misma, con una palabra cambiada y tantos tokens.",
        dare: "Esa pareja es la del reto. Escribe otra.", several: "Tus oraciones se distinguen en varios tokens. Cambia uno solo, para que haya un solo vector que llevar.",
        same: "Las dos oraciones tienen la misma respuesta, «{one}», así que no hay nada que llevar de una a otra. Cambia una palabra de la que dependa.",
        unpatched: "Todavía no hay parche, o hay además cabezas apagadas. Elige una capa para el vector de la palabra cambiada, y nada más.",
        place: "Has llevado el vector de otra palabra. El que difiere al principio es el de «{word}».",
        late: "Con ese parche la respuesta es la de la oración cambiada: al llegar a esa capa la noticia ya había pasado a otra palabra. Prueba una capa anterior.",
        early: "Ese parche basta, pero en la capa siguiente que se puede elegir también basta. Sigue hacia la salida.",
        never: "En esta oración no basta ningún parche: la noticia pasa a otra palabra antes de la capa 7. Elige otra oración.",
      },
    },
  },
  en: {
    title: "Head explorer", sentence: "Sentence", own: "A sentence of your own", loading: "The heads are loading…",
    failed: "The weights did not arrive: their files are not beside this page.",
    version: "What is read, and how probable each token is to come next. A patch carries a vector from the first sentence into the second.", reads: "It reads",
    clean: "The sentence as it stands", exchanged: "With “{new}” for “{old}”", patched: "Patched, layer {layer}",
    asItIs: "The sentence as it stands.", isExchanged: "“{old}” was exchanged for “{new}”.",
    isPatched: "It reads “{new}”, but on entering layer {layer} its vector is replaced by that of “{old}”. Before that layer nothing differs from the changed sentence.",
    isTail: "The patch is on the last token, from which the prediction comes.",
    sink: "without the first token", change: "only what changes", beside: "beside the other",
    find: "Measure", none: "nothing", first: "how much it looks at the first token", before: "how much it looks at the token before",
    induction: "how much it looks at what followed (induction)", differs: "how much it looks elsewhere than it did",
    found: "The six largest:", scored: "{name}: {share}", nothing: "No token is repeated in this sentence.",
    uneven: "The two sentences do not have equally many tokens.",
    unchanged: "Choose a changed or a patched sentence to see what changes.",
    heads: "The 270 heads", name: "Layer {layer}, head {head}", layerShort: "layer", headShort: "head",
    axes: "Layers 1 to 30 downwards, from left to right; heads 1 to 9 across. Touch one.",
    lower: "previous {name}", higher: "next {name}",
    matrix: "Layer {layer}, head {head}", rows: "Each row is a query and sums to 1; each column is a key.",
    changes: "Each cell: the weight less that in the sentence as it stands. Blue is more, orange less.",
    query: "The query of {query} gives its largest weight to {keys}: {weight}.", gains: "The query of {query} gains most at {keys}: {weight}.",
    quoted: "“{token}”", and: "and",
    exercise: {
      title: "Exercise 4: up to which layer the news waits", check: "Check what the figure shows", solved: "Solved",
      text: "Two sentences differ in one word and have different answers. Carry the vector of that word from one to the other, and find the last layer on offer in which this is enough to change the answer. With the model in the page, do it with two sentences of your own, under “One vector”. Without the model, choose a stored sentence and mark in its table the last patch that is enough: the same model computed those patches beforehand.",
      verdicts: {
        right: "Correct: on entering layer {layer} the vector still carries the answer, and in the next one that can be chosen it does not.",
        unread: "A sentence has to be read first.", alone: "The second sentence is missing: the same one, with one word changed and as many tokens.",
        dare: "That is the pair of the dare. Write another one.", several: "Your sentences differ in several tokens. Change a single one, so that there is a single vector to carry.",
        same: "Both sentences have the same answer, “{one}”, so there is nothing to carry from one to the other. Change a word on which it depends.",
        unpatched: "There is no patch yet, or heads are switched off as well. Choose a layer for the vector of the changed word, and nothing else.",
        place: "You carried the vector of another word. The one that differs at first is that of “{word}”.",
        late: "With that patch the answer is that of the changed sentence: by that layer the news had gone over to another word. Try an earlier layer.",
        early: "That patch is enough, but so is one in the next layer that can be chosen. Go on towards the output.",
        never: "In this sentence no patch is enough: the news goes over to another word before layer 7. Choose another sentence.",
      },
    },
  },
};

const STEPS = 255; // A weight of 1 is stored as 255.
const DOT = 3; // A weight in the small maps is this many pixels wide.
const BLOCK = 5; // The maps are in blocks of this many layers, three beside each other on a wide page and two on a phone.
const DENSE = 9; // With more tokens the cells of the enlarged head are too small for numbers.
const MOST = 6; // The number of heads that are listed by a measure.

/** Unpack the stored data of a sentence. `at(version, layer, head)` returns the weights, row by row. */
export function unpack(stored) {
  const { tokens, shape: [nLayers, nHeads], from, weights } = stored;
  const nOf = (version) => tokens[version ? 1 : 0].length;
  const triangle = (version) => (nOf(version) * (nOf(version) + 1)) / 2;
  const starts = [0];
  from.forEach((first, version) => starts.push(starts.at(-1) + (nLayers - first) * nHeads * triangle(version)));
  if (weights.length !== starts.at(-1)) throw new Error(`weights: expected ${starts.at(-1)} bytes, got ${weights.length}`);
  const at = (version, layer, head) => {
    const kind = layer < from[version] ? 1 : version; // Layers before the patch have the weights of the changed sentence.
    const n = nOf(version);
    let place = starts[kind] + ((layer - from[kind]) * nHeads + head) * triangle(version);
    return Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (j > i ? 0 : weights[place++] / STEPS)));
  };
  return { ...stored, nOf, isEven: nOf(0) === nOf(1), nLayers, nHeads, at };
}

const average = (list) => list.reduce((total, x) => total + x, 0) / list.length;

/** Measures of what a head does, computed from its weights, the tokens, and its weights in the original sentence. */
export const MEASURES = {
  first: (weights) => average(weights.slice(1).map((row) => row[0])),
  before: (weights) => average(weights.slice(2).map((row, i) => row[i + 1])),
  /** The weight that a repeated token gives to the tokens after its earlier occurrences, averaged; null if no token is repeated. */
  induction(weights, tokens) {
    const found = weights.flatMap((row, i) => {
      const after = [...Array(i).keys()].filter((j) => tokens[j] === tokens[i]).map((j) => row[j + 1]);
      return after.length ? [after.reduce((total, w) => total + w, 0)] : [];
    });
    return found.length ? average(found) : null;
  },
  /** Half the sum of the absolute changes of the weights (the total variation distance), averaged over queries. */
  differs: (weights, _, old) => average(weights.map((row, i) => row.reduce((total, w, j) => total + Math.abs(w - old[i][j]), 0) / 2)),
};

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const live = announcer();
  const { tokens: given, weights: shownFirst } = model.get("example");
  const at = { name: model.get("sentence"), version: 0, layer: model.get("layer") - 1, head: model.get("head") - 1, row: given.length - 1 };
  let data = null;

  const quote = (token) => fill(t.quoted, { token: visible(token) });
  const tokensOf = (version) => (data ? data.tokens[version ? 1 : 0] : given);
  const tokensNow = () => tokensOf(at.version);
  const isOwn = () => own && at.name === OWN;
  const languageOf = () => (model.get("sentences").find(({ name }) => name === at.name) ?? {}).language;
  const joined = (side) => data.changed.map((i) => data.tokens[side][i]).join("").trim();
  const names = () => ({ old: joined(0), new: joined(1), layer: data.from[at.version] + 1 });
  const nameOf = (layer, head) => fill(t.name, { layer: layer + 1, head: head + 1 });
  const weightsOf = (layer, head, version = at.version) => (data ? data.at(version, layer, head) : shownFirst);
  const onlyChange = (version = at.version) => change.checked && version > 0 && data.isEven;
  /** The versions that are shown beside each other, or the only one. */
  const shownVersions = () => [at.version, ...(beside.checked && data?.from.length > 1 ? [at.version ? 0 : 1] : [])].sort();
  /** Return a head's weights, or their difference from the weights in the original sentence. */
  function shownOf(layer, head, version = at.version) {
    const weights = weightsOf(layer, head, version);
    if (!onlyChange(version)) return weights;
    const old = data.at(0, layer, head);
    return weights.map((row, i) => row.map((w, j) => w - old[i][j]));
  }

  // The sentence ------------------------------------------------------------------------------
  let mine = null; // The result of the model in the page for the reader's sentence.
  const pick = h("select", { id: uid(), class: "attn-live-input", "data-attn": "pick", onchange: () => (pick.value === OWN && mine ? showOwn() : read(pick.value)) },
    model.get("sentences").map(({ name, language: lang, text }) => h("option", { value: name, lang, selected: name === at.name }, text)));
  const text = h("p", { class: "attn-heads-text attn-all-text", "data-attn": "text" });
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const versions = h("div", { class: "attn-all-versions" });

  async function read(name) {
    const waiting = setTimeout(() => put(note, t.loading), 200);
    try {
      const stored = await loadModel(`attended_${name}`, model.get("trained")?.[name], unpack);
      take(name, stored.hand ? { ...stored, ...spoken(language, stored) } : stored, stored.hand ? stored.from.length - 1 : 0);
    } catch (error) {
      console.warn(error.message);
      put(note, t.failed);
      note.toggleAttribute("data-bad", true);
    }
    clearTimeout(waiting);
  }

  function take(name, given, version = 0) {
    const isOther = given.nOf(version) !== data?.nOf(at.version);
    data = given;
    at.name = name;
    at.version = version;
    if (isOther) at.row = data.nOf(version) - 1;
    if (!isOwn()) views.choose("heads");
    views.node.hidden = !isOwn();
    buildVersions();
    draw();
  }

  // The reader's own sentence -------------------------------------------------------------------
  const ownOption = [...pick.options].find(({ value }) => value === OWN) ?? h("option", { value: OWN }, t.own);
  const own = ownSentence(language, {
    nLayers: 30, nHeads: 9, search: model.get("address"), inductionOf,
    view: (name) => views.choose(name),
    head: (layer, head) => Object.assign(at, { layer, head }),
    beside: (isOn) => { beside.checked = isOn; },
    show(given) {
      mine = unpack(given);
      pick.append(ownOption);
      pick.value = OWN;
      showOwn();
    },
    gone() {
      ownOption.remove();
      mine = null;
      if (isOwn()) read(pick.value = model.get("sentences")[0].name);
    },
  });
  /** Show the last version: with the reader's interventions, if there are any. */
  function showOwn() { take(OWN, mine, mine.labels.length - 1); }

  const label = (i) => data.labels?.[i] ?? fill(i === 0 ? t.clean : i === 1 ? t.exchanged : t.patched, { ...names(), layer: data.from[i] + 1 });
  function buildVersions() {
    const group = uid();
    const caption = h("caption", { class: "attn-w-label" }, t.version);
    const lines = data.probabilities.map((row, i) => h("tr", {},
      h("th", { scope: "row" }, h("label", { class: "attn-w-choice" }, h("input", {
        type: "radio", name: group, value: i, checked: i === at.version, "data-attn": "version",
        onchange: () => { at.version = i; draw(); live.say(`${label(i)}. ${note.textContent}`); },
      }), h("span", {}, label(i)))),
      row.map((p) => h("td", { "data-attn": "next", "data-deep": p > 0.757, style: `background-color:rgb(var(--attn-heat) / ${p})` }, format(p)))));
    versions.toggleAttribute("data-few", lines.length < 4);
    versions.replaceChildren(scroller(t.version, h("table", { class: "attn-w-table attn-all-table" }, caption,
      h("thead", {}, h("tr", {}, h("td", {}, h("span", { class: "attn-w-label" }, t.reads)),
        data.next.map((token) => h("th", { scope: "col", lang: languageOf() }, quote(token))))),
      h("tbody", {}, lines))));
  }

  // The small maps ----------------------------------------------------------------------------
  const control = (name, act) => h("input", { type: "checkbox", role: "switch", "data-attn": name, onchange: act });
  const sink = control("sink", () => draw());
  const change = control("change", () => draw());
  const beside = control("beside", () => {
    own?.placed(beside.checked);
    draw();
  });
  const [nLayers, nHeads] = [30, 9];
  const placeOf = (i) => [Math.floor(i / nHeads), i % nHeads];
  /** The small maps of all heads in one version: { node, name, grid, tiles, focusTile }. `hook` is the name of a map for tests. */
  function atlas(hook) {
    const tiles = Array.from({ length: nLayers * nHeads }, (_, i) => {
      const [layer, head] = placeOf(i);
      const place = `--x:${head / (nHeads - 1)};--y:${layer / (nLayers - 1)}`;
      return h("button", {
        type: "button", class: "attn-all-tile", style: place, "data-attn": hook, "data-layer": layer, "data-head": head, onclick: () => select(layer, head),
      }, h("i", {}), h("i", {}));
    });
    const block = (first) => h("div", { class: "attn-all-block" },
      Array.from({ length: nHeads + 1 }, (_, head) => h("span", { class: "attn-w-label", "aria-hidden": "true" }, head || "")),
      Array.from({ length: BLOCK }, (_, k) => [
        h("span", { class: "attn-w-label", "aria-hidden": "true" }, first + k + 1), tiles.slice((first + k) * nHeads, (first + k + 1) * nHeads)]));
    const grid = h("div", { class: "attn-all-grid", role: "group", "aria-label": t.heads },
      Array.from({ length: nLayers / BLOCK }, (_, i) => block(i * BLOCK)));
    const name = h("p", { class: "attn-w-label", hidden: true, "data-attn": `${hook}-version` });
    return { node: h("div", {}, name, grid), name, grid, tiles, focusTile: roving(tiles, (i) => select(...placeOf(i)), () => nHeads) };
  }
  const atlases = [atlas("head"), atlas("head-beside")];
  const [{ tiles }] = atlases;
  atlases[1].node.hidden = true;
  const shelf = h("div", { class: "attn-all-shelf" }, atlases.map(({ node }) => node));

  /** Draw all heads into one image whose opacity is the weight: the tiles show it as a mask, in a colour of the page. */
  function sheets(grid, version) {
    const n = data.nOf(version);
    const canvas = ["more", "less"].map(() => Object.assign(document.createElement("canvas"), { width: nHeads * n * DOT, height: nLayers * n * DOT }));
    const pens = canvas.map((one) => one.getContext("2d"));
    const from = sink.checked ? 1 : 0;
    const all = tiles.map((_, i) => shownOf(...placeOf(i), version).map((row) => row.fill(0, 0, from)));
    const tops = all.map((weights) => Math.max(0.1, ...weights.flat().map(Math.abs)));
    const most = Math.max(...tops); // Changes are small, so they are drawn as square roots, relative to the largest change of all heads.
    all.forEach((weights, head) => weights.forEach((row, i) => row.forEach((w, j) => {
      if (Math.abs(w) < 0.01) return;
      const share = onlyChange(version) ? Math.sqrt(Math.abs(w) / most) : Math.abs(w) / (from ? tops[head] : 1);
      const pen = pens[w < 0 ? 1 : 0];
      pen.fillStyle = `rgb(0 0 0 / ${share.toFixed(3)})`;
      pen.fillRect(((head % nHeads) * n + j) * DOT, (Math.floor(head / nHeads) * n + i) * DOT, DOT, DOT);
    })));
    ["more", "less"].forEach((name, i) => grid.style.setProperty(`--${name}`, i && !onlyChange(version) ? "none" : `url(${canvas[i].toDataURL()})`));
    grid.toggleAttribute("data-less", onlyChange(version));
  }

  // One head, enlarged ------------------------------------------------------------------------
  const step = (hook, label, sign, layers, heads) => h("button", {
    type: "button", class: "attn-w-button", "data-attn": hook, "aria-label": label,
    onclick: () => select((at.layer + layers + nLayers) % nLayers, (at.head + heads + nHeads) % nHeads),
  }, sign);
  // The maps are smaller than a fingertip on a phone, where these buttons move to the neighbours.
  const steps = [["layer", t.layerShort, 1, 0], ["head", t.headShort, 0, 1]].map(([hook, name, layers, heads]) => h("span", { class: "attn-all-step" },
    step(`less-${hook}`, fill(t.lower, { name }), "−", -layers, -heads), name, step(`more-${hook}`, fill(t.higher, { name }), "+", layers, heads)));
  const title = h("b", { id: uid() });
  const toggle = h("button", { type: "button", class: "attn-w-button", "data-attn": "toggle-head", hidden: true, onclick: () => own.toggle(at.layer, at.head) });
  const keep = h("button", { type: "button", class: "attn-w-button", "data-attn": "keep-head", hidden: true, onclick: () => own.keep(at.layer, at.head) });
  const matrices = h("div", { class: "attn-all-pair" });
  const said = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const legend = h("p", { class: "attn-w-label" });
  const switches = h("div", { class: "attn-w-controls" }, [[sink, t.sink], [change, t.change], [beside, t.beside]].map(([input, name]) => h("label", { class: "attn-w-choice" }, input, name)));
  const big = h("div", { class: "attn-heads-big" }, h("div", { class: "attn-all-title" }, title, h("span", { class: "attn-all-switches" }, toggle, keep), h("span", { class: "attn-all-steps" }, steps)), matrices, said, legend);
  function select(layer, head) {
    Object.assign(at, { layer, head });
    own?.chose(layer, head);
    mark();
    live.say(`${nameOf(layer, head)}. ${summary()}`);
  }
  function summary() {
    const tokens = tokensNow();
    const row = shownOf(at.layer, at.head)[at.row].slice(0, at.row + 1);
    const places = largest(sink.checked && row.length > 1 ? [-1, ...row.slice(1)] : row);
    return fill(onlyChange() ? t.gains : t.query, {
      query: quote(tokens[at.row]), keys: list(places.map((j) => quote(tokens[j])), t.and), weight: format(row[places[0]]),
    });
  }
  function choose(row) {
    at.row = row;
    for (const line of matrices.querySelectorAll("tbody tr")) {
      const isShown = Number(line.dataset.row) === row;
      line.toggleAttribute("data-shown", isShown);
      const button = line.querySelector("button");
      button.setAttribute("aria-pressed", String(isShown));
      button.tabIndex = isShown ? 0 : -1;
    }
    put(said, summary());
    live.say(said.textContent);
  }
  function matrix(version) {
    const tokens = tokensOf(version);
    const weights = shownOf(at.layer, at.head, version);
    const lang = languageOf();
    const current = Math.min(at.row, tokens.length - 1);
    const buttons = tokens.map((token, i) => h("button", { type: "button", "aria-pressed": String(i === at.row), lang, class: "attn-w-query", "data-attn": "row", onclick: () => choose(i) }, visible(token)));
    roving(buttons, choose)(current);
    const cell = (w, i, j) => {
      const colour = w < 0 ? `color-mix(in srgb, var(--attn-key) ${(-55 * w).toFixed(1)}%, transparent)` : `rgb(var(--attn-heat) / ${w.toFixed(3)})`;
      const grey = sink.checked && j === 0;
      const written = Math.abs(w) < 0.005 ? "0" : formatBrief(Math.abs(w)).replace("1.00", "1");
      return h("td", {
        "data-attn": "weight", "data-weight": w, "data-deep": !grey && w > 0.757, "data-out": grey,
        style: grey ? null : `background-color:${colour}`,
      }, j > i ? null : h("span", { "data-none": Math.abs(w) < 0.005 }, w < 0 && written !== "0" ? `−${written}` : written));
    };
    const lines = weights.map((row, i) => h("tr", { onclick: () => choose(i), "data-row": i, "data-shown": i === at.row },
      h("th", { scope: "row" }, buttons[i]), row.map((w, j) => cell(w, i, j))));
    const table = h("table", {
      class: "attn-w-table attn-explorer-heat attn-heads-heat attn-all-heat", "data-upright": true, "aria-labelledby": title.id, "data-size": "small", "data-dense": tokens.length > DENSE,
    }, h("thead", {}, h("tr", {}, h("td", {}), tokens.map((token) => h("th", { scope: "col", class: "attn-w-key", lang }, h("span", {}, visible(token)))))),
    h("tbody", {}, lines));
    return scroller(title.textContent, table);
  }
  function enlarge() {
    put(title, nameOf(at.layer, at.head));
    matrices.replaceChildren(...shownVersions().map(matrix));
    put(said, summary());
    put(legend, onlyChange() ? t.changes : t.rows);
    toggle.hidden = keep.hidden = !isOwn();
    if (isOwn()) own.labels(at.layer, at.head).forEach((name, i) => put([toggle, keep][i], name));
  }

  // Measuring every head -------------------------------------------------------------------------
  const found = h("p", { class: "attn-all-found", "data-attn": "found" });
  const measure = h("select", { id: uid(), class: "attn-live-input", "data-attn": "measure", onchange: () => { score(); live.say(found.textContent); } },
    h("option", { value: "" }, t.none), Object.keys(MEASURES).map((name) => h("option", { value: name }, t[name])));
  const measured = (name, version) => tiles.map((_, i) => MEASURES[name](weightsOf(...placeOf(i), version), tokensOf(version), weightsOf(...placeOf(i), 0)));
  /** The induction score of every head on the reader's unchanged sentence. */
  function inductionOf(given) {
    const read = unpack(given);
    return tiles.map((_, i) => MEASURES.induction(read.at(0, ...placeOf(i)), read.tokens[0]));
  }
  function score() {
    const name = measure.value;
    const isUneven = name === "differs" && data && !data.isEven;
    const sharesOf = (version) => (name && data && !isUneven ? measured(name, version) : []);
    const shares = sharesOf(at.version);
    const best = [...shares.keys()].filter((i) => shares[i] > 0).sort((i, j) => shares[j] - shares[i]).slice(0, MOST);
    shownVersions().forEach((version, k) => {
      const its = version === at.version ? shares : sharesOf(version);
      atlases[k].tiles.forEach((tile, i) => {
        const name = nameOf(...placeOf(i));
        tile.setAttribute("aria-label", its[i] == null ? name : fill(t.scored, { name, share: format(its[i]) }));
        tile.style.setProperty("--share", its[i] ?? 0);
      });
      atlases[k].grid.toggleAttribute("data-scored", its.some((share) => share > 0));
    });
    if (!best.length) return put(found, isUneven ? t.uneven : !name ? t.axes : name === "differs" ? t.unchanged : t.nothing);
    found.replaceChildren(t.found, ...best.map((i) => h("button", {
      type: "button", class: "attn-all-best", "data-attn": "best", onclick: () => select(...placeOf(i)),
    }, `${placeOf(i).map((n) => n + 1).join("·")} `, h("small", {}, formatBrief(shares[i])))));
    return undefined;
  }

  function mark() {
    const shown = shownVersions();
    atlases.forEach((one, k) => {
      // If two versions are shown, heads are off only in the last one, the reader's.
      const isHand = isOwn() && (shown.length === 1 || shown[k] === data.from.length - 1);
      one.tiles.forEach((tile, i) => {
        tile.setAttribute("aria-pressed", String(i === at.layer * nHeads + at.head));
        tile.toggleAttribute("data-off", Boolean(isHand && own.isOff(...placeOf(i))));
      });
      one.focusTile(at.layer * nHeads + at.head);
    });
    enlarge();
  }
  function draw() {
    const changed = new Set(data?.changed);
    const tokens = tokensNow();
    text.lang = languageOf();
    text.replaceChildren(...tokens.map((token, i) => (at.version && changed.has(i) ? [token.startsWith(" ") ? " " : "", h("mark", { "data-attn": "changed" }, token.trim())] : token)).flat());
    change.disabled = !at.version || !data.isEven;
    at.row = Math.min(at.row, tokens.length - 1);
    beside.disabled = !(data?.from.length > 1);
    note.removeAttribute("data-bad");
    if (data) {
      const tail = at.version > 1 && changed.has(data.nOf(1) - 1) ? ` ${t.isTail}` : "";
      put(note, data.notes?.[at.version] ?? fill([t.asItIs, t.isExchanged][at.version] ?? t.isPatched, names()) + tail);
      const shown = shownVersions();
      shelf.toggleAttribute("data-two", shown.length > 1);
      atlases.forEach(({ node, name, grid }, k) => {
        node.hidden = k >= shown.length;
        if (node.hidden) return;
        sheets(grid, shown[k]);
        name.hidden = shown.length === 1;
        put(name, label(shown[k]));
        grid.setAttribute("aria-label", shown.length > 1 ? `${t.heads}: ${label(shown[k])}` : t.heads);
      });
    }
    score();
    mark();
    if (isOwn()) own.drawn(at.version);
  }

  const maps = h("div", { class: "attn-all-maps" },
    h("div", { class: "attn-all-measure" }, h("label", { for: measure.id, class: "attn-w-label" }, t.find), measure, found), shelf, switches);
  /** Judge the stored patch that is chosen, or the reader's own patch. */
  function judge() {
    if (isOwn()) return own.boundary();
    if (!data) return ["unread"];
    const isEnough = (version) => data.probabilities[version]?.[0] > data.probabilities[version]?.[1];
    if (at.version < 2) return ["unpatched"];
    if (!data.from.some((_, version) => version > 1 && isEnough(version))) return ["never"];
    return isEnough(at.version) ? [isEnough(at.version + 1) ? "early" : "right", names()] : ["late"];
  }
  const views = ownViews(language, { heads: [maps, big], ...own?.panels }, (name) => own?.viewed(name));
  views.node.hidden = true;
  el.append(h("div", { class: "attn-w attn-heads attn-all", lang: language, role: "group", "aria-label": t.title, "data-attn": "head-explorer" },
    h("div", { class: "attn-live-form" }, h("label", { for: pick.id, class: "attn-w-label" }, t.sentence), pick), own?.form ?? [], text, views.node, own?.strip ?? [],
    h("div", { class: "attn-all-stage" }, maps, h("div", { class: "attn-all-panel" }, big, Object.values(own?.panels ?? {})), h("div", {}, versions, note)),
    live.node, figureExercise("carried_vector", t.exercise, judge), own ? own.offer : []));
  draw();
  // The data are loaded when the figure comes onto the screen, so that a reader who never sees it does not pay for it.
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watcher.disconnect();
    if (at.name !== OWN || model.get("trained")?.[OWN]) read(at.name);
  });
  watcher.observe(el);
  return () => {
    watcher.disconnect();
    own?.leave();
  };
}

export default { render };
