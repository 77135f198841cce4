// A sentence, its translation by the trained model word by word, and the words that each word
// attended to.
import { certainty } from "./certainty.js";
import { crossAttention } from "./cross_attention.js";
import { putTogether } from "./cutting.js";
import { beamSearch, greedy, logSumExp } from "./decoding.js";
import { directions } from "./direction.js";
import { words } from "./joined.js";
import { progressBar } from "./loading.js";
import { searchTree } from "./search_tree.js";
import { announcer, examples, fill, format, h, list, put, radios, uid } from "./shared.js";
import { textOf } from "./tokenizer.js";
import { cutSource } from "./trained.js";

export const STRINGS = {
  es: {
    title: "Traductor en vivo",
    sentence: "Oración en {from}", translate: "Traducir", pick: "O elige una", pickOne: "oraciones de ejemplo",
    search: "Ancho del haz", greedy: "1 (voraz)",
    penalty: "Penalización por longitud",
    ready: "Ejemplo ya calculado. El modelo ({size} MB) se carga cuando traduzcas algo.",
    loading: "Se carga el modelo: {some} de {size} MB.", progress: "Carga del modelo", here: "El modelo está cargado.", retry: "Reintentar",
    failed: "El modelo no llegó entero: {some} de {size} MB. Lo que llegó se guarda; vuelve a intentarlo.",
    done: "Traducido aquí mismo, en {time} ms.",
    empty: "Escribe una oración en {from}.",
    working: "Se traduce el trozo {n} de {count}.", piece: "Trozo",
    pieces: "El texto se tradujo en {count} trozos, en {time} ms. La figura muestra uno.",
    longWord: "Una palabra de {length} letras es más de lo que el modelo puede leer: escribe palabras más cortas.",
    nul: "El texto contiene el carácter NUL, que ningún texto lleva: quítalo.",
    unknown: "Fuera del vocabulario: {words}. Lo que el traductor no conoce no lo traduce.",
    layer: "Capa", head: "Cabeza", all: "media",
    attention: "De la query a las keys",
    key: "key: lo que se lee, con su peso",
    query: "query: lo que predice", queryProbability: "query: lo que predice, con su probabilidad",
    unit: "Mostrar", tokens: "tokens", whole: "palabras",
    joined: "Unidos en palabras: los pesos de las partes de una palabra leída se suman; los de las partes de una escrita se promedian, y sus probabilidades se multiplican.",
    most: "Para predecir «{word}», la query de «{before}» atiende sobre todo a {keys}: {weight}.",
    many: "Para predecir «{word}», la query de «{before}» atiende sobre todo a {count} keys por igual: {weight} cada una.",
    right: "Es, en efecto, la palabra que traduce.",
    maybe: "Puede decirse que la traduce.",
    elsewhere: "En realidad traduce {keys}.",
    unlinked: "En realidad no traduce ninguna palabra.",
    end: "<eos> termina la oración: no traduce ninguna palabra.",
    noGold: "De esta traducción no se sabe qué palabra traduce a cuál.",
    heat: "Pesos de la atención cruzada", rows: "Cada fila es la query de un token, que predice el siguiente (→), y suma 1; cada columna, una key.",
    sure: "una palabra traduce la otra", possible: "quizá la traduce",
    quoted: "«{token}»", and: "y",
    tree: "Árbol de búsqueda", treeStart: "inicio", treeStep: "paso {step}",
    treeText: "Junto a cada token, su probabilidad y el logaritmo de la probabilidad de todo el comienzo. En cada paso siguen los {width} mejores, aunque alguno haya terminado en `<eos>`; los demás, sin recuadro, se descartan.",
    after: "tras «{words}»", kept: "se conserva", dropped: "se descarta", won: "en la ganadora",
    beamTitle: "Un haz que crece", step: "Paso", play: "Reproducir", pause: "Pausa", next: "Siguiente",
    begun: "Paso {step}, quedan en el haz:", finished: "Todas han terminado. Ordenadas por su log-probabilidad:", nothing: "(nada)",
  },
  en: {
    title: "Live translator",
    sentence: "Sentence in {from}", translate: "Translate", pick: "Or pick one", pickOne: "example sentences",
    search: "Beam width", greedy: "1 (greedy)",
    penalty: "Length penalty",
    ready: "An example computed beforehand. The model ({size} MB) loads when you translate something.",
    loading: "The model is loading: {some} of {size} MB.", progress: "Loading of the model", here: "The model is loaded.", retry: "Try again",
    failed: "The model did not arrive whole: {some} of {size} MB. What arrived is kept; try again.",
    done: "Translated right here, in {time} ms.",
    empty: "Write a sentence in {from}.",
    working: "Piece {n} of {count} is being translated.", piece: "Piece",
    pieces: "The text was translated in {count} pieces, in {time} ms. The figure shows one of them.",
    longWord: "A word of {length} letters is more than the model can read: write shorter words.",
    nul: "The text has the character NUL, which no text has: take it out.",
    unknown: "Outside the vocabulary: {words}. What the translator does not know it does not translate.",
    layer: "Layer", head: "Head", all: "mean",
    attention: "From the query to the keys",
    key: "key: what is read, with its weight",
    query: "query: what it predicts", queryProbability: "query: what it predicts, with its probability",
    unit: "Show", tokens: "tokens", whole: "words",
    joined: "Joined to words: the weights of the parts of a word that is read are added up; those of the parts of a word that is written are averaged, and their probabilities multiplied.",
    most: "To predict “{word}”, the query of “{before}” attends most to {keys}: {weight}.",
    many: "To predict “{word}”, the query of “{before}” attends most to {count} keys alike: {weight} each.",
    right: "That is indeed the word that it translates.",
    maybe: "It can be said to translate that word.",
    elsewhere: "It really translates {keys}.",
    unlinked: "It really translates no word.",
    end: "<eos> ends the sentence: it translates no word.",
    noGold: "For this translation it is not known which word translates which.",
    heat: "Cross-attention weights", rows: "Each row is the query of one token, which predicts the next (→), and sums to 1; each column is a key.",
    sure: "one word translates the other", possible: "it may translate it",
    quoted: "“{token}”", and: "and",
    tree: "Search tree", treeStart: "start", treeStep: "step {step}",
    treeText: "Beside each token, its probability and the total log-probability of the hypothesis. At each step the {width} best go on, and one that reaches `<eos>` keeps its place; the others, without a frame, are dropped.",
    after: "after “{words}”", kept: "kept", dropped: "dropped", won: "in the winner",
    beamTitle: "A beam that grows", step: "Step", play: "Play", pause: "Pause", next: "Next",
    begun: "Step {step}, left in the beam:", finished: "All have ended. Ordered by their log-probability:", nothing: "(nothing)",
  },
};

