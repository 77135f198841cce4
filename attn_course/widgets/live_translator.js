// A sentence, its translation by the trained model word by word, and where each word looked.
import { crossAttention, radios, words } from "./cross_attention.js";
import { beamSearch, greedy } from "./decoding.js";
import { announcer, examples, fill, format, h, list, put, softmax, uid } from "./shared.js";
import { join } from "./tokenizer.js";
import { encodeSource, loadTranslator } from "./trained.js";

export const STRINGS = {
  es: {
    title: "Traductor en vivo",
    sentence: "Oración en inglés", translate: "Traducir", pick: "O elige una", pickOne: "oraciones de ejemplo",
    search: "Ancho del haz", greedy: "1 (voraz)",
    ready: "Ejemplo ya calculado: el modelo se carga cuando lo pidas.",
    loading: "Se carga el modelo…", failed: "El modelo no llegó: falta translator.js junto a esta página, o no se puede leer.",
    done: "Traducido aquí mismo, en {time} ms.",
    empty: "Escribe una oración en inglés.",
    tooLong: "Son {length} tokens; el modelo solo aprendió con oraciones de hasta {most}.",
    unknown: "Fuera del vocabulario: {words}. Lo que el traductor no conoce no lo traduce.",
    layer: "Capa", head: "Cabeza", all: "media",
    attention: "De la query a las keys",
    key: "key: cada palabra que se lee, con su peso",
    query: "query: predice esta palabra", queryProbability: "query: predice esta palabra, con su probabilidad",
    most: "Para predecir «{word}», la query de «{before}» atiende sobre todo a {keys}: {weight}.",
    many: "Para predecir «{word}», la query de «{before}» atiende sobre todo a {count} keys por igual: {weight} cada una.",
    right: "Coincide con la alineación de referencia.",
    maybe: "La alineación de referencia admite ese enlace.",
    elsewhere: "La alineación de referencia lo enlaza con {keys}.",
    unlinked: "La alineación de referencia no lo enlaza con ninguna palabra.",
    end: "<eos> termina la oración: no traduce ninguna palabra.",
    noGold: "De esta traducción no hay alineación de referencia.",
    heat: "Pesos de la atención cruzada", rows: "Cada fila es la query de un token, que predice el siguiente (→), y suma 1; cada columna, una key.",
    sure: "enlace seguro de la alineación", possible: "enlace posible",
    quoted: "«{token}»", and: "y",
    tree: "Árbol de búsqueda", treeStart: "inicio", treeStep: "paso {step}",
    treeText: "Junto a cada token, su probabilidad y la log-probabilidad total de la hipótesis. En cada paso siguen las {width} mejores, y la que llega a `<eos>` guarda su lugar; las demás, sin recuadro, se descartan.",
    after: "tras «{words}»", kept: "se conserva", dropped: "se descarta", won: "en la ganadora",
  },
  en: {
    title: "Live translator",
    sentence: "English sentence", translate: "Translate", pick: "Or pick one", pickOne: "example sentences",
    search: "Beam width", greedy: "1 (greedy)",
    ready: "An example computed beforehand: the model loads when you ask for it.",
    loading: "The model is loading…", failed: "The model did not arrive: translator.js is not beside this page, or cannot be read.",
    done: "Translated right here, in {time} ms.",
    empty: "Write a sentence in English.",
    tooLong: "That is {length} tokens; the model learned only from sentences of up to {most}.",
    unknown: "Outside the vocabulary: {words}. What the translator does not know it does not translate.",
    layer: "Layer", head: "Head", all: "mean",
    attention: "From the query to the keys",
    key: "key: each word that is read, with its weight",
    query: "query: predicts this word", queryProbability: "query: predicts this word, with its probability",
    most: "To predict “{word}”, the query of “{before}” attends most to {keys}: {weight}.",
    many: "To predict “{word}”, the query of “{before}” attends most to {count} keys alike: {weight} each.",
    right: "The gold alignment agrees.",
    maybe: "The gold alignment allows that link.",
    elsewhere: "The gold alignment links it to {keys}.",
    unlinked: "The gold alignment links it to no word.",
    end: "<eos> ends the sentence: it translates no word.",
    noGold: "For this translation there is no gold alignment.",
    heat: "Cross-attention weights", rows: "Each row is the query of one token, which predicts the next (→), and sums to 1; each column is a key.",
    sure: "sure link of the alignment", possible: "possible link",
    quoted: "“{token}”", and: "and",
    tree: "Search tree", treeStart: "start", treeStep: "step {step}",
    treeText: "Beside each token, its probability and the total log-probability of the hypothesis. At each step the {width} best go on, and one that reaches `<eos>` keeps its place; the others, without a frame, are dropped.",
    after: "after “{words}”", kept: "kept", dropped: "dropped", won: "in the winner",
  },
};

const PACE = 120; // milliseconds from word to word

/**
 * What the model writes for the ids of a sentence, and how it came to it: the tokens `source` and
 * `target`, `probabilities` of the latter, cross[l][h][i][j], what the query that predicts
 * target[i] takes from source[j], and of a beam `search`, its { tree, winner, width }.
 */
