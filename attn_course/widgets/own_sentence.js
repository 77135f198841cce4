// A reader's own sentence in HeadExplorer: the language model reads it in the page, possibly beside
// a second one, and the reader switches heads off or patches one vector from one sentence into the
// other.
import { DARE_STRINGS, PRONOUNS, sixOf, standing } from "./dares.js";
import { pageModel } from "./language_model.js";
import { fill, format, h, put, rich, roving, scroller, uid, visible } from "./shared.js";

export const OWN_STRINGS = {
  es: {
    sentence: "Oración, que queda sin terminar", other: "Otra, o la misma con algo cambiado (si quieres)", read: "Leer",
    reading: "El modelo lee…", failed: "El modelo se detuvo: {why}", full: "La oración tiene {tokens} tokens, y aquí caben {most}.",
    empty: "Escribe antes una oración, aunque sea una palabra.", arrived: "La dirección de esta página trae una oración: aparecerá cuando llegue el modelo.", strange: "La dirección pide algo que aquí no hay, y se deja de lado.",
    unlike: "Tienen {one} y {two} tokens. Para llevar un vector harían falta tantos en una como en la otra.",
    same: "Las dos oraciones son iguales.", asItIs: "Tu oración", changed: "La otra", hand: "Con tu mano",
    isOwn: "Tu oración, tal cual.", isChanged: "La otra oración, tal cual.",
    isOff: "Apagadas: {heads}. Entregan ceros.", isKept: "De la capa {layer} queda solo la cabeza {head}: las demás entregan ceros.", isPatched: "Al entrar en la capa {layer}, el vector de «{token}» es el de la otra oración.", isPatchedLast: "Tras la última capa, el vector de «{token}» es el de la otra oración.",
    off: "Apagar esta cabeza", on: "Encender esta cabeza", keep: "Dejar solo esta en la capa {layer}", unkeep: "Encender las demás de la capa {layer}", next: "Sigue {after}.", now: "Ahora sigue {after}; sin tocar nada seguía {before}.", moved: "Ahora sigue {after}; sin tocar nada seguía {before}, que ahora tiene un {left}\u202f%.", token: "«{token}» ({share}\u202f%)", allOn: "Encender todas", name: "{layer}.{head}",
    grid: "Lleva un vector de tu oración a la otra", gridSaid: "Toca una casilla: al entrar en esa capa, el vector de esa palabra pasa a ser el que tenía en tu oración, y la respuesta cambia.",
    alone: "Escribe arriba una segunda oración, con algo cambiado y tantos tokens como la primera, y pulsa «Leer».", fillGrid: "Probar todas", filling: "Se prueban: {done} de {all}", filled: "El color dice qué parte del camino de «{two}» a «{one}» recorre la respuesta con ese solo vector.",
    layer: "capa {layer}", end: "salida", cell: "{token}, {layer}", cellShare: "{token}, {layer}: {share}", none: "Quitar el parche",
    share: "Copiar la dirección", shared: "La dirección está en el portapapeles.", unshared: "El navegador no deja copiar. La dirección está arriba, en su barra.",
    views: { heads: "Cabezas", carry: "Un vector", lens: "Capa a capa", dares: "Retos" }, view: "Qué hacer con la oración",
    lens: "Qué predeciría cada capa", lensSaid: "Se lee el vector de esta palabra al entrar en cada capa, como lo leería el final del modelo, y se cuenta en qué puesto queda cada respuesta.",
    lensOf: "palabra", says: "predice", rank: "puesto de {token}",
  },
  en: {
    sentence: "A sentence, left unfinished", other: "Another, or the same with something changed (if you like)", read: "Read",
    reading: "The model reads…", failed: "The model stopped: {why}", full: "The sentence has {tokens} tokens, and there is room for {most} here.",
    empty: "Write a sentence first, if only a word.", arrived: "The address of this page holds a sentence: it will appear when the model is here.", strange: "The address asks for something that is not here, which is left out.",
    unlike: "They have {one} and {two} tokens. To carry a vector they would need equally many.",
    same: "The two sentences are the same.", asItIs: "Your sentence", changed: "The other one", hand: "With your hand",
    isOwn: "Your sentence, as it is.", isChanged: "The other sentence, as it is.",
    isOff: "Switched off: {heads}. They hand over zeros.", isKept: "Of layer {layer} head {head} alone is left: the others hand over zeros.", isPatched: "On entering layer {layer}, the vector of “{token}” is that of the other sentence.", isPatchedLast: "After the last layer, the vector of “{token}” is that of the other sentence.",
    off: "Switch this head off", on: "Switch this head on", keep: "Keep only this one in layer {layer}", unkeep: "Switch on the others of layer {layer}", next: "Next is {after}.", now: "Now {after} is next; untouched it was {before}.", moved: "Now {after} is next; untouched it was {before}, which now has {left}%.", token: "“{token}” ({share}%)", allOn: "Switch all on", name: "{layer}.{head}",
    grid: "Carry a vector from your sentence to the other one", gridSaid: "Touch a cell: on entering that layer, the vector of that word becomes the one it had in your sentence, and the answer changes.",
    alone: "Write a second sentence above, with something changed and as many tokens as the first, and press “Read”.", fillGrid: "Try them all", filling: "Trying: {done} of {all}", filled: "The colour says how much of the way from “{two}” to “{one}” the answer goes with that single vector.",
    layer: "layer {layer}", end: "output", cell: "{token}, {layer}", cellShare: "{token}, {layer}: {share}", none: "Remove the patch",
    share: "Copy the address", shared: "The address is on the clipboard.", unshared: "The browser does not allow copying. The address stands above, in its bar.",
    views: { heads: "Heads", carry: "One vector", lens: "Layer by layer", dares: "Dares" }, view: "What to do with the sentence",
    lens: "What each layer would predict", lensSaid: "The vector of this word is read on entering each layer, as the end of the model would read it, and the rank of each answer is counted.",
    lensOf: "word", says: "predicts", rank: "rank of {token}",
  },
};