const PACE = 120; // A new token appears after this many milliseconds.
const TREE_PACE = 700; // In a figure about search, the tree grows by a step after this many milliseconds.
const PENALTIES = [0, 0.6, 1];

/**
 * Translate the ids of a sentence. Returns the tokens `source` and `target`, the `probabilities` of
 * the target tokens, cross[l][h][i][j], the weight that the query that predicts target[i] gives to
 * source[j], and the { tree, winner, width } of a beam `search`. With `whole`, a beam of 1 has a tree as well.
 */
export function translate({ transformer, source, target }, ids, width, lengthPenalty = 0, whole = false) {
  const encoded = transformer.encode(ids);
  const steps = []; // The traces of greedy search are kept; the winner of a beam is decoded once more.
  const model = {
    ...transformer, encode: () => encoded, // The source is encoded only once.
    decode: (...given) => (steps.push(transformer.decode(...given)), steps.at(-1)),
  };
  const maxNewTokens = 2 * ids.length + 10;
  const found = whole || width > 1 ? beamSearch(model, ids, { width, maxNewTokens, lengthPenalty }) : null;
  const written = found ? found.hypotheses[0].ids : greedy(model, ids, { maxNewTokens });
  if (found) steps.push(transformer.decode(written.slice(0, -1), encoded.memory));
  const logits = steps.flatMap((step) => step.logits);
  const cross = steps[0].layers.map((_, l) => steps[0].layers[l].crossAttention.weights.map((_, h) =>
    steps.flatMap((step) => step.layers[l].crossAttention.weights[h])));
  const next = written.slice(1);
  return {
    source: ids.map((id) => source.tokens[id]), target: next.map((id) => target.tokens[id]),
    probabilities: next.map((id, i) => Math.exp(logits[i][id] - logSumExp(logits[i]))),
    cross,
    search: found && { tree: found.tree, winner: found.hypotheses[0].node, width, tokens: target.tokens },
  };
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const { tokenizer: kind, megabytes } = model.get("pretrained");
  const example = model.get("example");
  const searching = model.get("search"); // A figure that begins with a tree is about search alone.
  const pairs = model.get("sentences");
  const gold = model.get("gold");
  const first = kind === "bpe" ? textOf(example.source, kind) : example.source.join(" ");
  const way = directions(model, turned, first);
  let said = { text: first, isOther: false }; // What is shown, and whether it seems to be of another language.
  const known = [...(gold ? [{ source: first, target: words(example.target).join(" "), ...gold }] : []), ...pairs.filter(({ sure }) => sure)];
  const live = announcer();
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const choice = { layer: null, head: null, joined: false };
  const search = { width: searching?.width ?? 1, penalty: 0 };
  let figure = null;
  let timer;
  let wishes = 0;

  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const bar = progressBar(t, megabytes, (text) => put(note, text));
  const sure = searching ? null : certainty(model); // The figure about search shows no certainty.
  const warned = (text) => (sure ? `${text} ${sure.rare}` : text);
  // A text may have several lines, which an `input` would lose.
  const input = h("textarea", {
    rows: 1, id: uid(), class: "attn-live-input", lang: way.from, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    enterkeyhint: "go", "data-attn": "sentence", "data-lm-suppress-shortcuts": "true", oninput: fetchEarly,
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      wish();
    },
  }, first);
  const picker = examples(t, way.options(), (sentence) => {
    input.value = sentence;
    wish();
  });
  const asked = h("label", { for: input.id, class: "attn-w-label" }, way.told(t.sentence));
  const form = h("form", {
    class: "attn-live-form", novalidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      wish();
    },
  },
  asked, input,
  h("button", { class: "attn-w-button", "data-attn": "translate" }, t.translate),
  pairs.length ? picker : null);
  if (way.node) form.prepend(way.node);
  const searched = (label, name, options) => radios(label, name, options, search[name], (chosen) => {
    search[name] = chosen;
    penalties.hidden = Boolean(searching) || search.width === 1;
    wish();
  });
  const penalties = searched(t.penalty, "penalty", PENALTIES.map((penalty) => [penalty, String(penalty)]));
  penalties.hidden = true; // With one hypothesis there is nothing to compare.
  const widths = searched(t.search, "width", [1, 2, 3, 4].map((width) => [width, width > 1 ? String(width) : t.greedy]));
  const whole = h("p", { class: "attn-live-output attn-live-whole", hidden: true, "data-attn": "whole" });
  const pieceChoice = h("div", { class: "attn-w-controls", hidden: true });
  const output = h("p", { class: "attn-live-output", "data-attn": "output" });
  const retry = h("button", {
    type: "button", class: "attn-w-button", hidden: true, "data-attn": "retry",
    onclick: () => {
      input.focus();
      wish();
    },
  }, t.retry);
  const place = h("div", {});

  function say(text, verdict = null) {
    put(note, text);
    note.toggleAttribute("data-bad", verdict === "bad");
    live.say(text);
  }
  function clear() {
    clearTimeout(timer);
    figure?.stop();
    figure = null;
    place.replaceChildren();
  }
  /** Remove what is only for a text of several pieces. */
  function forget() {
    whole.hidden = pieceChoice.hidden = true;
  }
  /** Show why there is no translation, and the sentence with its unknown words marked. */
  function refuse(text, words = [], unknown = []) {
    clear();
    forget();
    const bad = new Set(unknown.map(({ position }) => position));
    output.hidden = false;
    output.lang = way.from;
    output.replaceChildren(...words.flatMap((word, i) => [i ? " " : "", bad.has(i) ? h("mark", { "data-attn": "unknown" }, word) : word]));
    say(text, "bad");
  }
  /** Fetch the model when the reader begins to write, since it will be needed. */
  function fetchEarly() {
    const before = wishes;
    way.load(bar.show).then(() => { if (wishes === before) put(note, t.here); }, () => {}).finally(bar.hide);
    input.removeEventListener("input", fetchEarly);
  }
  /** After a change of direction, replace the shown sentence by its translation; keep what the reader has typed since. */
  function turned(keep) {
    way.swap(input, said, whole.hidden ? output.textContent : whole.textContent, keep);
    input.lang = way.from;
    put(asked, way.told(t.sentence));
    way.refill(picker[1]);
    wish();
  }
  /** Record how the text was translated, and whether it seems to be in another language. */
  function hinted(translator, text) {
    const { isOther, parts } = way.remark(input.value, translator);
    said = { text: input.value, isOther };
    note.replaceChildren(warned(text), ...parts);
  }
  async function wish() {
    const turn = ++wishes;
    const text = input.value;
    let translator;
    retry.hidden = true;
    note.removeAttribute("data-bad");
    live.say(bar.told(t.loading)); // If the model arrives at once, the next message replaces this one.
    try {
      translator = await way.load(bar.show);
    } catch (error) {
      console.warn(error.message);
    }
    bar.hide();
    if (turn !== wishes) return; // A newer sentence has been submitted meanwhile.
    retry.hidden = Boolean(translator);
    if (!translator) return refuse(bar.told(t.failed));
    const { pieces, words: split, unknown, nul, longWord } = cutSource(translator, text);
    if (nul) return refuse(t.nul);
    if (longWord) return refuse(fill(t.longWord, { length: [...longWord].length }));
    if (unknown.length) {
      const quoted = [...new Set(unknown.map(({ word }) => fill(t.quoted, { token: word })))];
      return refuse(fill(t.unknown, { words: list(quoted, t.and) }), split, unknown);
    }
    if (pieces.some(({ ids }) => ids.length === 0)) return refuse(way.told(t.empty));
    const results = [];
    let time = 0;
    for (const { ids } of pieces) {
      if (pieces.length > 1) {
        put(note, fill(t.working, { n: results.length + 1, count: pieces.length }));
        await new Promise((resolve) => setTimeout(resolve)); // The page stays alive between two pieces.
        if (turn !== wishes) return;
      }
      const begin = performance.now();
      results.push(translate(translator, ids, search.width, search.penalty, Boolean(searching)));
      time += performance.now() - begin;
    }
    const shownTime = format(time, time < 10 ? 1 : 0);
    if (pieces.length > 1) return showPieces(translator, pieces, results, shownTime);
    forget();
    show(results[0]);
    hinted(translator, fill(t.done, { time: shownTime }));
    if (still.matches) figure.reveal(figure.length);
    else if (searching) figure.play();
    else write(0);
    figure.tell();
  }
  /** Show the whole translation, and the figure of the piece that the reader chooses. */
  function showPieces(translator, pieces, results, time) {
    const look = (i) => {
      show(results[i]);
      figure.reveal(figure.length);
    };
    whole.lang = way.to;
    const together = putTogether(pieces, results.map(({ target }) => textOf(target, kind)));
    if (sure) sure.write(whole, together, results.flatMap(({ target, probabilities }) => sure.ofWords(target, probabilities, way.from)));
    else put(whole, together);
    const picked = h("select", { id: uid(), class: "attn-live-input", "data-attn": "piece", onchange: () => look(picked.selectedIndex) },
      pieces.map(({ text }, i) => h("option", { lang: way.from }, `${i + 1}. ${text}`)));
    pieceChoice.replaceChildren(h("label", { for: picked.id, class: "attn-w-label" }, t.piece), picked);
    whole.hidden = pieceChoice.hidden = false;
    look(0);
    hinted(translator, fill(t.pieces, { count: pieces.length, time }));
    live.say(`${note.textContent} ${whole.textContent}`);
  }
  /** Show one token more, until all are written. */
  function write(count) {
    figure.reveal(count);
    if (count < figure.length) timer = setTimeout(() => write(count + 1), count ? PACE : 0);
  }
  function show(result) {
    clear();
    if (searching) {
      figure = growingBeam({ t, spoken: way.to, result, kind, still, live, output });
      place.replaceChildren(figure.node);
      return;
    }
    const same = (pair) => pair.source === result.source.join(" ") && pair.target === words(result.target).join(" ");
    const links = result.target.at(-1) === "<eos>" ? known.find(same) : undefined;
    output.lang = way.to;
    figure = crossAttention({
      t, result, kind, links, spoken: [way.from, way.to], hasGold: known.length > 0, choice, live, output, sure: result.probabilities && sure,
      again: () => {
        show(result);
        figure.reveal(figure.length);
        place.querySelector("[data-attn=joined]:checked").focus();
      },
    });
    place.replaceChildren(figure.node);
  }

  el.append(h("div", {
    class: "attn-w attn-live", lang: language, role: "group", "aria-label": searching ? t.beamTitle : t.title, "data-attn": "live-translator",
  }, form, h("div", { class: "attn-w-controls" }, widths, penalties), note, bar.node, retry, whole, pieceChoice, output, sure?.line ?? "", place, live.node));
  show(searching ? { ...example, search: searching } : example);
  figure.reveal(searching ? 1 : figure.length, Math.min(1, figure.length - 1));
  put(note, warned(bar.told(t.ready)));
  return clear;
}

