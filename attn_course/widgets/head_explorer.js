// Shows every head of a pretrained model on stored sentences: the original, a changed one, and a patched run.
import { announcer, fill, format, formatBrief, h, largest, list, put, roving, scroller, uid, visible } from "./shared.js";
import { loadModel } from "./loading.js";
import { OWN, ownSentence } from "./own_sentence.js";

export const STRINGS = {
  es: {
    title: "Explorador de cabezas", sentence: "Oración", own: "Una oración tuya", loading: "Se cargan las cabezas…",
    failed: "Los pesos no llegaron: faltan sus archivos junto a esta página.",
    version: "Qué se lee, y con qué probabilidad viene después cada token", reads: "Se lee",
    clean: "La oración tal cual", exchanged: "Con «{new}» por «{old}»", patched: "Parche, capa {layer}",
    asItIs: "La oración tal cual.", isExchanged: "Se cambió «{old}» por «{new}».",
    isPatched: "Se lee «{new}», pero al entrar en la capa {layer} su vector se cambia por el de «{old}». Antes de esa capa nada es distinto de la oración cambiada.",
    isTail: "El parche va en el último token, del que sale la predicción.",
    sink: "sin el primer token", change: "solo lo que cambia", find: "Busca la cabeza que más mira",
    first: "al primer token", before: "al token anterior", induction: "a lo que siguió", differs: "otra cosa que antes",
    found: "Capa {layer}, cabeza {head}: {share} de media.", nothing: "En esta oración no se repite ningún token.",
    unchanged: "Elige una oración cambiada o con parche para ver qué cambia.",
    heads: "Las 270 cabezas", name: "Capa {layer}, cabeza {head}", layerShort: "capa", headShort: "cabeza",
    matrix: "Capa {layer}, cabeza {head}", rows: "Cada fila es una query y suma 1; cada columna, una key.",
    changes: "Cada casilla: el peso menos el que había en la oración tal cual. Azul, más; naranja, menos.",
    query: "La query de {query} da su mayor peso a {keys}: {weight}.", gains: "La query de {query} gana más en {keys}: {weight}.",
    quoted: "«{token}»", and: "y",
  },
  en: {
    title: "Head explorer", sentence: "Sentence", own: "A sentence of your own", loading: "The heads are loading…",
    failed: "The weights did not arrive: their files are not beside this page.",
    version: "What is read, and how probable each token is to come next", reads: "It reads",
    clean: "The sentence as it stands", exchanged: "With “{new}” for “{old}”", patched: "Patched, layer {layer}",
    asItIs: "The sentence as it stands.", isExchanged: "“{old}” was exchanged for “{new}”.",
    isPatched: "It reads “{new}”, but on entering layer {layer} its vector is replaced by that of “{old}”. Before that layer nothing differs from the changed sentence.",
    isTail: "The patch is on the last token, from which the prediction comes.",
    sink: "without the first token", change: "only what changes", find: "Find the head that looks most",
    first: "at the first token", before: "at the token before", induction: "at what followed", differs: "elsewhere than it did",
    found: "Layer {layer}, head {head}: {share} on average.", nothing: "No token is repeated in this sentence.",
    unchanged: "Choose a changed or a patched sentence to see what changes.",
    heads: "The 270 heads", name: "Layer {layer}, head {head}", layerShort: "layer", headShort: "head",
    matrix: "Layer {layer}, head {head}", rows: "Each row is a query and sums to 1; each column is a key.",
    changes: "Each cell: the weight less that in the sentence as it stands. Blue is more, orange less.",
    query: "The query of {query} gives its largest weight to {keys}: {weight}.", gains: "The query of {query} gains most at {keys}: {weight}.",
    quoted: "“{token}”", and: "and",
  },
};

const STEPS = 255; // A weight of 1 is stored as 255.
const DOT = 3; // A weight in the small maps is this many pixels wide.