export const OWN = "own"; // The name of the reader's sentence among the stored ones.
const LETTERS = 200;
const EVERY = 3; // The grid has every third layer, because all layers are more than a screen.
const MOST_COLUMNS = 4;
const LATE = 25; // From this layer on the lens shows every layer, because the answers appear there.
const VIEWS = ["heads", "carry", "lens", "dares"];
const [SENTENCE, OTHER, OFF, KEEP, PATCH, HEAD, VIEW, BESIDE] = ["sentence", "other", "off", "keep", "patch", "head", "view", "beside"]; // The parameters of the URL's query string.

/** The positions in which two readings differ; none if they have different lengths, since no token has a partner then. */
const changedIn = (one, two) => (one.ids.length === two.ids.length ? one.ids.flatMap((id, i) => (id === two.ids[i] ? [] : [i])) : []);

/** What the figure shows of some readings, as `unpack` of head_explorer.js takes it. */
export function joined(readings, { nLayers, nHeads }) {
  const [clean, other] = [readings[0], readings[1] ?? readings[0]];
  const weights = new Uint8Array(readings.reduce((total, { weights: some }) => total + some.length, 0));
  let place = 0;
  for (const reading of readings) {
    weights.set(reading.weights, place);
    place += reading.weights.length;
  }
  // The columns are what each reading would write next: those of the first rank before others, and no more than four.
  const columns = new Map();
  for (const rank of [0, 1, 2]) {
    for (const { best } of readings) if (columns.size < MOST_COLUMNS && best[rank]) columns.set(best[rank].id, best[rank].text);
  }
  return {
    tokens: [clean.tokens, other.tokens], shape: [nLayers, nHeads], from: readings.map(() => 0), weights,
    changed: changedIn(clean, other),
    next: [...columns.values()], probabilities: readings.map(({ probabilities }) => [...columns.keys()].map((id) => probabilities[id])),
  };
}

const isIn = (pairs, layer, head) => pairs.some(([l, k]) => l === layer && k === head);

/** The heads of a layer but one, each [layer, head]. */
const othersOf = (layer, head, nHeads) => Array.from({ length: nHeads }, (_, k) => [layer, k]).filter(([, k]) => k !== head);

/** The heads that are the only active one of their layer, each [layer, head], if `off` are off. */
export function aloneIn(off, nHeads) {
  return [...new Set(off.map(([layer]) => layer))].flatMap((layer) => {
    const on = othersOf(layer, null, nHeads).filter(([, head]) => !isIn(off, layer, head));
    return on.length === 1 ? on : [];
  });
}

