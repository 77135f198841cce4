// A sentence of the reader's in HeadExplorer: the language model reads it in the page, perhaps beside a second
// one, and the reader switches heads off or carries one vector from one sentence to the other.
import { pageModel } from "./language_model.js";
import { fill, format, h, put, roving, scroller, uid, visible } from "./shared.js";

export const OWN_STRINGS = {
  es: {
    title: "Una oración tuya", sentence: "Oración, que queda sin terminar", other: "La misma con algo cambiado (si quieres)", read: "Leer",
    reading: "El modelo lee…", failed: "El modelo se detuvo: {why}", full: "La oración tiene {tokens} tokens, y aquí caben {most}.",
    empty: "Escribe antes una oración, aunque sea una palabra.", arrived: "La dirección de esta página trae una oración: aparecerá cuando llegue el modelo.", strange: "La dirección pide algo que aquí no hay, y se deja de lado.",
    unlike: "Las dos oraciones tienen {one} y {two} tokens. Para llevar un vector de una a la otra hacen falta tantos en una como en la otra: prueba con otra palabra.",
    same: "Las dos oraciones son iguales.", asItIs: "Tu oración tal cual", changed: "La cambiada", hand: "Con tu mano",
    isOwn: "Toca una cabeza para verla grande; ahí mismo se apaga.", isChanged: "La oración cambiada, tal cual.",
    isOff: "Apagadas: {heads}. Entregan ceros.", isPatched: "Al entrar en la capa {layer}, el vector de «{token}» es el de la otra oración.", isPatchedLast: "Tras la última capa, el vector de «{token}» es el de la otra oración.",
    off: "Apagar esta cabeza", on: "Encender esta cabeza", now: "Ahora sigue {after}; sin tocar nada seguía {before}.", token: "«{token}» ({share}\u202f%)", allOn: "Encender todas", name: "{layer}.{head}",
    grid: "Lleva un vector de tu oración a la cambiada", gridSaid: "Toca una casilla: al entrar en esa capa, el vector de esa palabra pasa a ser el que tenía en tu oración, y la respuesta cambia.",
    fillGrid: "Probar todas", filling: "Se prueban: {done} de {all}", filled: "El color dice qué parte del camino de «{two}» a «{one}» recorre la respuesta con ese solo vector.",
    layer: "capa {layer}", end: "salida", cell: "{token}, {layer}", cellShare: "{token}, {layer}: {share}", none: "Quitar el parche",
    share: "Copiar la dirección de esto", shared: "La dirección está en el portapapeles.", unshared: "El navegador no deja copiar. La dirección está arriba, en su barra.",
    dares: "Retos", tryIt: "Preparar", done: "Logrado.", answer: "Respuesta",
    openDares: [
      { text: "La capital de Francia es París. Haz que el modelo diga Rome con un solo toque.", sentence: "The capital of Italy is", other: "The capital of France is",
        heads: 0, wanted: "Rome", answer: "Toca la columna de «␣France» en cualquier capa hasta la 22, o la de «␣is» desde la 25: la respuesta pasa de una palabra a la otra entre esas capas." },
      { text: "Tras «The dog chased the cat. The cat chased the» (el perro persiguió al gato, el gato persiguió al…) el modelo da a dog un 94\u202f%. De las 270 cabezas hay una sola sin la cual lo más probable es cat. Encuéntrala.", sentence: "The dog chased the cat. The cat chased the", other: "",
        heads: 1, wanted: "cat", answer: "La cabeza 4 de la capa 2." },
    ],
  },
  en: {
    title: "A sentence of your own", sentence: "A sentence, left unfinished", other: "The same with something changed (if you like)", read: "Read",
    reading: "The model reads…", failed: "The model stopped: {why}", full: "The sentence has {tokens} tokens, and there is room for {most} here.",
    empty: "Write a sentence first, if only a word.", arrived: "The address of this page holds a sentence: it will appear when the model is here.", strange: "The address asks for something that is not here, which is left out.",
    unlike: "The two sentences have {one} and {two} tokens. To carry a vector from one to the other they need equally many: try another word.",
    same: "The two sentences are the same.", asItIs: "Your sentence as it is", changed: "The changed one", hand: "With your hand",
    isOwn: "Touch a head to see it enlarged; there you can switch it off.", isChanged: "The changed sentence, as it is.",
    isOff: "Switched off: {heads}. They hand over zeros.", isPatched: "On entering layer {layer}, the vector of “{token}” is that of the other sentence.", isPatchedLast: "After the last layer, the vector of “{token}” is that of the other sentence.",
    off: "Switch this head off", on: "Switch this head on", now: "Now {after} is next; untouched it was {before}.", token: "“{token}” ({share}%)", allOn: "Switch all on", name: "{layer}.{head}",
    grid: "Carry a vector from your sentence to the changed one", gridSaid: "Touch a cell: on entering that layer, the vector of that word becomes the one it had in your sentence, and the answer changes.",
    fillGrid: "Try them all", filling: "Trying: {done} of {all}", filled: "The colour says how much of the way from “{two}” to “{one}” the answer goes with that single vector.",
    layer: "layer {layer}", end: "output", cell: "{token}, {layer}", cellShare: "{token}, {layer}: {share}", none: "Remove the patch",
    share: "Copy the address of this", shared: "The address is on the clipboard.", unshared: "The browser does not allow copying. The address stands above, in its bar.",
    dares: "Dares", tryIt: "Set it up", done: "Done.", answer: "Answer",
    openDares: [
      { text: "The capital of France is Paris. Make the model say Rome with a single touch.", sentence: "The capital of Italy is", other: "The capital of France is",
        heads: 0, wanted: "Rome", answer: "Touch the column of “␣France” in any layer up to 22, or that of “␣is” from 25 on: between those layers the answer moves from one word to the other." },
      { text: "After “The dog chased the cat. The cat chased the” the model gives dog 94%. Of the 270 heads there is one alone without which cat is the most probable. Find it.", sentence: "The dog chased the cat. The cat chased the", other: "",
        heads: 1, wanted: "cat", answer: "Head 4 of layer 2." },
    ],
  },
};

