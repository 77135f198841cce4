// A translation as ribbons from each target word to its source words; and, inside a ribbon, its
// heads, their matrix and one dot product.
import { dissect } from "./anatomy.js";
import { certainty } from "./certainty.js";
import { putTogether } from "./cutting.js";
import { directions, otherLanguage } from "./direction.js";
import { drawingOf } from "./drawn.js";
import { chosenWeights, joinWords } from "./joined.js";
import { progressBar } from "./loading.js";
import { announcer, examples, fill, format, formatBrief, h, list, put, rich, roving, scroller, softmax, uid } from "./shared.js";
import { textOf, wordsOf } from "./tokenizer.js";
import { cutSource } from "./trained.js";

export const STRINGS = {
  es: {
    title: "Una traducción y la atención que la escribió",
    sentence: "Escribe una oración en {from}", translate: "Traducir", pick: "O elige una", pickOne: "oraciones de ejemplo",
    needs: "El modelo calcula ahora estos números. Pesa {size} MB y se carga una sola vez.", ready: "Ejemplo ya calculado. Para una oración tuya se carga el modelo ({size} MB).",
    loading: "Se carga el modelo: {some} de {size} MB.", progress: "Carga del modelo",
    failed: "El modelo no llegó entero: {some} de {size} MB. Lo que llegó se guarda; vuelve a intentarlo.",
    empty: "Escribe una oración en {from}.", guessing: "Casi todo es adivinado: más de la mitad de las palabras tiene más probabilidad de estar mal que bien.", here: "Traducido en tu navegador, en {time} ms.", pieces: "El texto se tradujo en {count} trozos. El dibujo muestra uno:",
    longWord: "Una palabra de {length} letras es más de lo que el modelo puede leer: escribe palabras más cortas.",
    nul: "El texto contiene el carácter NUL, que ningún texto lleva: quítalo.",
    picture: "Arriba, el {from}; abajo, el {to}. Flechas: pasar de una palabra a otra. Intro: elegirla.",
    idle: "Cada cinta es tan ancha como la atención que una palabra en {to} presta a una en {from}, en promedio sobre las {heads} cabezas. Toca una palabra o una cinta para leer su parte.",
    from: "Mientras se escribía «{word}», las mayores partes de la atención fueron a {others}.", pair: "Mientras se escribía «{word}», el {share} de la atención fue a «{other}».", chance: "El modelo le dio una probabilidad de {chance}. De las palabras con una probabilidad así, acierta el {sure}.", to: "«{word}» recibió más atención mientras se escribía «{other}»: {share}.",
    quoted: "«{word}» ({share})", and: "y",
    inside: "Las {heads} cabezas de {other} → {word}",
    near: "La atención no es un diccionario. La palabra escrita que más concentra su atención es «{word}»: puso el {share} en «{other}».", far: "La que menos la concentra es «{word}»: ninguna palabra en {from} recibió más del {share}.",
    strange: "La dirección pide algo que este dibujo no tiene y que se dejó de lado.",
    play: "Repetir", slow: "Paso a paso ↓", share: "Compartir", save: "Guardar como SVG",
    copied: "La dirección de esta oración y su dibujo están en el portapapeles.", copiedLink: "La dirección de esta oración está en el portapapeles.", copy: "Copia esta dirección: {address}",
    back: "Volver", whole: "La oración",
    heads: "¿Qué cabezas unen «{word}» con «{other}»?", headsText: "El modelo tiene {layers} capas con {per} cabezas de atención cruzada. Cada casilla dice cuánta atención presta una cabeza a «{other}» mientras se escribe «{word}». La media de las {heads} es el ancho de la cinta: {share}.", parts: "«{word}» se escribió en {count} trozos ({parts}), y cada casilla es la media de los {count}.",
    layer: "capa {layer}", head: "capa {layer}, cabeza {head}",
    matrix: "La matriz de la cabeza {head} de la capa {layer}", matrixText: "Cada fila es la query con la que se escribe un token, y suma 1. Cada columna es la key de un token en {from}. Los pesos menores que 0.1 no se escriben. Toca una casilla: dentro hay un producto punto.",
    cell: "{row}, {column}: {weight}",
    dot: "Un producto punto", dotText: "La query que escribe «{row}» y la key de «{column}» tienen {d} números cada una. Se multiplican uno por uno y los productos se suman.",
    query: "query", key: "key", product: "producto", score: "La suma es {score}. Dividida entre √{d} da {scaled}.", weights: "La softmax reparte 1 entre los puntajes de esta fila, y a «{column}» le toca {weight}.",
    scaled: "puntaje/√d_k", weight: "peso", more: "y {count} más",
  },
  en: {
    title: "A translation, and the attention that wrote it",
    sentence: "Type a sentence in {from}", translate: "Translate", pick: "Or pick one", pickOne: "example sentences",
    needs: "The model is computing these numbers. It has {size} MB and loads only once.", ready: "Computed beforehand. Your own sentence loads the model ({size} MB).",
    loading: "The model is loading: {some} of {size} MB.", progress: "Loading of the model",
    failed: "The model did not arrive whole: {some} of {size} MB. What arrived is kept; try again.",
    empty: "Type a sentence in {from}.", guessing: "Most of it is guessed: more than half of the words are more likely wrong than right.", here: "Translated in your browser, in {time} ms.", pieces: "The text was translated in {count} pieces. The drawing shows one:",
    longWord: "A word of {length} letters is more than the model can read: write shorter words.",
    nul: "The text has the character NUL, which no text has: take it out.",
    picture: "{from} above, {to} below. Arrow keys move between words. Enter chooses one.",
    idle: "Each ribbon is as wide as the attention that one {to} word pays to one {from} word, averaged over the {heads} heads. Touch a word or a ribbon to read its share.",
    from: "While “{word}” was written, the largest shares of attention went to {others}.", pair: "While “{word}” was written, {share} of the attention went to “{other}”.", chance: "The model gave it a probability of {chance}, and words as probable as that are right {sure} of the time.", to: "“{word}” got most attention while “{other}” was written: {share}.",
    quoted: "“{word}” ({share})", and: "and",
    inside: "The {heads} heads of {other} → {word}",
    near: "Attention is no dictionary. In this sentence it looked most like one while “{word}” was written, with {share} of the attention on “{other}”.", far: "It looked least like one while “{word}” was written: no {from} word got more than {share}.",
    strange: "The address asks for something that this drawing does not have, which is left out.",
    play: "Again", slow: "Step by step ↓", share: "Share", save: "Save as SVG",
    copied: "The address of this sentence and its picture are on the clipboard.", copiedLink: "The address of this sentence is on the clipboard.", copy: "Copy this address: {address}",
    back: "Back", whole: "The sentence",
    heads: "Which heads connect “{word}” with “{other}”?", headsText: "The model has {layers} layers with {per} heads of cross-attention each. A square says how much attention one head pays to “{other}” while “{word}” is written. The mean of all {heads} is the width of the ribbon: {share}.", parts: "“{word}” was written in {count} pieces ({parts}), and a square is the mean of the {count}.",
    layer: "layer {layer}", head: "layer {layer}, head {head}",
    matrix: "The matrix of head {head} in layer {layer}", matrixText: "Each row is the query with which a token is written, and sums to 1. Each column is the key of one {from} token. Weights below 0.1 are not written out. Touch a cell: inside there is one dot product.",
    cell: "{row}, {column}: {weight}",
    dot: "One dot product", dotText: "The query that writes “{row}” and the key of “{column}” have {d} numbers each. They are multiplied number by number, and the products are added up.",
    query: "query", key: "key", product: "product", score: "The sum is {score}. Divided by √{d} it is {scaled}.", weights: "The softmax shares out 1 among the scores of this row, and “{column}” gets {weight}.",
    scaled: "score/√d_k", weight: "weight", more: "and {count} more",
  },
};