export function translate({ transformer, source, target }, ids, width) {
  const encoded = transformer.encode(ids);
  const model = { ...transformer, encode: () => encoded }; // the source is read once
  const maxNewTokens = 2 * ids.length + 10;
  const found = width > 1 ? beamSearch(model, ids, { width, maxNewTokens }) : null;
  const written = found ? found.hypotheses[0].ids : greedy(model, ids, { maxNewTokens });
  const { layers, logits } = transformer.decode(written.slice(0, -1), encoded.memory);
  const next = written.slice(1);
  return {
    source: ids.map((id) => source.tokens[id]), target: next.map((id) => target.tokens[id]),
    probabilities: next.map((id, i) => softmax(Array.from(logits[i]))[id]),
    cross: layers.map((layer) => layer.crossAttention.weights),
    search: found && { tree: found.tree, winner: found.hypotheses[0].node, width, tokens: target.tokens },
  };
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const example = model.get("example");
  const pairs = model.get("sentences");
  const gold = model.get("gold");
  const known = gold ? [{ source: example.source.join(" "), target: words(example.target).join(" "), ...gold }, ...pairs] : pairs;
  const live = announcer();
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const choice = { layer: null, head: null };
  let width = 1;
  let figure = null;
  let timer;

  const input = h("input", {
    type: "text", id: uid(), class: "attn-live-input", lang: "en", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    value: example.source.join(" "), "data-attn": "sentence",
    onfocus: () => loadTranslator(model).catch(() => {}), // told when there is something to translate
  });
  const sentences = [...new Set([example.source.join(" "), ...pairs.map(({ source }) => source)])];
  const picker = examples(t, sentences.map((text) => h("option", { lang: "en" }, text)), (sentence) => {
    input.value = sentence;
    wish();
  });
  const form = h("form", {
    class: "attn-live-form", novalidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      wish();
    },
  },
  h("label", { for: input.id, class: "attn-w-label" }, t.sentence), input,
  h("button", { class: "attn-w-button", "data-attn": "translate" }, t.translate),
  pairs.length ? picker : null);
  const searches = radios(t.search, "width", [1, 2, 3, 4].map((width) => [width, width > 1 ? String(width) : t.greedy]), 1, (chosen) => {
    width = chosen;
    wish();
  });
  const output = h("p", { class: "attn-live-output", "data-attn": "output" });
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const place = h("div", {});

  function say(text, verdict = null) {
    put(note, text);
    note.toggleAttribute("data-bad", verdict === "bad");
    if (text !== t.ready) live.say(text);
  }
  function clear() {
    clearTimeout(timer);
    figure?.stop();
    figure = null;
    place.replaceChildren();
  }
  /** No translation: why, and the words of the sentence, those that nobody knows marked. */
  function refuse(text, words = [], unknown = []) {
    clear();
    const bad = new Set(unknown.map(({ position }) => position));
    output.lang = "en";
    output.replaceChildren(...words.flatMap((word, i) => [i ? " " : "", bad.has(i) ? h("mark", { "data-attn": "unknown" }, word) : word]));
    say(text, "bad");
  }
  async function wish() {
    const text = input.value;
    let translator;
    const waiting = setTimeout(() => say(t.loading), 200);
    try {
      translator = await loadTranslator(model);
    } catch (error) {
      console.warn(error.message);
    }
    clearTimeout(waiting);
    if (!translator) return refuse(t.failed);
    const { ids, unknown, tooLong } = encodeSource(translator, text);
    if (ids.length === 0) return refuse(t.empty);
    const split = translator.source.split(text);
    if (unknown.length) {
      const quoted = [...new Set(unknown.map(({ word }) => fill(t.quoted, { token: word })))];
      return refuse(fill(t.unknown, { words: list(quoted, t.and) }), split, unknown);
    }
    if (tooLong) return refuse(fill(t.tooLong, { length: ids.length, most: translator.maxLen }), split);
    const begin = performance.now();
    const result = translate(translator, ids, width);
    const time = performance.now() - begin;
    show(result);
    put(note, fill(t.done, { time: format(time, time < 10 ? 1 : 0) }));
    note.removeAttribute("data-bad");
    if (still.matches) figure.reveal(result.target.length);
    else write(0);
    figure.tell(join(words(result.target)));
  }
  /** One word more, until all are written. */
  function write(count) {
    figure.reveal(count);
    if (count < figure.length) timer = setTimeout(() => write(count + 1), count ? PACE : 0);
  }
  function show(result) {
    clear();
    const same = (pair) => pair.source === result.source.join(" ") && pair.target === words(result.target).join(" ");
    const links = result.target.at(-1) === "<eos>" ? known.find(same) : undefined;
    output.lang = "es";
    figure = crossAttention({ t, result, links, choice, live, output });
    place.replaceChildren(figure.node);
  }

  el.append(h("div", {
    class: "attn-w attn-live", lang: language, role: "group", "aria-label": t.title, "data-attn": "live-translator",
  }, form, h("div", { class: "attn-w-controls" }, searches), note, output, place, live.node));
  show(example);
  figure.reveal(example.target.length, Math.min(1, example.target.length - 1));
  say(t.ready);
  return clear;
}

export default { render };