export const OWN = "own"; // The name of the reader's sentence among the stored ones.
const LETTERS = 200;
const EVERY = 3; // The grid has every third layer: all of them are more than a screen.
const [SENTENCE, OTHER, OFF, PATCH] = ["sentence", "other", "off", "patch"]; // What the address says.

/** What the figure shows of some readings, as `unpack` of head_explorer.js takes it. */
export function joined(readings, { nLayers, nHeads }) {
  const [clean, other] = [readings[0], readings[1] ?? readings[0]];
  const weights = new Uint8Array(readings.reduce((total, { weights: some }) => total + some.length, 0));
  let place = 0;
  for (const reading of readings) {
    weights.set(reading.weights, place);
    place += reading.weights.length;
  }
  // The columns are what each reading would write next: two of each, and no more than five.
  const columns = new Map();
  for (const rank of [0, 1, 2]) {
    for (const { best } of readings) if (columns.size < 5 && best[rank]) columns.set(best[rank].id, best[rank].text);
  }
  return {
    tokens: [clean.tokens, other.tokens], shape: [nLayers, nHeads], from: readings.map(() => 0), weights,
    changed: clean.ids.flatMap((id, i) => (id === other.ids[i] ? [] : [i])),
    next: [...columns.values()], probabilities: readings.map(({ probabilities }) => [...columns.keys()].map((id) => probabilities[id])),
  };
}

/** The state that an address holds, as far as a model of that size has it; `isWhole` says whether that is all. */
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
  const off = pairs(OFF, [nLayers, nHeads]);
  return { text: text(SENTENCE), other: text(OTHER), off, patch: patch ? { layer: patch[0], position: patch[1] } : null, isWhole };
}

export function addressOf(href, { text, other, off, patch }) {
  const url = new URL(href);
  const pairs = (list) => list.map((pair) => pair.map((n) => n + 1).join(".")).join("-");
  const values = { [SENTENCE]: text, [OTHER]: other, [OFF]: pairs(off), [PATCH]: patch && pairs([[patch.layer, patch.position]]) };
  for (const [name, x] of Object.entries(values)) {
    if (x) url.searchParams.set(name, x);
    else url.searchParams.delete(name);
  }
  return url.href;
}

/**
 * The parts of the figure { offer, form, grid, tasks }; what switches a head, { toggle, isOff, toggleLabel }, each
 * of (layer, head); and `answer`, what the model says then. Null where no model can be had. `show(read)` draws what was read, with the labels and
 * the notes of its versions. `gone` is called when the model is not there any more.
 */