const BEAT = 600; // A word appears after at most this many milliseconds,
const AT_FIRST = 5000; // and a whole translation in at most this time.
const TOLD = 10_000; // *Again* shows a whole translation in at most this time.
const LEAST = 0.03; // Thinner ribbons are not drawn.
const [LONG, LEAST_OF_LONG] = [14, 0.06]; // In a longer sentence, ribbons thinner than this are not drawn, because they would hide each other.
const SHORT = 9; // A sentence of so few words has large letters where there is room.
const SHARE = 36; // The width of a share beside a word, in pixels.
const REACH = 6; // This many pixels beside a ribbon belong to it.
const SHOWN = 3; // The products of this many components are written out.
const [CHOSEN, INSIDE, MATRIX, DOT] = [1, 2, 3, 4]; // The depth of the reader's place: a word or a ribbon, its heads, a head, a cell.
const isWord = (text) => /[\p{L}\p{N}]/u.test(text);
const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

// Geometry ---------------------------------------------------------------------

/** Return the size of the letters, in pixels: words of a long sentence stand closer, yet far enough to touch each. */
export const sizeOf = (nWords, width) => (width > 1190 && nWords <= SHORT ? 28 : (width < 560 ? [17, 15] : [21, 17])[Number(nWords > LONG || width < 300)]);

/**
 * Place the words of two sentences, whose widths are given, and the ribbons between them: { upright, height, unit, from, to, ribbons }.
 * The sentences are rows if both fit into `width`, else columns. weights[i][j] is what target word i takes from source word j.
 */
export function layout(sourceWidths, targetWidths, weights, width, size) {
  const gap = 0.8 * size;
  const total = (widths) => widths.reduce((sum, w) => sum + w + gap, -gap);
  const upright = Math.max(total(sourceWidths), total(targetWidths)) > width;
  const unit = upright ? 1.05 * size : 1.3 * size; // The width of a weight of 1.
  const count = Math.max(sourceWidths.length, targetWidths.length);
  const pitch = (count > LONG ? 1.6 : 1.75) * size;
  let from;
  let to;
  let height;
  if (upright) {
    height = pitch * count;
    const column = (widths, x, side) => widths.map((w, k) => ({ x, y: height * (k + 0.5) / widths.length, edge: x + side * 0.5 * size, width: w }));
    from = column(sourceWidths, Math.min(0.42 * width, Math.max(...sourceWidths) + SHARE + 0.5 * size), 1);
    to = column(targetWidths, Math.max(0.58 * width, width - Math.max(...targetWidths) - 0.3 * size), -1);
  } else {
    height = Math.max(11.5 * size, 0.27 * width);
    const row = (widths, y, edge) => {
      const free = Math.min(2.6 * size, (width - total(widths)) / widths.length);
      let x = (width - total(widths) - free * (widths.length - 1)) / 2;
      return widths.map((w) => {
        const place = { x: x + w / 2, y, edge, width: w };
        x += w + gap + free;
        return place;
      });
    };
    from = row(sourceWidths, 1.9 * size, 2.55 * size);
    to = row(targetWidths, height - 0.7 * size, height - 1.9 * size);
  }
  const drawn = weights.flatMap((row, i) => row.flatMap((weight, j) => (weight >= (upright && count > LONG ? LEAST_OF_LONG : LEAST) ? [{ i, j, weight }] : [])));
  const middle = (place) => (upright ? place.y : place.x);
  // The ribbons of a word lie side by side, in the order of the words at their other ends.
  const beside = (place, own) => {
    const all = drawn.filter((ribbon) => ribbon[own] === place.k);
    const whole = unit * all.reduce((sum, { weight }) => sum + weight, 0);
    let at = Math.max(0, Math.min((upright ? height : width) - whole, middle(place) - whole / 2));
    for (const ribbon of all) {
      ribbon[`${own}At`] = at + unit * ribbon.weight / 2;
      at += unit * ribbon.weight;
    }
  };
  to.forEach((place, k) => beside({ ...place, k }, "i"));
  from.forEach((place, k) => beside({ ...place, k }, "j"));
  for (const ribbon of drawn) {
    const [a, b] = [from[ribbon.j].edge, to[ribbon.i].edge];
    const half = (a + b) / 2;
    const point = (along, across) => (upright ? `${along.toFixed(1)} ${across.toFixed(1)}` : `${across.toFixed(1)} ${along.toFixed(1)}`);
    ribbon.path = `M${point(a, ribbon.jAt)}C${point(half, ribbon.jAt)} ${point(half, ribbon.iAt)} ${point(b, ribbon.iAt)}`;
    ribbon.width = Math.max(1, unit * ribbon.weight);
    ribbon.middle = Array.from({ length: 33 }, (_, n) => {
      const s = n / 32;
      const [along, across] = [[a, half, half, b], [ribbon.jAt, ribbon.jAt, ribbon.iAt, ribbon.iAt]].map(([p, q, r, z]) =>
        (1 - s) ** 3 * p + 3 * (1 - s) ** 2 * s * q + 3 * (1 - s) * s ** 2 * r + s ** 3 * z);
      return upright ? [along, across] : [across, along];
    });
  }
  return { upright, height, unit, pitch, from, to, ribbons: drawn };
}