/** The tree of a search at each of its steps: the reader moves the step, or plays it. */
function growingBeam({ t, spoken, result, kind, still, live, output }) {
  const tree = searchTree({ t, spoken, ...result.search });
  let timer = null;
  const id = uid();
  const shown = h("span", { class: "attn-w-number", "aria-hidden": "true" });
  const slider = h("input", {
    type: "range", id, min: 0, max: tree.last, step: 1, "data-attn": "grown",
    oninput: () => {
      stop();
      reveal(Number(slider.value));
      tell();
    },
  });
  const button = h("button", { type: "button", class: "attn-w-button", "data-attn": "play", onclick: press });
  const state = () => Number(slider.value);

  function stop() {
    clearInterval(timer);
    timer = null;
    put(button, still.matches ? t.next : t.play);
  }
  /** Grow by a step; a whole tree begins again. */
  const advance = () => reveal(state() === tree.last ? 0 : state() + 1);
  function press() {
    if (timer !== null) return stop();
    advance();
    if (still.matches) return tell();
    return play(state());
  }
  function play(from = 0) {
    stop();
    reveal(from);
    put(button, t.pause);
    timer = setInterval(() => {
      advance();
      if (state() === tree.last) {
        stop();
        tell();
      }
    }, TREE_PACE);
  }
  function said() {
    const opening = state() === tree.last ? t.finished : fill(t.begun, { step: state() });
    return [opening, ...tree.beam(state()).map(({ tokens, total }) => [textOf(tokens.filter((token) => token !== "<eos>"), kind).trim() || t.nothing, format(total)])];
  }
  const tell = () => live.say(said().flat().join(" "));
  function reveal(count) {
    slider.value = count;
    slider.setAttribute("aria-valuetext", String(count));
    put(shown, String(count));
    tree.reveal(count);
    const [opening, ...hypotheses] = said();
    put(heading, opening);
    ranks.replaceChildren(...hypotheses.map(([words, total], i) => h("li", { "data-attn": "hypothesis", "data-best": i === 0 },
      h("span", { lang: spoken }, words), " ", h("span", { class: "attn-w-number" }, total))));
  }
  const heading = h("p", { class: "attn-w-label", "data-attn": "heading" });
  const ranks = h("ol", { class: "attn-live-ranks" });
  const controls = h("div", { class: "attn-w-controls attn-live-grow" }, h("label", { for: id, class: "attn-w-label" }, t.step), slider, shown, button);
  output.hidden = true; // The list of hypotheses shows the same as the output.
  stop();
  return { node: h("div", {}, controls, heading, ranks, tree.node), length: tree.last, reveal, tell, play, stop: () => { stop(); tree.stop(); } };
}

export default { render };