/** Unpack the stored data of a sentence. `at(version, layer, head)` returns the weights, row by row. */
export function unpack(stored) {
  const { tokens, shape: [nLayers, nHeads], from, weights } = stored;
  const n = tokens[0].length;
  const triangle = (n * (n + 1)) / 2;
  const starts = [0];
  for (const first of from) starts.push(starts.at(-1) + (nLayers - first) * nHeads * triangle);
  if (weights.length !== starts.at(-1)) throw new Error(`weights: expected ${starts.at(-1)} bytes, got ${weights.length}`);
  const at = (version, layer, head) => {
    const kind = layer < from[version] ? 1 : version; // Layers before the patch have the weights of the changed sentence.
    let place = starts[kind] + ((layer - from[kind]) * nHeads + head) * triangle;
    return Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (_, j) => (j > i ? 0 : weights[place++] / STEPS)));
  };
  return { ...stored, n, nLayers, nHeads, at };
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
  const tokensNow = () => (data ? data.tokens[at.version ? 1 : 0] : given);
  const isOwn = () => at.name === OWN;
  const languageOf = () => (model.get("sentences").find(({ name }) => name === at.name) ?? {}).language;
  const joined = (side) => data.changed.map((i) => data.tokens[side][i]).join("").trim();
  const names = () => ({ old: joined(0), new: joined(1), layer: data.from[at.version] + 1 });
  const weightsOf = (layer, head) => (data ? data.at(at.version, layer, head) : shownFirst);
  /** Return a head's weights, or their difference from the weights in the original sentence. */
  function shownOf(layer, head) {
    const weights = weightsOf(layer, head);
    if (!onlyChange()) return weights;
    const old = data.at(0, layer, head);
    return weights.map((row, i) => row.map((w, j) => w - old[i][j]));
  }
  const onlyChange = () => change.checked && at.version > 0;

  // The sentence ------------------------------------------------------------------------------
  let mine = null; // What the model in the page read of the reader's sentence.
  const pick = h("select", { id: uid(), class: "attn-live-input", "data-attn": "pick", onchange: () => (pick.value === OWN ? showOwn() : read(pick.value)) },
    model.get("sentences").map(({ name, language: lang, text }) => h("option", { value: name, lang, selected: name === at.name }, text)));
  const text = h("p", { class: "attn-heads-text attn-all-text", "data-attn": "text" });
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const versions = h("div", { class: "attn-all-versions" });

  async function read(name) {
    const waiting = setTimeout(() => put(note, t.loading), 200);
    try {
      const stored = await loadModel(`attended_${name}`, model.get("trained")?.[name], unpack);
      take(name, stored);
    } catch (error) {
      console.warn(error.message);
      put(note, t.failed);
      note.toggleAttribute("data-bad", true);
    }
    clearTimeout(waiting);
  }

  function take(name, given, version = 0) {
    const longer = given.n !== data?.n;
    data = given;
    at.name = name;
    at.version = version;
    put(found, "");
    if (longer) at.row = data.n - 1;
    buildVersions();
    draw();
  }

  // The reader's own sentence -------------------------------------------------------------------
  const ownOption = h("option", { value: OWN }, t.own);
  const own = ownSentence(language, {
    nLayers: 30, nHeads: 9,
    show(given) {
      mine = unpack(given);
      pick.append(ownOption);
      pick.value = OWN;
      showOwn();
    },
    gone() {
      ownOption.remove();
      mine = null;
      if (isOwn()) read(pick.value = model.get("sentence"));
    },
  });
  /** Show the last version: that of the reader's hand, if there is one. */
  function showOwn() { take(OWN, mine, mine.labels.length - 1); }

  function buildVersions() {
    const group = uid();
    const label = (i) => data.labels?.[i] ?? fill(i === 0 ? t.clean : i === 1 ? t.exchanged : t.patched, { ...names(), layer: data.from[i] + 1 });
    const caption = h("caption", { class: "attn-w-label" }, t.version);
    const lines = data.probabilities.map((row, i) => h("tr", {},
      h("th", { scope: "row" }, h("label", { class: "attn-w-choice" }, h("input", {
        type: "radio", name: group, value: i, checked: i === at.version, "data-attn": "version",
        onchange: () => { at.version = i; put(found, ""); draw(); live.say(`${label(i)}. ${note.textContent}`); },
      }), h("span", {}, label(i)))),
      row.map((p) => h("td", { "data-attn": "next", "data-deep": p > 0.757, style: `background-color:rgb(var(--attn-heat) / ${p})` }, format(p)))));
    versions.replaceChildren(scroller(t.version, h("table", { class: "attn-w-table attn-all-table" }, caption,
      h("thead", {}, h("tr", {}, h("td", {}, h("span", { class: "attn-w-label" }, t.reads)),
        data.next.map((token) => h("th", { scope: "col", lang: languageOf() }, quote(token))))),
      h("tbody", {}, lines))));
  }

  // The small maps ----------------------------------------------------------------------------
  const sink = h("input", { type: "checkbox", role: "switch", "data-attn": "sink", onchange: () => draw() });
  const change = h("input", { type: "checkbox", role: "switch", "data-attn": "change", onchange: () => draw() });
  const [nLayers, nHeads] = [30, 9];
  const tiles = Array.from({ length: nLayers * nHeads }, (_, i) => {
    const [layer, head] = [Math.floor(i / nHeads), i % nHeads];
    const place = `--x:${head / (nHeads - 1)};--y:${layer / (nLayers - 1)}`;
    return h("button", {
      type: "button", class: "attn-all-tile", style: place, "aria-label": fill(t.name, { layer: layer + 1, head: head + 1 }),
      "data-attn": "head", "data-layer": layer, "data-head": head, onclick: () => select(layer, head),
    }, h("i", {}), h("i", {}));
  });
  const focusTile = roving(tiles, (i) => select(Math.floor(i / nHeads), i % nHeads), () => nHeads);
  const block = (first, last) => h("div", { class: "attn-all-block" },
    h("span", { class: "attn-w-label attn-all-corner", "aria-hidden": "true" }, t.headShort),
    Array.from({ length: nHeads }, (_, head) => h("span", { class: "attn-w-label", "aria-hidden": "true" }, head + 1)),
    Array.from({ length: last - first }, (_, k) => [
      h("span", { class: "attn-w-label", "aria-hidden": "true" }, k ? first + k + 1 : `${t.layerShort} ${first + 1}`),
      tiles.slice((first + k) * nHeads, (first + k + 1) * nHeads)]));
  const grid = h("div", { class: "attn-all-grid" }, block(0, nLayers / 2), block(nLayers / 2, nLayers));
  const box = scroller(t.heads, grid);
  box.classList.add("attn-all-box");

  /** Draw all heads into one image whose opacity is the weight: the tiles show it as a mask, in a colour of the page. */
  function sheets() {
    const { n } = data;
    const canvas = ["more", "less"].map(() => Object.assign(document.createElement("canvas"), { width: nHeads * n * DOT, height: nLayers * n * DOT }));
    const pens = canvas.map((one) => one.getContext("2d"));
    const from = sink.checked ? 1 : 0;
    const all = tiles.map((_, i) => shownOf(Math.floor(i / nHeads), i % nHeads).map((row) => row.fill(0, 0, from)));
    const tops = all.map((weights) => Math.max(0.1, ...weights.flat().map(Math.abs)));
    const most = Math.max(...tops); // Changes are small, so the largest change of all heads is the darkest, and square roots are drawn.
    all.forEach((weights, head) => weights.forEach((row, i) => row.forEach((w, j) => {
      if (Math.abs(w) < 0.01) return;
      const share = onlyChange() ? Math.sqrt(Math.abs(w) / most) : Math.abs(w) / (from ? tops[head] : 1);
      const pen = pens[w < 0 ? 1 : 0];
      pen.fillStyle = `rgb(0 0 0 / ${share.toFixed(3)})`;
      pen.fillRect(((head % nHeads) * n + j) * DOT, (Math.floor(head / nHeads) * n + i) * DOT, DOT, DOT);
    })));
    ["more", "less"].forEach((name, i) => grid.style.setProperty(`--${name}`, i && !onlyChange() ? "none" : `url(${canvas[i].toDataURL()})`));
    grid.toggleAttribute("data-less", onlyChange());
  }

  // One head, enlarged ------------------------------------------------------------------------
  const big = h("div", { class: "attn-heads-big" });
  function select(layer, head) {
    Object.assign(at, { layer, head });
    mark();
    live.say(`${fill(t.name, { layer: layer + 1, head: head + 1 })}. ${summary()}`);
  }
  function summary() {
    const tokens = tokensNow();
    const row = shownOf(at.layer, at.head)[at.row].slice(0, at.row + 1);
    const places = largest(sink.checked && row.length > 1 ? [-1, ...row.slice(1)] : row);
    return fill(onlyChange() ? t.gains : t.query, {
      query: quote(tokens[at.row]), keys: list(places.map((j) => quote(tokens[j])), t.and), weight: format(row[places[0]]),
    });
  }
  function enlarge() {
    const tokens = tokensNow();
    const weights = shownOf(at.layer, at.head);
    const lang = languageOf();
    const buttons = tokens.map((token, i) => h("button", { type: "button", "aria-pressed": String(i === at.row), lang, class: "attn-w-query", "data-attn": "row", onclick: () => choose(i) }, visible(token)));
    roving(buttons, choose)(at.row);
    const title = h("b", { id: uid() }, fill(t.matrix, { layer: at.layer + 1, head: at.head + 1 }));
    const said = h("p", { class: "attn-w-summary", "data-attn": "summary" }, summary());
    const cell = (w, i, j) => {
      const colour = w < 0 ? `color-mix(in srgb, var(--attn-key) ${(-55 * w).toFixed(1)}%, transparent)` : `rgb(var(--attn-heat) / ${w.toFixed(3)})`;
      const grey = sink.checked && j === 0;
      const written = Math.abs(w) < 0.005 ? "0" : formatBrief(Math.abs(w)).replace("1.00", "1");
      return h("td", {
        "data-attn": "weight", "data-weight": w, "data-deep": !grey && w > 0.757, "data-out": grey,
        style: grey ? null : `background-color:${colour}`,
      }, j > i ? null : h("span", { "data-none": Math.abs(w) < 0.005 }, w < 0 && written !== "0" ? `−${written}` : written));
    };
    const lines = weights.map((row, i) => h("tr", { onclick: () => choose(i), "data-shown": i === at.row },
      h("th", { scope: "row" }, buttons[i]), row.map((w, j) => cell(w, i, j))));
    function choose(i) {
      at.row = i;
      buttons.forEach((button, k) => {
        button.setAttribute("aria-pressed", String(k === i));
        button.tabIndex = k === i ? 0 : -1;
        lines[k].toggleAttribute("data-shown", k === i);
      });
      put(said, summary());
      live.say(said.textContent);
    }
    const table = h("table", { class: "attn-w-table attn-explorer-heat attn-heads-heat attn-all-heat", "data-upright": true, "aria-labelledby": title.id, "data-size": "small" },
      h("thead", {}, h("tr", {}, h("td", {}), tokens.map((token) => h("th", { scope: "col", class: "attn-w-key", lang }, h("span", {}, visible(token)))))),
      h("tbody", {}, lines));
    const toggle = isOwn() && h("button", {
      type: "button", class: "attn-w-button", "data-attn": "toggle-head", onclick: () => own.toggle(at.layer, at.head),
    }, own.toggleLabel(at.layer, at.head));
    const answer = h("span", { class: "attn-w-label", role: "status", "data-attn": "answer" }, isOwn() ? own.answer() : "");
    big.replaceChildren(h("p", {}, title, toggle ? [" ", toggle, " ", answer] : null), scroller(title.textContent, table), said,
      h("p", { class: "attn-w-label" }, onlyChange() ? t.changes : t.rows));
  }

  // Finding a head -------------------------------------------------------------------------------
  const found = h("p", { class: "attn-live-note", "data-attn": "found" });
  const finders = h("div", { class: "attn-all-find", role: "group", "aria-label": t.find },
    h("span", { class: "attn-w-label" }, t.find), Object.keys(MEASURES).map((name) => h("button", {
      type: "button", class: "attn-w-button", "data-attn": "find", "data-measure": name, onclick: () => seek(name),
    }, t[name])));
  function seek(name) {
    if (!data) return;
    let best = null;
    for (let layer = 0; layer < nLayers; layer++) {
      for (let head = 0; head < nHeads; head++) {
        const share = MEASURES[name](weightsOf(layer, head), tokensNow(), data.at(0, layer, head));
        if (share !== null && share > (best?.share ?? 0)) best = { layer, head, share };
      }
    }
    if (best) {
      Object.assign(at, { layer: best.layer, head: best.head });
      mark();
      tiles[at.layer * nHeads + at.head].scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    put(found, best ? fill(t.found, { layer: best.layer + 1, head: best.head + 1, share: format(best.share) }) : name === "differs" ? t.unchanged : t.nothing);
    live.say(`${found.textContent} ${best ? summary() : ""}`);
  }

  function mark() {
    tiles.forEach((tile, i) => {
      tile.setAttribute("aria-pressed", String(i === at.layer * nHeads + at.head));
      tile.toggleAttribute("data-off", isOwn() && own.isOff(Math.floor(i / nHeads), i % nHeads));
    });
    focusTile(at.layer * nHeads + at.head);
    enlarge();
  }
  function draw() {
    const changed = new Set(data?.changed);
    const tokens = tokensNow();
    text.lang = languageOf();
    text.replaceChildren(...tokens.map((token, i) => (at.version && changed.has(i) ? [token.startsWith(" ") ? " " : "", h("mark", { "data-attn": "changed" }, token.trim())] : token)).flat());
    change.disabled = !at.version;
    note.removeAttribute("data-bad");
    if (data) {
      const tail = at.version > 1 && changed.has(data.n - 1) ? ` ${t.isTail}` : "";
      put(note, data.notes?.[at.version] ?? fill([t.asItIs, t.isExchanged][at.version] ?? t.isPatched, names()) + tail);
      sheets();
    }
    mark();
  }

  el.append(h("div", { class: "attn-w attn-heads attn-all", lang: language, role: "group", "aria-label": t.title, "data-attn": "head-explorer" },
    h("div", { class: "attn-live-form" }, h("label", { for: pick.id, class: "attn-w-label" }, t.sentence), pick), own?.form ?? [], text, box,
    h("div", { class: "attn-w-controls" }, [[sink, t.sink], [change, t.change]].map(([input, name]) => h("label", { class: "attn-w-choice" }, input, name))),
    big, versions, note, own?.grid ?? [], finders, found, live.node, own ? [own.tasks, own.offer] : []));
  draw();
  // The data are loaded when the figure comes onto the screen, so that a reader who never sees it does not pay for it.
  const watcher = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watcher.disconnect();
    read(at.name);
  });
  watcher.observe(el);
  return () => {
    watcher.disconnect();
    own?.leave();
  };
}

export default { render };