/** Return the place of the ribbon at a point: the thinnest that covers it, or else the nearest within reach, or -1. */
export function ribbonAt(ribbons, x, y) {
  let [best, least] = [-1, REACH];
  ribbons.forEach(({ middle, width }, n) => {
    const far = Math.min(...middle.slice(1).map((end, k) => fromLine(x, y, middle[k], end))) - width / 2;
    const beside = far > 0 ? far : width / 2 - 1e6; // Covering ribbons come first, in the order of their widths.
    if (beside < least) [best, least] = [n, beside];
  });
  return best;
}
function fromLine(x, y, [x1, y1], [x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const part = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx ** 2 + dy ** 2 || 1)));
  return Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
}

// The places in it ---------------------------------------------------------------
// A place is { target, source }, of which a word has one, and inside them isInside, then layer and head, then row and column; or null.

const depthOf = (place) => (!place ? 0 : place.row !== undefined ? DOT : place.layer !== undefined ? MATRIX : place.isInside ? INSIDE : CHOSEN);

/** The place that contains a place. */
function outwards(place) {
  const { target, source, layer, head } = place;
  const depth = depthOf(place);
  return [null, null, { target, source }, { target, source, isInside: true }, { target, source, isInside: true, layer, head }][depth];
}

/** The URL's parameters of a place, in numbers from 1. */
export function placed(place) {
  if (!place) return {};
  const { target, source, isInside, layer, head, row, column } = place;
  const numbers = [layer, head, row, column].filter((n) => n !== undefined);
  return Object.fromEntries(Object.entries({
    word: target, of: source, in: isInside && (numbers.map((n) => n + 1).join(".") || "heads"),
  }).filter(([, x]) => x !== undefined).map(([name, x]) => [name, name === "in" ? x : x + 1]));
}

/** The place that a URL names, or null; `fits` is whether a translation has it. */
export function placeIn(search) {
  const query = new URLSearchParams(search);
  const from1 = (text) => (/^\d{1,4}$/.test(text) ? text - 1 : NaN);
  const place = {};
  for (const [name, key] of [["word", "target"], ["of", "source"]]) if (query.has(name)) place[key] = from1(query.get(name));
  if (query.has("in")) {
    place.isInside = true;
    const numbers = query.get("in") === "heads" ? [] : query.get("in").split(".").map(from1);
    ["layer", "head", "row", "column"].slice(0, numbers.length).forEach((key, i) => { place[key] = numbers[i]; });
  }
  return Object.keys(place).length ? place : null;
}

export function fits(place, { source, target, tokens, cross }) {
  const sizes = { target: target.length, source: source.length, layer: cross.length, head: cross[0].length, row: tokens.target.length, column: tokens.source.length };
  const needs = (one, other) => place[one] === undefined || place[other] !== undefined;
  return Object.entries(sizes).every(([name, size]) => place[name] === undefined || (place[name] >= 0 && place[name] < size))
    && (place.target !== undefined || place.source !== undefined) && needs("layer", "head") && needs("row", "column") && needs("layer", "isInside")
    && (!place.isInside || (place.target !== undefined && place.source !== undefined));
}

// The figure ---------------------------------------------------------------------