/** The labels and the notes of the versions of a sentence of the reader's: as it is, changed, and with the hand. */
export function spoken(language, { tokens, from, shape: [nLayers, nHeads], hand: { other, off, patch } }) {
  const t = OWN_STRINGS[language];
  const alone = aloneIn(off, nHeads);
  const shown = ([layer, head]) => ({ layer: layer + 1, head: head + 1 });
  const heads = off.filter(([layer]) => !alone.some(([l]) => l === layer)).map((pair) => fill(t.name, shown(pair))).join(", ");
  const done = [heads && fill(t.isOff, { heads }), ...alone.map((pair) => fill(t.isKept, shown(pair))), patch && fill(patch.layer < nLayers ? t.isPatched : t.isPatchedLast, {
    layer: patch.layer + 1, token: visible(tokens[1][patch.position]),
  })].filter(Boolean).join(" ");
  const kept = (list) => list.filter((_, i) => [true, other, done][i]).slice(0, from.length);
  return { labels: kept([t.asItIs, t.changed, t.hand]), notes: kept([t.isOwn, t.isChanged, done]) };
}

/** The state that a URL holds, as far as a model of that size has it; `isWhole` is whether that is all of it. */
export function stateIn(search, { nLayers, nHeads }) {
  const said = new URLSearchParams(search);
  let isWhole = true;
  const pairs = (name, most) => (said.get(name) ?? "").split("-").filter(Boolean).map((pair) => pair.split(".").map((n) => Number(n) - 1))
    .filter((pair) => {
      const isPair = pair.length === 2 && pair.every((n, i) => Number.isInteger(n) && n >= 0 && n < most[i]);
      isWhole &&= isPair;
      return isPair;
    });
  const text = (name) => {
    const found = said.get(name) ?? "";
    isWhole &&= found.length <= LETTERS;
    return found.slice(0, LETTERS);
  };
  const [patch] = pairs(PATCH, [nLayers + 1, LETTERS]); // The last one is what leaves the last layer.
  const alone = pairs(KEEP, [nLayers, nHeads]).filter(([layer], i, all) => {
    const isFirst = all.findIndex(([other]) => other === layer) === i; // Of one layer only one head can be left alone.
    isWhole &&= isFirst;
    return isFirst;
  });
  const kept = alone.flatMap(([layer, head]) => othersOf(layer, head, nHeads));
  const off = pairs(OFF, [nLayers, nHeads]).filter(([layer, head]) => !isIn(kept, layer, head)).concat(kept);
  const [head = null] = pairs(HEAD, [nLayers, nHeads]);
  const view = said.get(VIEW) ?? VIEWS[0];
  const beside = said.get(BESIDE);
  isWhole &&= VIEWS.includes(view) && [null, "yes"].includes(beside);
  return {
    text: text(SENTENCE), other: text(OTHER), off, patch: patch ? { layer: patch[0], position: patch[1] } : null,
    head, view: VIEWS.includes(view) ? view : VIEWS[0], beside: beside === "yes", isWhole,
  };
}

/** The URL of a state. If one head is the only active one of its layer, the URL names it instead of the others. */
export function addressOf(href, { text, other, off, patch, head, view, beside }, nHeads) {
  const url = new URL(href);
  const pairs = (list) => list.map((pair) => pair.map((n) => n + 1).join(".")).join("-");
  const alone = aloneIn(off, nHeads);
  const values = {
    [SENTENCE]: text, [OTHER]: other, [OFF]: pairs(off.filter(([layer]) => !alone.some(([l]) => l === layer))), [KEEP]: pairs(alone), [PATCH]: patch && pairs([[patch.layer, patch.position]]),
    [HEAD]: head && pairs([head]), [VIEW]: view !== VIEWS[0] && view, [BESIDE]: beside && "yes",
  };
  for (const [name, x] of Object.entries(values)) {
    if (x) url.searchParams.set(name, x);
    else url.searchParams.delete(name);
  }
  return url.href;
}

