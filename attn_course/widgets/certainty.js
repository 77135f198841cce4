// How sure a translator is of each word that it writes, as attn.applications.translation.certainty computes it.
import { h } from "./shared.js";
import { textOf } from "./tokenizer.js";

const FITTED = {}; // _source.py inserts the content of calibrated.json: the slope and the offset of each translator.
const GUESSED_BELOW = 0.5; // Below this probability a word is more likely wrong than right.
const SAID_WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu;

const CERTAINTY = {
  es: { rare: "Puede saltarse palabras; las raras y los nombres pueden salir mal.", legend: "subrayado de puntos: el modelo dudó; más de la mitad de esas palabras están mal" },
  en: { rare: "It can leave words out; rare ones and names can come out wrong.", legend: "dotted underline: the model was unsure; of such words more than half are wrong" },
};

/**
 * How sure the translator of a widget is: { sure, isGuessed, ofWords, write, line, rare }. `write` marks words, and the node `line` explains the
 * marks; `rare` is a warning about rare words. The result is null if the translator is not calibrated: only those of real sentences are.
 */
export function certainty(model) {
  const { name } = model.get("pretrained");
  if (!FITTED[name]) return null;
  const t = CERTAINTY[model.get("language")];
  const sure = (chance, from) => calibrated(chance, from === "en" ? name : `${name}_${from}`);
  const line = h("p", { class: "attn-w-label attn-w-legend", "data-none": true, "data-attn": "legend" }, h("i", { "aria-hidden": "true" }), ` ${t.legend}`);
  return {
    sure, rare: t.rare, line,
    isGuessed: (chance, from) => sure(chance, from) < GUESSED_BELOW,
    /** The probability that each word of a translation is right. */
    ofWords: (tokens, probabilities, from) => wordChances(tokens, probabilities).map((chance) => sure(chance, from)),
    /** Write a text into a node and mark the words that are probably guessed; show `line` if there is such a word. */
    write(node, text, probabilities) {
      let n = 0;
      let end = 0;
      const parts = [];
      for (const { index, 0: word } of text.matchAll(SAID_WORD)) {
        if (!(probabilities[n++] < GUESSED_BELOW)) continue;
        parts.push(text.slice(end, index), h("u", { "data-attn": "guessed" }, word));
        end = index + word.length;
      }
      node.replaceChildren(...parts, text.slice(end));
      line.toggleAttribute("data-none", !parts.length);
    },
  };
}

/** The probability that a word is right, from the probability that the translator gave to it. */
export function calibrated(chance, name) {
  const [slope, offset] = FITTED[name];
  const kept = Math.min(Math.max(chance, 1e-6), 1 - 1e-6);
  return 1 / (1 + Math.exp(-slope * Math.log(kept / (1 - kept)) - offset));
}

/** The probability that the model gave to each word: the product over all tokens that contain a character of the word. */
export function wordChances(tokens, probabilities) {
  const said = tokens.filter((token) => token !== "<eos>");
  const ends = said.map((_, i) => textOf(said.slice(0, i + 1), "bpe").length);
  return [...textOf(said, "bpe").matchAll(SAID_WORD)].map(({ index, 0: word }) => said.reduce((product, _, i) =>
    (ends[i] > index && (ends[i - 1] ?? 0) < index + word.length ? product * probabilities[i] : product), 1));
}
