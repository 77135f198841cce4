// The cross-attention of a translation, averaged over layers and heads, and with its sub-word tokens joined into words.
import { textOf, wordsOf } from "./tokenizer.js";

/** Return cross[layer][head]. Where `layer` or `head` is null, the weights are averaged over all layers or heads. */
export function chosenWeights(cross, layer, head) {
  const matrices = cross.filter((_, l) => layer === null || l === layer)
    .flatMap((heads) => heads.filter((_, h) => head === null || h === head));
  return matrices[0].map((row, i) =>
    row.map((_, j) => matrices.reduce((total, matrix) => total + matrix[i][j], 0) / matrices.length));
}

/** Return the tokens of a translation without the end token. */
export const words = (tokens) => tokens.filter((token) => token !== "<eos>");

/**
 * Join the sub-word tokens of a translation into words. The weights of the tokens of a source word are
 * added up, the weights of the tokens of a target word are averaged, and the probabilities of the
 * tokens of a target word are multiplied.
 */
export function joinWords({ source, target, cross, probabilities, ...rest }) {
  const [rows, columns] = [wordsOf(target), wordsOf(source)];
  const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);
  const name = (tokens) => (places) => (tokens[places[0]] === "<eos>" ? "<eos>" : textOf(places.map((i) => tokens[i]), "bpe").trim() || "␣");
  return {
    ...rest, source: columns.map(name(source)), target: rows.map(name(target)),
    cross: cross.map((heads) => heads.map((weights) => rows.map((some) => columns.map((others) =>
      total(some.map((i) => total(others.map((j) => weights[i][j])))) / some.length)))),
    probabilities: probabilities && rows.map((some) => some.reduce((product, i) => product * probabilities[i], 1)),
    written: rows.map((some) => some.at(-1) + 1),
  };
}