/** Tabs over the panels of the figure, of which one is open: { node, choose }. */
export function ownViews(language, panels, viewed) {
  const t = OWN_STRINGS[language];
  const nodesOf = (name) => [panels[name]].flat();
  const tabs = Object.keys(panels).map((name) => {
    const nodes = nodesOf(name);
    for (const node of nodes) node.id ||= uid();
    return h("button", {
      type: "button", role: "tab", id: uid(), "aria-controls": nodes.map(({ id }) => id).join(" "), "data-attn": "view", "data-view": name, onclick: () => choose(name, true),
    }, t.views[name]);
  });
  const names = Object.keys(panels);
  const focus = roving(tabs, (i) => choose(names[i], true));
  function choose(name, isHand = false) {
    names.forEach((other, i) => {
      tabs[i].setAttribute("aria-selected", String(other === name));
      for (const node of nodesOf(other)) node.hidden = other !== name;
    });
    focus(names.indexOf(name));
    if (isHand) viewed(name);
  }
  choose(names[0]);
  return { node: h("div", { class: "attn-explorer-tabs attn-sentence-views", role: "tablist", "aria-label": t.view }, tabs), choose };
}

/**
 * The parts of the figure, { offer, form, strip, panels }; the functions that switch heads, { toggle, keep, isOff,
 * labels }, each of (layer, head); the listeners of the figure, { chose, viewed, drawn, placed }, for a head, a panel
 * or a version that was chosen, and for two versions that were placed beside each other; and `boundary`, which judges
 * where the patch of the reader is. Null where no model is available.
 *
 * `show(read)` draws the readings, with the labels and the notes of their versions. `view` opens a panel, `head`
 * enlarges a head, and `beside` places two versions beside each other or not. `inductionOf(read)` measures all heads.
 * `gone` is called when the model is unloaded.
 */
