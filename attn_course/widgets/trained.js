// The models that the course trains, ready to work in the page.
import { cutText } from "./cutting.js";
import { loadModel } from "./loading.js";
import { BytePairTokenizer, WordTokenizer } from "./tokenizer.js";
import { loadTransformer } from "./transformer.js";

/**
 * { transformer, source, target, maxLen, punctuated, languages }: a translator from a language, as `Translator.pretrained` in Python;
 * `languages` are the tables of the recogniser, where it has them. By default it is the translator of the widget's example.
 */
export function loadTranslator(model, hear, from = model.get("pretrained").from ?? "en") {
  const { name, from: first = "en" } = model.get("pretrained");
  const make = ({ weights, vocabularies, tokenizer, maxLen, punctuated, languages }) => {
    const [source, target = source] = vocabularies.map((words) =>
      (tokenizer === "bpe" ? new BytePairTokenizer(words) : new WordTokenizer(words)));
    return { transformer: loadTransformer(weights), source, target, maxLen, punctuated, languages };
  };
  const trained = model.get(from === first ? "trained" : "trained_turned");
  return loadModel(`${name}_translator${from === "en" ? "" : `_${from}`}`, trained, make, hear);
}

/**
 * Return the ids of a sentence and the reasons to refuse it: { ids, unknown, tooLong }. As in Python,
 * a full stop at the end is removed if the vocabulary has none, and a model that was trained on
 * punctuated sentences is given a punctuated sentence.
 */
export function encodeSource({ source, maxLen, punctuated }, text) {
  const whole = inOneLine(text.replace(/\p{Surrogate}/gu, "\ufffd")); // A lone surrogate is no character.
  const sentence = punctuated ? asSentence(whole)
    : source.tokens.includes(".") ? whole : whole.replace(/\.$/, "");
  const ids = sentence.trim() ? source.encode(sentence) : [];
  return { ids, unknown: source.unknown(sentence), tooLong: ids.length > maxLen };
}

/**
 * Cut a text as `Translator.pieces` in Python: { pieces, words, unknown, nul, longWord }. Each of the pieces has
 * its `ids` too. `words` are those of all pieces, and the positions of `unknown` are places among them.
 */
export function cutSource(translator, text) {
  const { source, maxLen } = translator;
  const longest = Math.max(...source.tokens.map((token) => token.length));
  const whole = text.replace(/\p{Surrogate}/gu, "\ufffd");
  const found = { pieces: [], words: [], unknown: [], nul: text.includes("\0"), longWord: "" };
  if (found.nul) return found;
  // No byte pair has more letters than the longest, and a long word takes seconds to encode.
  const fits = (part) => !(source.merged && inOneLine(part).length > longest * maxLen) && !encodeSource(translator, part).tooLong;
  try {
    found.pieces = cutText(whole, fits);
  } catch (error) {
    if (!error.word) throw error;
    return { ...found, longWord: error.word };
  }
  for (const piece of found.pieces) {
    const { ids, unknown } = encodeSource(translator, piece.text);
    piece.ids = ids;
    found.unknown.push(...unknown.map(({ word, position }) => ({ word, position: position + found.words.length })));
    found.words.push(...(source.merged ? [piece.text] : source.split(piece.text)));
  }
  return found;
}

/** Compose accented letters and write single spaces. The white space is Python's, not JavaScript's. */
const inOneLine = (text) => text.normalize("NFC").split(/(?:[^\S\ufeff]|[\x1c-\x1f\x85])+/u).filter(Boolean).join(" ");

/** Give a text a capital letter in front and a punctuation mark at the end. */
function asSentence(text) {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("") + (/[\p{L}\p{N}]$/u.test(text) ? "." : "");
}