export function ownSentence(language, { nLayers, nHeads, show, gone }) {
  const t = OWN_STRINGS[language];
  const state = stateIn(globalThis.location?.search ?? "", { nLayers, nHeads });
  let readings = [];
  let shares = new Map();
  let answer = "";
  const living = pageModel(language, {
    ready() {
      form.hidden = tasks.hidden = false;
      sentence.focus();
      if (sentence.value) submit(state);
    },
    gone() {
      form.hidden = gridBox.hidden = tasks.hidden = true;
      readings = [];
      gone();
    },
  });
  if (!living) return null;

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
  const gridBox = h("div", { class: "attn-sentence-carry", hidden: true, "data-attn": "grid" });
  const dares = t.openDares.map((dare) => ({ ...dare, done: h("b", { role: "status", "data-attn": "dare-done" }) }));
  const tasks = h("div", { hidden: true, "data-attn": "dares" }, h("p", {}, h("b", {}, t.dares)), h("ol", {}, dares.map((dare) => h("li", {}, `${dare.text} `, button("dare", t.tryIt, () => {
    [sentence.value, other.value] = [dare.sentence, dare.other];
    submit();
  }), dare.done, h("details", {}, h("summary", {}, t.answer), h("p", {}, dare.answer))))));
  const form = h("form", {
    class: "attn-sentence", hidden: true, "data-attn": "own", onsubmit: (event) => { event.preventDefault(); submit(); },
  }, h("p", {}, h("b", {}, t.title)), h("div", { class: "attn-sentence-fields" }, sentenceLabel, sentence, otherLabel, other),
  h("div", { class: "attn-w-controls" }, h("button", { type: "submit", class: "attn-w-button", "data-attn": "read" }, t.read), allOn, none, share), note);

  /** Let the model read one text; the promise ends when it has, and never if another request came before. */
  const look = (request) => new Promise((resolve) => {
    living.ask("look", request, (data) => {
      if (data.kind === "looked") resolve(data);
      else if (data.kind !== "reading") put(note, fill(t[data.kind], data));
    });
  });
  /** Read what the form says; with heads or a patch from an address, read that as well. */
  async function submit({ off = [], patch = null } = {}) {
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
    state.isWhole = true; // It is said once, of the address with which the page was opened.
    readings = found[1] && one !== two ? [found[0]] : found;
    Object.assign(state, { text, other: readings[1] ? second : "", off, patch: readings[1] && patch?.position < one ? patch : null });
    shares = new Map();
    drawGrid();
    return act();
  }
  /** Read once more with the heads that are off and the vector that was carried over. */
  async function act() {
    const { text, other: second, off, patch } = state;
    const shown = readings.slice(0, second ? 2 : 1);
    const said = ({ best: [{ text: token, p }] }) => fill(t.token, { token: visible(token), share: format(100 * p, 0) });
    answer = "";
    const labels = [t.asItIs, t.changed].slice(0, shown.length);
    const notes = [t.isOwn, t.isChanged].slice(0, shown.length);
    if (off.length || patch) {
      shown.push(await look({ text: second || text, off, patch: patch && { text, ...patch } }));
      const heads = off.map(([layer, head]) => fill(t.name, { layer: layer + 1, head: head + 1 })).join(", ");
      labels.push(t.hand);
      answer = fill(t.now, { after: said(shown.at(-1)), before: said(shown.at(-2)) });
      notes.push([heads && fill(t.isOff, { heads }), patch && fill(patch.layer < nLayers ? t.isPatched : t.isPatchedLast, {
        layer: patch.layer + 1, token: visible(readings[1].tokens[patch.position]),
      })].filter(Boolean).join(" "));
    }
    allOn.hidden = !off.length;
    none.hidden = !patch;
    share.hidden = false;
    try { history.replaceState(history.state, "", addressOf(location.href, state)); } catch { /* The address stays as it was. */ }
    show({ ...joined(shown, { nLayers, nHeads }), labels, notes });
    cells.forEach((cell) => cell.node.setAttribute("aria-pressed", String(patch?.layer === cell.layer && patch.position === cell.position)));
    const best = shown[labels.indexOf(t.hand)]?.best[0];
    const isDone = (dare) => best?.text.trim() === dare.wanted
      && text === dare.sentence && second === dare.other && off.length === dare.heads;
    for (const dare of dares.filter(isDone)) put(dare.done, t.done);
  }

  // The grid ------------------------------------------------------------------------
  if (state.text) living.node.prepend(h("p", { class: "attn-live-note" }, t.arrived));
  let cells = [];
  function drawGrid() {
    gridBox.replaceChildren();
    cells = [];
    gridBox.hidden = !state.other;
    if (!state.other) return;
    const { tokens } = readings[1];
    const layers = Array.from({ length: Math.floor(nLayers / EVERY) + 1 }, (_, i) => i * EVERY);
    const nameOf = (layer) => (layer < nLayers ? fill(t.layer, { layer: layer + 1 }) : t.end);
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
    tryAll.disabled = one.id === two.id; // Without two answers there is no way between them.
    const lines = layers.map((layer, i) => h("tr", {}, h("th", { scope: "row" }, nameOf(layer)),
      cells.slice(i * tokens.length, (i + 1) * tokens.length).map((cell) => h("td", {}, cell.node))));
    const table = h("table", { class: "attn-w-table attn-sentence-grid" },
      h("thead", {}, h("tr", {}, h("td", {}), tokens.map((token) => h("th", { scope: "col" }, visible(token))))), h("tbody", {}, lines));
    gridBox.append(h("p", {}, h("b", {}, t.grid)), said, scroller(t.grid, table), h("div", { class: "attn-w-controls" }, tryAll));
    colour();
  }
  function colour() {
    for (const { node: cell, layer, position, name } of cells) {
      const part = shares.get(`${layer}.${position}`);
      if (part === undefined) continue;
      cell.style.backgroundColor = `rgb(var(--attn-heat) / ${Math.min(1, Math.max(0, part)).toFixed(3)})`;
      cell.dataset.share = part;
      cell.setAttribute("aria-label", `${name}: ${format(part)}`);
    }
  }

  return {
    offer: living.node, form, grid: gridBox, tasks, leave: living.leave,
    isOff: (layer, head) => state.off.some(([l, k]) => l === layer && k === head),
    toggle(layer, head) {
      state.off = this.isOff(layer, head) ? state.off.filter(([l, k]) => l !== layer || k !== head) : [...state.off, [layer, head]];
      return act();
    },
    answer: () => answer,
    toggleLabel(layer, head) { return this.isOff(layer, head) ? t.on : t.off; },
  };
}