export function ownSentence(language, { nLayers, nHeads, search = "", inductionOf, view, head: enlarge, beside: setBeside, show, gone }) {
  const t = OWN_STRINGS[language];
  const tDare = DARE_STRINGS[language];
  const here = globalThis.location?.search ?? "";
  const state = stateIn(new URLSearchParams(here).has(SENTENCE) ? here : search ?? "", { nLayers, nHeads });
  let readings = [];
  let shares = new Map();
  let dare = null;
  let six = [];
  const arrived = h("p", { class: "attn-live-note", "data-attn": "arrived" }, t.arrived);
  let touched = null; // The answer of the model after the reader's interventions.
  const living = pageModel(language, {
    ready() {
      arrived.remove();
      form.hidden = false;
      sentence.focus();
      if (sentence.value) submit(state);
    },
    gone() {
      form.hidden = strip.hidden = true;
      readings = [];
      gone();
    },
  });
  if (!living) return null;
  if (state.text) living.node.prepend(arrived);

  const field = (hook, text) => {
    const input = h("input", { id: uid(), type: "text", class: "attn-live-input", maxlength: LETTERS, autocomplete: "off", spellcheck: "false", "data-attn": hook });
    input.value = text;
    return [h("label", { for: input.id, class: "attn-w-label" }, t[hook]), input];
  };
  const [sentenceLabel, sentence] = field("sentence", state.text);
  const [otherLabel, other] = field("other", state.other);
  const note = h("p", { class: "attn-live-note", role: "status", "data-attn": "own-note" });
  const button = (hook, text, act) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: act }, text);
  const allOn = button("all-on", t.allOn, () => { state.off = []; act(); });
  const none = button("no-patch", t.none, () => { state.patch = null; act(); });
  const share = button("share", t.share, async () => {
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    put(note, copied ? t.shared : t.unshared);
  });
  for (const node of [allOn, none, share]) node.hidden = true;
  const form = h("form", {
    class: "attn-sentence", hidden: true, "data-attn": "own", onsubmit: (event) => { event.preventDefault(); submit(); },
  }, h("div", { class: "attn-sentence-fields" }, sentenceLabel, sentence, otherLabel, other,
    h("button", { type: "submit", class: "attn-w-button", "data-attn": "read" }, t.read)), note);

  // The dares, and what the model answers, beside whatever panel is open ------------------------------
  const answer = h("p", { role: "status", "data-attn": "answer" });
  const dared = h("p", { class: "attn-sentence-dare", hidden: true, "data-attn": "dared" });
  const strip = h("div", { class: "attn-sentence-strip", hidden: true }, dared, answer, h("div", {}, allOn, none, share));
  const dares = tDare.list.map((one, i) => ({ ...one, name: fill(tDare.dare, { n: i + 1 }), done: h("b", { "data-attn": "dare-done" }) }));
  const tasks = h("div", { "data-attn": "dares" }, h("p", {}, h("b", {}, tDare.dares)), h("ol", {}, dares.map((one) => h("li", {}, `${one.text} `, button("dare", tDare.tryIt, () => {
    [sentence.value, other.value] = [one.sentence, one.other];
    dare = one;
    open(one.view);
    submit();
  }), one.done, h("details", {}, h("summary", {}, tDare.answer), h("p", {}, one.answer))))));
  function judge(best) {
    dared.hidden = !dare;
    const now = { ...state, best: best?.text.trim(), chance: best?.p, six, chances: readings[0].chances };
    for (const one of dares) if (standing(one, now, tDare).isDone) put(one.done, tDare.done);
    if (!dare) return;
    const { isDone, told } = standing(dare, now, tDare);
    dared.replaceChildren(h("b", {}, `${dare.name} `), `${dare.text} `, h("b", { role: "status" }, ...isDone ? [tDare.done] : rich(told)));
  }

  /** Let the model read one text; the promise ends when it has, and never if another request came before. */
  const ask = (kind, request, answered) => new Promise((resolve) => {
    living.ask(kind, request, (data) => {
      if (data.kind === answered) resolve(data);
      else if (data.kind !== "reading") put(note, fill(t[data.kind], data));
    });
  });
  let isReading = false; // The lens would interrupt the model's reading, and is drawn after it anyway.
  async function look(request) {
    isReading = true;
    const read = await ask("look", { words: PRONOUNS, ...request }, "looked");
    isReading = false;
    return read;
  }
  /** Read the sentences of the form, with the heads and the patch of a URL if there are any. */
  async function submit({ off = [], patch = null, head = null, view: first = state.view, beside } = {}) {
    const [text, second] = [sentence.value, other.value].map((value) => value.trimEnd());
    if (!text.trim()) {
      put(note, t.empty);
      return sentence.focus();
    }
    put(note, t.reading);
    const found = [await look({ text })];
    if (second && second !== text) found.push(await look({ text: second }));
    const [one, two] = found.map(({ ids }) => ids.length);
    put(note, second === text ? t.same : found[1] && one !== two ? fill(t.unlike, { one, two }) : state.isWhole ? "" : t.strange);
    state.isWhole = true; // The message is shown once, for the URL with which the page was opened.
    readings = found;
    Object.assign(state, { text, other: found[1] ? second : "", off, patch: one === two && patch?.position < one ? patch : null, beside: Boolean(found[1]) && (beside ?? (state.beside || !state.other)) });
    setBeside(state.beside);
    shares = new Map();
    six = sixOf(inductionOf(joined(readings.slice(0, 1), { nLayers, nHeads })), nHeads);
    if (head) enlarge(...head);
    drawGrid();
    drawPlaces();
    view(first);
    return act();
  }
  const handOf = () => ({ off: state.off, patch: state.patch && { text: state.text, ...state.patch } });
  /** Read again with the heads that are off and the patched vector. */
  async function act() {
    const { other: second, off, patch } = state;
    const shown = readings.slice(0, second ? 2 : 1);
    const said = ({ best: [{ text: token, p }] }) => fill(t.token, { token: visible(token), share: format(100 * p, 0) });
    const isTouched = off.length > 0 || patch !== null;
    touched = null;
    if (isTouched) shown.push(touched = await look({ text: second || state.text, ...handOf() }));
    const [{ id }] = shown.at(isTouched ? -2 : -1).best;
    put(answer, fill(!isTouched ? t.next : touched.best[0].id === id ? t.now : t.moved, {
      after: said(shown.at(-1)), before: said(shown.at(isTouched ? -2 : -1)), left: format(100 * shown.at(-1).probabilities[id], 0),
    }));
    allOn.hidden = !off.length;
    none.hidden = !patch;
    strip.hidden = share.hidden = false;
    tell();
    const read = joined(shown, { nLayers, nHeads });
    show({ ...read, ...spoken(language, { ...read, hand: { other: second, off, patch } }) });
    cells.forEach((cell) => cell.node.setAttribute("aria-pressed", String(patch?.layer === cell.layer && patch.position === cell.position)));
    judge(touched?.best[0]);
  }
  /** Write the state into the URL, so that it can be shared. */
  function tell() {
    try { history.replaceState(history.state, "", addressOf(location.href, state, nHeads)); } catch { /* The address stays as it was. */ }
  }
  function open(name) {
    state.view = name;
    view(name);
  }
  const isEven = () => readings.length > 1 && readings[0].ids.length === readings[1].ids.length;
  const nameOf = (layer) => (layer < nLayers ? fill(t.layer, { layer: layer + 1 }) : t.end);

  // The grid ------------------------------------------------------------------------
  const gridBox = h("div", { class: "attn-sentence-carry", "data-attn": "grid" });
  const layers = Array.from({ length: Math.floor(nLayers / EVERY) + 1 }, (_, i) => i * EVERY);
  let cells = [];
  function drawGrid() {
    gridBox.replaceChildren(h("p", {}, h("b", {}, t.grid)));
    cells = [];
    if (!isEven()) return gridBox.append(h("p", { class: "attn-live-note" }, t.alone));
    const { tokens } = readings[1];
    cells = layers.flatMap((layer) => tokens.map((token, position) => ({
      layer, position, name: fill(t.cell, { token: visible(token), layer: nameOf(layer) }),
      node: h("button", { type: "button", class: "attn-sentence-cell", "aria-pressed": "false", "data-attn": "cell", "data-layer": layer, "data-position": position,
        "aria-label": fill(t.cell, { token: visible(token), layer: nameOf(layer) }), onclick: () => { state.patch = { layer, position }; act(); } }),
    })));
    roving(cells.map((cell) => cell.node), () => {}, () => tokens.length)(0);
    const said = h("p", { class: "attn-live-note", "data-attn": "grid-note" }, t.gridSaid);
    const [one, two] = [readings[0].best[0], readings[1].best[0]];
    const all = cells.length;
    const tryAll = button("fill", t.fillGrid, () => {
      let done = 0;
      living.ask("grid", { text: state.other, other: state.text, layers, ids: [one.id, two.id] }, (data) => {
        if (data.kind === "cell") {
          shares.set(`${data.layer}.${data.position}`, data.share);
          put(said, fill(t.filling, { done: done += 1, all }));
          colour();
        } else if (data.kind === "done") put(said, fill(t.filled, { one: visible(one.text), two: visible(two.text) }));
        else put(said, fill(t.failed, data));
      });
    });
    tryAll.disabled = one.id === two.id; // Without two different answers there is no difference to measure.
    const lines = layers.map((layer, i) => h("tr", {}, h("th", { scope: "row" }, nameOf(layer)),
      cells.slice(i * tokens.length, (i + 1) * tokens.length).map((cell) => h("td", {}, cell.node))));
    const table = h("table", { class: "attn-w-table attn-sentence-grid" },
      h("thead", {}, h("tr", {}, h("td", {}), tokens.map((token) => h("th", { scope: "col" }, h("span", {}, visible(token)))))), h("tbody", {}, lines));
    gridBox.append(said, scroller(t.grid, table), h("div", { class: "attn-w-controls" }, tryAll));
    return colour();
  }
  function colour() {
    for (const { node: cell, layer, position, name } of cells) {
      const part = shares.get(`${layer}.${position}`);
      if (part === undefined) continue;
      cell.style.backgroundColor = `rgb(var(--attn-heat) / ${Math.min(1, Math.max(0, part)).toFixed(3)})`;
      cell.dataset.share = part;
      cell.setAttribute("aria-label", fill(t.cellShare, { token: visible(readings[1].tokens[position]), layer: nameOf(layer), share: format(part) }));
    }
  }

  // The lens --------------------------------------------------------------------------
  const place = h("select", { id: uid(), class: "attn-live-input", "data-attn": "lens-place", onchange: () => focusLens() });
  const lensTable = h("div", {});
  const lensBox = h("div", { class: "attn-sentence-lens", "data-attn": "lens" }, h("p", {}, h("b", {}, t.lens)), h("p", { class: "attn-live-note" }, t.lensSaid),
    h("div", { class: "attn-live-form" }, h("label", { for: place.id, class: "attn-w-label" }, t.lensOf), place), lensTable);
  let version = 0;
  function drawPlaces() {
    const { tokens } = readings[isEven() ? 0 : Math.min(version, readings.length - 1)];
    place.replaceChildren(...tokens.map((token, i) => h("option", { value: i, selected: i === tokens.length - 1 }, visible(isEven() && readings[1].tokens[i] !== token ? `${visible(token)} / ${visible(readings[1].tokens[i])}` : token))));
  }
  async function focusLens() {
    if (state.view !== "lens" || !readings.length || isReading) return;
    const isHand = version >= readings.length;
    const asked = readings.length > 1 && readings[0].best[0].id !== readings[1].best[0].id ? readings.map(({ best }) => best[0]) : readings[0].best.slice(0, 2);
    const { seen } = await ask("lens", {
      text: isHand ? state.other || state.text : [state.text, state.other][version], ...isHand ? handOf() : {},
      layers: [...layers.filter((layer) => layer < LATE), ...Array.from({ length: nLayers + 1 - LATE }, (_, i) => LATE + i)],
      position: Number(place.value), ids: asked.map(({ id }) => id),
    }, "seen");
    const most = Math.log(readings[0].probabilities.length);
    const shade = (rank) => 1 - Math.log(rank) / most;
    const head = [t.says, ...asked.map(({ text }) => fill(t.rank, { token: visible(text) }))];
    lensTable.replaceChildren(scroller(t.lens, h("table", { class: "attn-w-table attn-all-table attn-sentence-ranks" },
      h("thead", {}, h("tr", {}, h("td", {}), head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, seen.map(({ layer, text, ranks }) => h("tr", { "data-attn": "seen", "data-layer": layer }, h("th", { scope: "row" }, nameOf(layer)), h("td", {}, visible(text.replaceAll("\n", "⏎"))),
        ranks.map((rank) => h("td", { "data-attn": "rank", "data-deep": shade(rank) > 0.757, style: `background-color:rgb(var(--attn-heat) / ${shade(rank).toFixed(3)})` }, rank))))))));
  }

  /** Judge whether the patch is in the last layer of the grid in which one vector moves the answer over. */
  async function boundary() {
    const [one, two] = readings;
    if (!isEven()) return ["alone"];
    const changed = changedIn(one, two);
    const { patch, off, text } = state;
    const wanted = one.best[0];
    const names = { word: visible(two.tokens[changed[0]]), one: visible(wanted.text), two: visible(two.best[0].text), layer: patch?.layer + 1 };
    if (dares.some(({ sentence: known, other: second }) => known === text && second === state.other)) return ["dare"];
    if (changed.length > 1) return ["several", names];
    if (wanted.id === two.best[0].id) return ["same", names];
    if (!patch || off.length) return ["unpatched", names];
    if (patch.position !== changed[0]) return ["place", names];
    if (touched?.best[0].id !== wanted.id) return ["late", names];
    const next = patch.layer + EVERY;
    if (next > nLayers) return ["right", names];
    const { best: [later] } = await look({ text: state.other, patch: { text, ...patch, layer: next } });
    return [later.id === wanted.id ? "early" : "right", names];
  }

  return {
    boundary, offer: living.node, form, strip, panels: { carry: gridBox, lens: lensBox, dares: tasks }, leave: living.leave,
    isOff: (layer, head) => isIn(state.off, layer, head),
    toggle(layer, head) {
      state.off = this.isOff(layer, head) ? state.off.filter(([l, k]) => l !== layer || k !== head) : [...state.off, [layer, head]];
      return act();
    },
    /** Switch all other heads of its layer off; or on again, if it is the only active one. */
    keep(layer, head) {
      const elsewhere = state.off.filter(([l]) => l !== layer);
      state.off = isIn(aloneIn(state.off, nHeads), layer, head) ? elsewhere : [...elsewhere, ...othersOf(layer, head, nHeads)];
      return act();
    },
    labels(layer, head) {
      const isAlone = isIn(aloneIn(state.off, nHeads), layer, head);
      return [this.isOff(layer, head) ? t.on : t.off, fill(isAlone ? t.unkeep : t.keep, { layer: layer + 1 })];
    },
    chose(layer, head) {
      if (!readings.length) return;
      state.head = [layer, head];
      tell();
    },
    viewed(name) {
      state.view = name;
      tell();
      focusLens();
    },
    placed(isBeside) {
      if (!readings.length) return;
      state.beside = isBeside;
      tell();
    },
    drawn(shown) {
      const isOther = version !== shown;
      version = shown;
      if (isOther && readings.length > 1 && !isEven()) drawPlaces();
      focusLens();
    },
  };
}