function render({ model, el, fallback }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const { tokenizer: kind, megabytes } = model.get("pretrained");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const live = announcer();
  const way = directions(model, turned);
  let shown = { ...byWords(model.get("example")), from: way.from }; // What the drawing shows, by words, and from which language.
  let trace = null; // Every intermediate result of the drawn translation, once the model has computed it.
  let written = still.matches ? shown.target.length : 0;
  let at = null; // The place of the reader, as `depthOf` and `placeIn` know it; null is the sentence.
  let timer;
  let wishes = 0;
  let said; // { text, from, isOther, piece }: the text whose translation is shown, whether it seems to be of another language, and its piece.

  const first = textOf(shown.tokens.source, kind);
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const bar = progressBar(t, megabytes, (text) => put(note, text));
  const sure = certainty(model);
  put(note, `${bar.told(t.ready)} ${sure.rare}`);
  const input = h("textarea", {
    rows: 1, id: uid(), class: "attn-live-input", lang: way.from, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    enterkeyhint: "go", "data-attn": "sentence", "data-lm-suppress-shortcuts": "true",
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      submit(event);
    },
    onfocus: () => input.select(),
  }, first);
  said = { text: first, from: way.from, isOther: false, piece: 0 };
  const tour = fallback && document.querySelector("[data-anywidget=live_machine]"); // Another figure of the page, which shows what is drawn.
  let drawn = { text: first, from: way.from };
  const [label, picker] = examples(t, way.options(), (text) => {
    input.value = text;
    wish();
  });
  const asked = h("label", { for: input.id, class: "attn-w-label" }, way.told(t.sentence));
  label.className = "attn-w-hidden";
  const form = h("form", {
    class: "attn-tour-form", novalidate: true, onsubmit: submit,
  }, h("div", { class: "attn-w-asked" }, asked, way.node), input,
  h("button", { class: "attn-w-button", "data-attn": "translate" }, t.translate), label, picker);

  function submit(event) {
    event.preventDefault();
    if (matchMedia("(pointer: coarse)").matches) input.blur(); // The keyboard on the screen would hide the picture.
    wish();
  }
  /** After a change of direction, replace what was translated by its translation; keep what the reader has typed since. */
  function turned(keep) {
    way.swap(input, said, sentence(), keep);
    input.lang = way.from;
    put(asked, way.told(t.sentence));
    way.refill(picker);
    wish(typeof keep === "object" ? keep : null);
  }

  // Translating ------------------------------------------------------------------
  const pieceChoice = h("div", { class: "attn-ribbons-pieces", hidden: true });
  const whole = h("p", { class: "attn-ribbons-whole" }); // The translation of several pieces.
  /** Translate the text in the box; a URL or the history adds a place and a piece. */
  async function wish(wanted = null) {
    const turn = ++wishes;
    stop();
    note.removeAttribute("data-bad");
    const translator = await ready(way.from);
    if (turn !== wishes) return; // A newer sentence has been submitted meanwhile.
    if (!translator) return refuse(bar.told(t.failed));
    const { pieces, nul, longWord } = cutSource(translator, input.value);
    if (nul) return refuse(t.nul);
    if (longWord) return refuse(fill(t.longWord, { length: [...longWord].length }));
    if (pieces.some(({ ids }) => ids.length === 0) || !isWord(input.value)) return refuse(way.told(t.empty));
    const { from } = way;
    const start = performance.now();
    const results = [];
    for (const piece of pieces) {
      results.push({ ...traced(translator, piece.ids, from), text: pieces.length > 1 ? piece.text : input.value });
      if (pieces.length > 1) await new Promise(requestAnimationFrame); // The page answers its reader between two pieces.
      if (turn !== wishes) return;
    }
    pieceChoice.hidden = pieces.length === 1;
    const picked = h("select", { id: uid(), class: "attn-live-input", "data-attn": "piece", onchange: () => {
      said.piece = picked.selectedIndex;
      present(results[said.piece]);
      remember();
    } },
      pieces.map(({ text }, n) => h("option", { lang: from }, `${n + 1}. ${text}`)));
    put(whole, pieces.length > 1 ? putTogether(pieces, results.map(({ trace: { next } }) => textOf(next, kind))) : "");
    whole.lang = way.to;
    pieceChoice.replaceChildren(whole,
      h("label", { for: picked.id, class: "attn-w-label" }, fill(t.pieces, { count: pieces.length })), picked);
    const chances = results.flatMap((result) => result.shown.probabilities.filter((_, i) => isWord(result.shown.target[i])));
    const isGuessing = chances.filter((chance) => sure.isGuessed(chance, from)).length > chances.length / 2;
    const { isOther, parts } = way.remark(input.value, translator);
    said = { text: input.value, from, isOther, piece: results[wanted?.piece] ? wanted.piece : 0 };
    picked.selectedIndex = said.piece;
    note.replaceChildren(`${fill(t.here, { time: Math.max(1, Math.round(performance.now() - start)) })} ${isGuessing ? t.guessing : sure.rare}`, ...parts);
    present(results[said.piece]);
    if (wanted) arrive(wanted.place);
    else remember();
  }
  async function ready(from) {
    try {
      return await way.load(bar.show, from);
    } catch (error) {
      console.warn(error.message);
      return null;
    } finally {
      bar.hide();
    }
  }
  function refuse(text) {
    note.setAttribute("data-bad", "");
    put(note, text);
    live.say(text);
    if (depthOf(at) < INSIDE) finish(); // What is shown remains, and is whole.
  }
  function present(result) {
    ({ shown, trace } = result);
    drawn = { text: result.text, from: shown.from };
    if (tour) document.dispatchEvent(new CustomEvent("attn-sentence", { detail: drawn }));
    at = null;
    read();
    if (still.matches) finish();
    else play(beat());
    inSight(pieceChoice.hidden ? stage : pieceChoice);
    live.say(textOf(shown.tokens.target, kind));
  }
  const traced = (translator, ids, from) => {
    const found = dissect(translator, ids);
    const example = {
      source: found.tokens.encoder, target: found.next, cross: found.decoder.layers.map(({ crossAttention }) => crossAttention.weights),
      probabilities: found.decoder.logits.map((logits) => Math.max(...softmax(Array.from(logits)))),
    };
    return { shown: { ...byWords(example), from }, trace: found };
  };

  const inSight = (node) => node.scrollIntoView({ block: "nearest", behavior: still.matches ? "auto" : "smooth" });

  // Telling it word by word ----------------------------------------------------------
  function play(beat) {
    stop();
    at = null;
    written = 0;
    draw();
    timer = setInterval(() => {
      written += 1;
      reveal();
      if (written >= shown.target.length) stop();
    }, beat);
  }
  const beat = () => Math.min(BEAT, AT_FIRST / shown.target.length);
  const stop = () => clearInterval(timer);
  function finish() {
    stop();
    written = shown.target.length;
    draw();
  }

  // Drawing ------------------------------------------------------------------------
  const stage = h("div", { class: "attn-ribbons-stage", "data-attn": "stage" });
  const caption = h("p", { class: "attn-ribbons-caption", "data-attn": "caption" });
  const reading = h("p", { class: "attn-ribbons-reading", "data-attn": "reading" });
  let svg;
  let nodes; // { source, target, ribbons }: the nodes of the drawing.
  let measured; // The widths of its words in the font that there was.
  const nHeads = () => shown.cross.length * shown.cross[0].length;

  function draw() {
    if (depthOf(at) >= INSIDE) return;
    const width = stage.clientWidth || 880;
    const size = sizeOf(Math.max(shown.source.length, shown.target.length), width);
    const measure = ruler(stage, size);
    const named = { source: shown.source.map(measure), target: shown.target.map(measure) };
    measured = String(Object.values(named));
    const weights = chosenWeights(shown.cross, null, null);
    const found = layout(named.source, named.target, weights, width, size);
    const fade = uid();
    const s = (tag, attributes, ...children) => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, x] of Object.entries(attributes)) {
        if (name.startsWith("on")) node.addEventListener(name.slice(2), x);
        else if (x !== null) node.setAttribute(name, x);
      }
      node.append(...children);
      return node;
    };
    const ends = found.upright ? { x1: found.from[0].edge, x2: found.to[0].edge, y1: 0, y2: 0 } : { x1: 0, x2: 0, y1: found.from[0].edge, y2: found.to[0].edge };
    const word = (side, place, k) => {
      const isTarget = side === "target";
      const anchor = found.upright ? (isTarget ? "start" : "end") : "middle";
      const left = { start: place.x, end: place.x - place.width, middle: place.x - place.width / 2 }[anchor];
      const guessed = isTarget && isGuessed(k);
      return s("g", {
        class: "attn-ribbons-word", role: "button", tabindex: -1, "data-attn": `${side}-word`, "data-lm-suppress-shortcuts": "true", "aria-label": described(isTarget ? { target: k } : { source: k }),
        onclick: () => touch(isTarget ? { target: k } : { source: k }),
        onpointerenter: (event) => glance(event, isTarget ? { target: k } : { source: k }),
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          touch(isTarget ? { target: k } : { source: k });
        },
      },
      s("rect", { x: left - 6, y: place.y - (found.upright ? found.pitch / 2 : 1.35 * size), width: place.width + 12, height: found.upright ? found.pitch : 2 * size, rx: 6, class: "attn-ribbons-hit" }),
      s("text", { x: place.x, y: place.y, "text-anchor": anchor, "font-size": size, lang: isTarget ? otherLanguage(shown.from) : shown.from, ...(found.upright ? { dy: "0.35em" } : {}) }, shown[side][k]),
      ...(guessed ? [s("line", { x1: left, x2: left + place.width, y1: place.y + (found.upright ? 0.6 : 0.26) * size, y2: place.y + (found.upright ? 0.6 : 0.26) * size, class: "attn-ribbons-guessed" })] : []));
    };
    const share = (place, k) => s("text", {
      class: "attn-ribbons-share", "font-size": 13, "data-source": k, "aria-hidden": "true",
      ...(found.upright ? { x: 2, y: place.y, dy: "0.35em" } : { x: Math.max(18, Math.min(width - 18, place.x)), y: place.y - 1.15 * size, "text-anchor": "middle" }),
    });
    nodes = {
      source: found.from.map((place, k) => word("source", place, k)),
      target: found.to.map((place, k) => word("target", place, k)),
      shares: found.from.map(share),
      ribbons: found.ribbons.map(({ i, j, weight, path, width: thick }) => Object.assign(s("path", {
        d: path, "stroke-width": thick.toFixed(1), stroke: `url(#${fade})`, class: "attn-ribbons-ribbon", "data-attn": "ribbon",
      }), { i, j, weight })),
    };
    const clear = () => (at ? go(null) : light(null));
    /** The ribbon that a pointer means, which need not be exactly on it. */
    const under = ({ clientX, clientY }) => {
      const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
      const there = found.ribbons.filter(({ i }) => i < written);
      return there[ribbonAt(there, x, y)];
    };
    svg = s("svg", {
      viewBox: `0 0 ${width} ${found.height.toFixed(0)}`, width, height: found.height.toFixed(0), role: "group", "aria-label": way.told(t.picture, {}, shown.from), "data-upright": found.upright ? "" : null,
      onclick: (event) => {
        if (event.target !== svg) return;
        const one = under(event);
        if (one) touch({ target: one.i, source: one.j });
        else clear();
      },
      onpointermove: (event) => {
        const one = event.target === svg ? under(event) : null;
        nodes.ribbons.forEach((node) => node.toggleAttribute("data-near", Boolean(one) && node.i === one.i && node.j === one.j));
        svg.style.cursor = one ? "pointer" : "";
        if (one) glance(event, { target: one.i, source: one.j });
      },
      onkeydown: (event) => { if (event.key === "Escape") clear(); },
    },
      s("defs", {}, s("linearGradient", { id: fade, gradientUnits: "userSpaceOnUse", ...ends },
        s("stop", { offset: "0", class: "attn-ribbons-key" }), s("stop", { offset: "1", class: "attn-ribbons-query" }))),
      ...nodes.ribbons, ...nodes.shares, ...nodes.source, ...nodes.target);
    const groups = [["source", nodes.source], ["target", nodes.target]].map(([side, all]) => {
      const stopAt = roving(all, () => {});
      stopAt(0);
      all.forEach((node, k) => node.addEventListener("focus", () => {
        stopAt(k);
        light({ [side]: k });
      }));
      return stopAt;
    });
    groups[0](at?.source ?? 0);
    groups[1](at?.target ?? 0);
    stage.replaceChildren(svg);
    reveal();
  }
  /** Show as many words of the translation as are written, and their ribbons. */
  function reveal() {
    nodes.target.forEach((node, i) => node.toggleAttribute("data-later", i >= written));
    nodes.ribbons.forEach((node) => node.toggleAttribute("data-later", node.i >= written));
    sure.line.toggleAttribute("data-none", !shown.target.some((_, k) => isGuessed(k)));
    light(at ?? (written < shown.target.length && written ? { target: written - 1 } : null));
  }
  /** Light what a mouse passes over, until the reader has chosen something. */
  function glance(event, one) {
    if (event.pointerType === "mouse" && !at) light(one);
  }
  const isGuessed = (k) => isWord(shown.target[k]) && shown.probabilities !== null && sure.isGuessed(shown.probabilities[k], shown.from);
  function light(one) {
    const lit = (i, j) => !one || ((one.target ?? i) === i && (one.source ?? j) === j);
    svg.toggleAttribute("data-lit", Boolean(one));
    nodes.ribbons.forEach((node) => node.toggleAttribute("data-lit", Boolean(one) && lit(node.i, node.j)));
    const weights = chosenWeights(shown.cross, null, null);
    const alone = one && one.target !== undefined;
    const told = [];
    nodes.shares.forEach((node) => put(node, ""));
    const order = alone && written === shown.target.length ? weights[one.target].map((weight, j) => [weight, j]).sort((a, b) => b[0] - a[0]) : [];
    for (const [weight, j] of order) {
      const [x, y] = ["x", "y"].map((name) => Number(nodes.shares[j].getAttribute(name)));
      if ((one.source ?? j) !== j || weight < LEAST || told.some((other) => Math.abs(other.x - x) < SHARE && other.y === y)) continue;
      told.push({ x, y });
      put(nodes.shares[j], percent(weight));
    }
    nodes.source.forEach((node, j) => node.toggleAttribute("data-lit", Boolean(one) && nodes.ribbons.some((r) => r.j === j && lit(r.i, j))));
    nodes.target.forEach((node, i) => node.toggleAttribute("data-lit", Boolean(one) && nodes.ribbons.some((r) => r.i === i && lit(i, r.j))));
    tell(one);
  }
  /** List the ribbons that `one` means, the thickest first. */
  function meant({ target, source }) {
    const all = chosenWeights(shown.cross, null, null).flatMap((row, i) => row.map((weight, j) => ({ word: i, other: j, weight })));
    return all.filter(({ word, other }) => (target ?? word) === word && (source ?? other) === other).sort((a, b) => b.weight - a.weight);
  }
  /** Return the thickest of them, if possible not one of a punctuation mark. */
  function telling(one) {
    const all = meant(one);
    return all.find(({ word, other }) => isWord(shown.target[word]) && isWord(shown.source[other])) ?? all[0];
  }
  function described(one) {
    const [best, second] = meant(one);
    if (one.target === undefined) return fill(t.to, { word: shown.source[best.other], other: shown.target[best.word], share: percent(best.weight) });
    const named = [best, second].filter((each) => each?.weight >= LEAST).map(({ other, weight }) => fill(t.quoted, { word: shown.source[other], share: percent(weight) }));
    const word = shown.target[best.word];
    const text = one.source === undefined ? fill(t.from, { word, others: list(named, t.and) }) : fill(t.pair, { word, other: shown.source[one.source], share: percent(best.weight) });
    const chance = shown.probabilities?.[best.word];
    return isWord(word) && chance != null ? `${text} ${fill(t.chance, { chance: format(chance), sure: percent(sure.sure(chance, shown.from)) })}` : text;
  }
  /** Show a sentence on the words whose attention is most and least like a dictionary. */
  function read() {
    const best = shown.target.flatMap((word, i) => (isWord(word) ? [meant({ target: i }).find(({ other }) => isWord(shown.source[other]))] : [])).filter(Boolean).sort((a, b) => b.weight - a.weight);
    if (!best.length) return put(reading, "");
    const told = ({ word, other, weight }) => ({ word: shown.target[word], other: shown.source[other], share: percent(weight) });
    const far = best.length > 1 && best.at(-1).weight >= LEAST ? ` ${way.told(t.far, told(best.at(-1)), shown.from)}` : "";
    return put(reading, fill(t.near, told(best[0])) + far);
  }
  function tell(one) {
    const { word, other } = telling(one ?? {});
    caption.toggleAttribute("data-told", Boolean(one) && written === shown.target.length);
    caption.replaceChildren(one ? described(one) : way.told(t.idle, { heads: nHeads() }, shown.from), " ", h("button", {
      type: "button", class: "attn-w-button", "data-attn": "inside", onclick: () => enter(one ?? { target: word, source: other }),
    }, fill(t.inside, { heads: nHeads(), word: shown.target[word], other: shown.source[other] })));
  }
  /** The first touch chooses a word or a ribbon, which the line below describes; a second one opens it. */
  function touch(one) {
    if (at && at.target === one.target && at.source === one.source) return enter(one);
    go(one);
    // The caption comes into sight as far as the drawing does not leave it.
    const [below, above] = [caption.getBoundingClientRect().bottom - innerHeight, stage.getBoundingClientRect().top - parseFloat(getComputedStyle(stage).scrollMarginTop)];
    scrollBy({ top: Math.max(0, Math.min(below, above)), behavior: still.matches ? "auto" : "smooth" });
    return live.say(described(one));
  }

  // Where the reader is --------------------------------------------------------------
  // Each step inwards is an entry of the browser's history. Its state holds the place, the sentence, and the places of the entries behind it.
  let behind = [];
  let returning = null; // While the browser goes back to an earlier entry: { length, then }.

  const enter = (one) => {
    if (depthOf(at) < CHOSEN) go(one);
    const { word, other } = telling(one);
    go({ target: word, source: other, isInside: true });
  };
  /** Go to a place: inwards adds a history entry, sideways replaces the current one, and outwards goes back. */
  function go(to) {
    if (returning) {
      const { then } = returning;
      returning.then = () => {
        then();
        go(to);
      };
      return;
    }
    const [depth, now] = [depthOf(to), depthOf(at)];
    const back = behind.findIndex((place) => depthOf(place) >= depth);
    if (depth < now && back >= 0) {
      show(depthOf(behind[back]) === depth ? behind[back] : to);
      rewind(back, () => keep("replaceState"));
      return;
    }
    if (depth > now) {
      if (fallback && !history.state?.ribbons) keep("replaceState");
      behind = [...behind, at];
    }
    show(to);
    keep(depth > now ? "pushState" : "replaceState");
  }
  function rewind(length, then = () => {}) {
    const count = length - behind.length;
    behind = behind.slice(0, length);
    returning = { length, then };
    if (fallback) history.go(count);
    else settle();
  }
  function settle() {
    const { then } = returning;
    returning = null;
    then();
  }
  /** Write the place into the history and the URL. In a local folder, a browser allows no change of the URL. */
  function keep(how) {
    if (!fallback) return;
    const state = { ...history.state, ribbons: { at, behind, said } };
    try { history[how](state, "", address()); } catch { history[how](state, ""); }
  }
  /** A new sentence has no places of another one in its history. */
  function remember() {
    if (behind.length) rewind(0, () => keep("replaceState"));
    else keep("replaceState");
  }
  function popped() {
    const { at: place, behind: places, said: text } = history.state?.ribbons ?? {};
    if (returning) {
      const { length } = returning;
      if (places?.length > length) history.go(length - places.length);
      else settle();
      return;
    }
    behind = places ?? [];
    if (!text) return; // A link inside the page was followed.
    if (["text", "from", "piece"].some((name) => text[name] !== said[name])) restore(text, place);
    else if (JSON.stringify(place) !== JSON.stringify(at)) show(place);
  }
  function restore({ text, from, piece }, place) {
    input.value = text;
    if (!way.turn(from, { place, piece })) wish({ place, piece });
  }
  /** Go to the place that a URL names. */
  function arrive(place) {
    if (place && fits(place, shown)) show(place);
    else if (place) note.append(` ${t.strange}`);
    keep("replaceState");
  }
  /** Show a place, and its content. */
  function show(place) {
    stop();
    written = shown.target.length;
    const [last, was] = [at, depthOf(at)];
    at = place;
    const depth = depthOf(at);
    if (depth >= INSIDE) inside();
    if (depth === DOT && !trace) compute();
    if (depth >= INSIDE) return;
    if (was >= INSIDE) {
      draw();
      nodes.target[last.target].focus({ preventScroll: true });
    }
    reveal();
  }
  /** Compute the numbers of the stored example, of which the page has only the weights. */
  async function compute() {
    const turn = ++wishes;
    const translator = await ready(shown.from);
    if (turn !== wishes) return;
    if (!translator) return inside(false, bar.told(t.failed));
    const [{ ids }] = cutSource(translator, textOf(shown.tokens.source, kind)).pieces;
    ({ trace } = traced(translator, ids, shown.from));
    put(note, sure.rare);
    if (depthOf(at) === DOT) inside();
  }
  const leave = () => go(outwards(at));

  // Inside -------------------------------------------------------------------------
  function inside(isQuiet = false, missing = "") {
    const { target: word, source: other, layer, head, row, column } = at;
    const names = { word: shown.target[word], other: shown.source[other] };
    const [title, text, picture] = row !== undefined ? dotProduct(missing) : layer !== undefined ? matrix(names) : heads(names);
    const pair = { target: word, source: other, isInside: true };
    const crumbs = [[t.whole, null], [`${names.other} → ${names.word}`, pair], layer !== undefined && [fill(t.head, { layer: layer + 1, head: head + 1 }), { ...pair, layer, head }], row !== undefined && [`${shown.tokens.source[column].trim()} → ${shown.tokens.target[row].trim()}`, at]].filter(Boolean);
    const last = crumbs.length - 1;
    const way = h("p", { class: "attn-ribbons-way" }, h("button", { type: "button", class: "attn-w-button", "data-attn": "back", onclick: leave }, `← ${t.back}`),
      crumbs.map(([name, to], n) => [n ? h("span", { "aria-hidden": "true" }, "›") : null, n < last
        ? h("button", { type: "button", class: "attn-ribbons-crumb", onclick: () => go(to) }, name) : h("b", {}, name)]));
    const heading = h("p", { class: "attn-ribbons-title", tabindex: -1, "data-attn": "inside-title" }, h("b", {}, title));
    const node = h("div", { class: "attn-ribbons-inside", onkeydown: (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      leave();
    } }, way, heading, h("p", {}, text), picture);
    stage.replaceChildren(node);
    caption.replaceChildren();
    sure.line.toggleAttribute("data-none", true);
    if (isQuiet) return;
    heading.focus({ preventScroll: true });
    const { top, bottom } = stage.getBoundingClientRect();
    if (bottom > innerHeight || top < parseFloat(getComputedStyle(stage).scrollMarginTop)) stage.scrollIntoView({ block: "start", behavior: still.matches ? "auto" : "smooth" });
    live.say(`${title}. ${text}`);
  }
  function heads(names) {
    const { target: word, source: other } = at;
    const share = chosenWeights(shown.cross, null, null)[word][other];
    const values = { ...names, layers: shown.cross.length, per: shown.cross[0].length, heads: nHeads(), share: percent(share) };
    const tiles = shown.cross.map((layer, l) => layer.map((weights, k) => h("button", {
      type: "button", class: "attn-ribbons-tile", "data-attn": "tile", "aria-label": `${fill(t.head, { layer: l + 1, head: k + 1 })}: ${percent(weights[word][other])}`,
      onclick: () => go({ ...at, layer: l, head: k }), ...shade(weights[word][other]),
    }, h("span", { class: "attn-w-number" }, percent(weights[word][other])))));
    const parts = shown.places[0][word].map((i) => shown.tokens.target[i].trim());
    const cut = parts.length > 1 ? ` ${fill(t.parts, { ...names, count: parts.length, parts: parts.join(", ") })}` : "";
    return [fill(t.heads, names), fill(t.headsText, values) + cut, h("div", { class: "attn-ribbons-tiles", style: `--attn-heads: ${shown.cross[0].length}` },
      tiles.map((row, l) => [h("span", { class: "attn-w-label" }, fill(t.layer, { layer: l + 1 })), row]))];
  }
  /** The matrix is over tokens: a word that was split has several dot products. */
  function matrix({ word: written_, other: read }) {
    const { target: word, source: other, layer, head } = at;
    const { source, target, cross } = shown.tokens;
    const weights = cross[layer][head];
    const [rows, columns] = shown.places;
    const cells = target.map((_, i) => source.map((_, j) => h("button", {
      type: "button", "data-attn": "cell", "aria-label": fill(t.cell, { row: target[i].trim(), column: source[j].trim(), weight: format(weights[i][j]) }),
      "data-chosen": rows[word].includes(i) && columns[other].includes(j), onclick: () => go({ ...at, row: i, column: j }), ...shade(weights[i][j]),
    }, h("span", {}, weights[i][j] >= 0.1 ? formatBrief(weights[i][j]) : ""))));
    const flat = cells.flat();
    const stopAt = roving(flat, (k) => stopAt(k), () => source.length);
    stopAt(rows[word][0] * source.length + columns[other][0]);
    requestAnimationFrame(() => inSight(flat[rows[word][0] * source.length + columns[other][0]]));
    const table = h("table", { class: "attn-w-table attn-ribbons-matrix" },
      h("thead", {}, h("tr", {}, h("td", {}), source.map((token) => h("th", { scope: "col", class: "attn-w-key", lang: shown.from }, token.trim())))),
      h("tbody", {}, target.map((token, i) => h("tr", {}, h("th", { scope: "row", class: "attn-w-query", lang: otherLanguage(shown.from) }, token.trim()), cells[i].map((cell) => h("td", {}, cell))))));
    const title = fill(t.matrix, { head: head + 1, layer: layer + 1 });
    return [title, way.told(t.matrixText, {}, shown.from), scroller(`${title}: ${written_}, ${read}`, table)];
  }
  function dotProduct(missing) {
    const { layer, head, row, column } = at;
    const { source, target } = shown.tokens;
    if (!trace) return [`${t.dot}: ${target[row].trim()}, ${source[column].trim()}`, missing || bar.told(t.needs), ""];
    const sub = trace.decoder.layers[layer].crossAttention;
    const [q, k] = [sub.query[head][row], sub.key[head][column]].map((vector) => Array.from(vector));
    const products = q.map((x, d) => x * k[d]);
    const values = {
      row: target[row].trim(), column: source[column].trim(), d: q.length, score: format(sub.scores[head][row][column]), scaled: format(sub.maskedScores[head][row][column]),
      weight: format(sub.weights[head][row][column]),
    };
    const top = Math.max(...q.map(Math.abs), ...k.map(Math.abs));
    const highest = Math.max(...products.map(Math.abs));
    const strip = (name, numbers, most) => [h("span", { class: `attn-w-label attn-w-${name}` }, t[name] ?? name), h("span", { class: `attn-ribbons-strip attn-w-${name}`, "aria-hidden": "true" },
      numbers.map((x) => h("i", { "data-negative": x < 0, style: `--attn-p: ${(Math.abs(x) / most).toFixed(3)}` })))];
    const terms = products.slice(0, SHOWN).map((x, d) => `${format(q[d])} × ${format(k[d])} = ${format(x)}`);
    const shares = h("ol", { class: "attn-ribbons-row" }, h("li", { class: "attn-w-label" }, h("span", {}, t.key), h("span", {}, rich(t.scaled)), h("span", {}), h("span", {}, t.weight)), source.map((token, j) => h("li", { "data-key": true, "data-chosen": j === column },
      h("span", { class: "attn-tour-name", lang: shown.from }, token.trim()), h("span", { class: "attn-w-number" }, format(sub.maskedScores[head][row][j])),
      h("span", { class: "attn-tour-share", "aria-hidden": "true" }, h("i", { style: `width: ${(100 * sub.weights[head][row][j]).toFixed(1)}%` })), h("span", { class: "attn-w-number" }, format(sub.weights[head][row][j])))));
    return [`${t.dot}: ${values.row}, ${values.column}`, fill(t.dotText, values), h("div", { class: "attn-ribbons-dot" },
      h("div", { class: "attn-ribbons-strips" }, strip("query", q, top), strip("key", k, top), strip("product", products, highest)),
      h("p", {}, `${terms.join(";  ")};  … ${fill(t.more, { count: q.length - SHOWN })}`),
      h("p", {}, fill(t.score, values), " ", h("b", {}, fill(t.weights, values))), shares)];
  }

  // Taking it away ------------------------------------------------------------------
  function address() {
    const url = new URL(location.href);
    url.search = "";
    url.hash = "";
    if (said.text !== first) {
      url.searchParams.set("say", said.text);
      if (said.from !== "en") url.searchParams.set("from", said.from); // A URL without a direction is from English.
      if (said.piece) url.searchParams.set("piece", said.piece + 1);
    }
    for (const [name, x] of Object.entries(placed(at))) url.searchParams.set(name, x);
    return url.href;
  }
  /** What is shown, as a file. */
  const drawing = () => drawingOf(depthOf(at) >= INSIDE ? stage : svg);
  async function png() {
    const { text, width, height } = await drawing();
    const image = Object.assign(new Image(), { src: `data:image/svg+xml,${encodeURIComponent(text)}` });
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve));
  }
  async function share() {
    const link = address();
    const told = (text) => {
      put(caption, text);
      live.say(text);
    };
    if (navigator.share && matchMedia("(pointer: coarse)").matches) { // A phone has its own menu for sharing a URL.
      try { return await navigator.share({ title: document.title, text: `${said.text} → ${sentence()}`, url: link }); } catch (error) { if (error.name === "AbortError") return undefined; }
    }
    try {
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": new Blob([link], { type: "text/plain" }), "image/png": png() })]);
      return told(t.copied);
    } catch { /* Some browsers copy no pictures. */ }
    try {
      await navigator.clipboard.writeText(link);
      told(t.copiedLink);
    } catch {
      told(fill(t.copy, { address: link }));
    }
  }
  async function save() {
    try {
      const { text } = await drawing();
      h("a", { href: `data:image/svg+xml,${encodeURIComponent(text)}`, download: "attn.svg" }).click();
    } catch { put(caption, document.body.dataset.unsaved); }
  }
  const sentence = () => whole.textContent || textOf(shown.tokens.target, kind);
  const main = (button) => (button.toggleAttribute("data-main", true), button);
  const act = (name, press) => h("button", { type: "button", class: "attn-w-button", "data-attn": name, onclick: press }, t[name]);
  const tools = h("div", { class: "attn-ribbons-tools" }, main(act("play", () => {
    if (at) go(null);
    inSight(stage);
    play(Math.min(1000, TOLD / shown.target.length));
  })),
    tour ? act("slow", () => {
      history.pushState(history.state, ""); // The browser's way back leads here from the other figure.
      document.dispatchEvent(new CustomEvent("attn-sentence", { detail: { ...drawn, isAsked: true } }));
    }) : null,
    fallback ? act("share", share) : null, act("save", save));

  const root = h("div", {
    class: "attn-w attn-tour attn-ribbons", lang: language, role: "group", "aria-label": t.title, "data-attn": "ribbons",
  }, pieceChoice, stage, sure.line, caption, form, note, bar.node, tools, reading, live.node);
  el.append(root);
  let room = 0;
  const observer = new ResizeObserver(() => {
    if (stage.clientWidth === room) return;
    room = stage.clientWidth;
    draw();
  });
  draw();
  observer.observe(stage);
  /** Words that are drawn in another font than before are measured again. */
  const refit = () => {
    const measure = ruler(stage, sizeOf(Math.max(shown.source.length, shown.target.length), stage.clientWidth || 880));
    if (String([shown.source.map(measure), shown.target.map(measure)]) !== measured) draw();
  };
  document.fonts.addEventListener("loadingdone", refit);
  read();
  const kept = fallback ? history.state?.ribbons : null; // The page was left, or loaded again, at a place.
  const query = new URLSearchParams(fallback ? location.search : "");
  const from = query.get("from") === "es" ? "es" : "en";
  const asks = kept ?? { at: placeIn(query), behind: [], said: query.get("say") ? { text: query.get("say"), from, piece: (query.get("piece") || 1) - 1 } : said };
  behind = asks.behind;
  if (asks.said.text !== first || asks.said.from !== way.from) restore(asks.said, asks.at);
  else if (asks.at) arrive(asks.at);
  else if (!still.matches) play(beat());
  if (fallback) addEventListener("popstate", popped);
  return () => {
    stop();
    observer.disconnect();
    document.fonts.removeEventListener("loadingdone", refit);
    removeEventListener("popstate", popped);
  };
}

/** Join the tokens of a translation into words; keep its `tokens`, and the `places` of those of each word. */
function byWords({ source, target, cross, probabilities }) {
  const said = target.slice(0, target.at(-1) === "<eos>" ? -1 : undefined); // The end of the sentence comes from no word.
  const rows = (all) => all.slice(0, said.length);
  const joined = joinWords({ source, target: said, cross: cross.map((heads) => heads.map(rows)), probabilities: probabilities && rows(probabilities) });
  return { ...joined, tokens: { source, target, cross }, places: [wordsOf(said), wordsOf(source)] };
}

function shade(weight) {
  return { style: `background-color: rgb(var(--attn-heat) / ${weight.toFixed(3)})`, "data-deep": weight > 0.757 };
}

/** Return how wide a word is in the letters of a node. */
function ruler(node, size) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `600 ${size}px ${getComputedStyle(node).getPropertyValue("--attn-serif") || "Georgia, serif"}`;
  return (word) => context.measureText(word).width;
}

export default { render };
