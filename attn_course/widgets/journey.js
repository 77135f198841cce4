// The numbers that one sentence becomes on its way through the model, as attn_course/journey.py keeps them,
// and the steps in which they are shown.
import { dissect } from "./anatomy.js";
import { softmax } from "./shared.js";

const COMPONENTS = 7;
const CANDIDATES = 5;

const firstOf = (row) => Array.from(row.slice(0, COMPONENTS));
const average = (matrices) => matrices[0].map((row, i) => row.map((_, j) =>
  matrices.reduce((total, matrix) => total + matrix[i][j], 0) / matrices.length));
const isLetter = (text) => /^\p{L}/u.test(text);

/** Compute for a typed sentence what `journey` in Python returns for a stored one. */
export function journey(translator, ids) {
  const trace = dissect(translator, ids);
  const { encoder, decoder, tokens, model: { config } } = trace;
  const last = encoder.layers.at(-1).selfAttention;
  const [head, focus, other] = wordInQuestion(last.weights, tokens.encoder);
  const heads = (name) => decoder.layers.flatMap((layer) => layer[name].weights);
  return {
    source: tokens.encoder, source_ids: trace.ids.encoder, target: trace.next, target_ids: trace.ids.decoder,
    sizes: { d_model: config.dModel, n_heads: config.nHeads, n_layers: config.nLayers, vocab_size: trace.vocabulary.length },
    focus, other, head,
    embeddings: { source: encoder.embeddings.map(firstOf), target: decoder.embeddings.map(firstOf) },
    encoder: encoder.layers.map(({ selfAttention, feedForward }) => ({
      weights: average(selfAttention.weights), attention: selfAttention.x.map(firstOf), feed_forward: feedForward.x.map(firstOf),
    })),
    inside: {
      query: firstOf(last.query[head][focus]), key: last.key[head].map(firstOf), value: last.value[head].map(firstOf),
      scores: last.maskedScores[head][focus], weights: last.weights[head][focus],
      mean: firstOf(last.heads[head][focus]), output: firstOf(last.output[focus]),
    },
    memory: encoder.memory.map(firstOf), own: average(heads("selfAttention")), cross: average(heads("crossAttention")),
    x: decoder.x.map(firstOf), best: decoder.logits.map((logits) => bestOf(logits, trace.vocabulary)),
  };
}

/** Find the head, query and key of the largest weight between the first tokens of two words, or of any weight if there are none. */
export function wordInQuestion(weights, tokens) {
  const begins = tokens.map((token, i) => (i === 0 || token[0] === " ") && isLetter(token.trim()));
  let best = null;
  for (const allowed of [(i, j) => begins[i] && begins[j] && i !== j, () => true]) {
    weights.forEach((matrix, h) => matrix.forEach((row, i) => row.forEach((weight, j) => {
      if (allowed(i, j) && (!best || weight > best.weight)) best = { weight, place: [h, i, j] };
    })));
    if (best) return best.place;
  }
}

function bestOf(logits, tokens) {
  const row = Array.from(logits);
  const shares = softmax(row);
  return [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, CANDIDATES).map((id) => [tokens[id], row[id], shares[id]]);
}

// Steps ----------------------------------------------------------------------------

const INSIDE = ["query", "scores", "weights", "mean"];

/** List the steps in order: { kind, layer } in the encoder and { kind, word } in the decoder. */
export function stepsOf({ sizes, target }) {
  const layers = Array.from({ length: sizes.n_layers }, (_, layer) =>
    [...(layer < sizes.n_layers - 1 ? ["attention"] : INSIDE), "thought"].map((kind) => ({ kind, layer })));
  const words = target.map((_, word) =>
    [...(word ? ["loop", "causal", "cross", "softmax"] : ["start", "causal", "cross", "last", "logits", "softmax"]),
      word === target.length - 1 ? "stop" : "word"].map((kind) => ({ kind, word })));
  return [...["tokens", "embeddings", "positions"].map((kind) => ({ kind })), ...layers.flat(), { kind: "memory" }, ...words.flat()];
}

const ATTENTION = "encoder-self_attention";
/** The parts of the drawing that a step lights; the step is about the first of them. */
export const ACTING = {
  tokens: ["encoder-source"],
  embeddings: ["encoder-embeddings"],
  positions: ["encoder-positions"],
  attention: [ATTENTION, "encoder-encoder"],
  thought: ["encoder-feed_forward", "encoder-encoder"],
  query: ["inside-query", "inside-key", "inside-value", "inside-heads", ATTENTION],
  scores: ["inside-scores", ATTENTION],
  weights: ["inside-weights", ATTENTION],
  mean: ["inside-mean", "inside-output", "encoder-stream", ATTENTION],
  memory: ["encoder-memory"],
  start: ["decoder-target", "decoder-embeddings"],
  loop: ["decoder-loop", "decoder-target", "decoder-embeddings"],
  causal: ["decoder-causal_attention", "inside-mask"],
  cross: ["decoder-cross_attention", "encoder-cross_attention", "encoder-memory"],
  last: ["decoder-feed_forward", "decoder-decoder", "decoder-stream"],
  logits: ["decoder-linear"],
  softmax: ["decoder-softmax"],
  word: ["decoder-next_word"],
  stop: ["decoder-stop", "decoder-next_word"],
};

// Tokens as they are shown --------------------------------------------------------------

/** Show a token without the space before it. A token that continues a word begins with dots. */
export function named(token, before = "") {
  if (!token.trim()) return "␣";
  return isLetter(token) && /\p{L}$/u.test(before) ? `…${token}` : token.trim();
}
export const namedAll = (tokens) => tokens.map((token, i) => named(token, tokens[i - 1]));

/** Return a window of `count` neighbouring places, with `place` as near to its middle as the ends allow. */
export function around(place, count, length) {
  const start = Math.max(0, Math.min(place - Math.floor(count / 2), length - count));
  return Array.from({ length: Math.min(count, length) }, (_, i) => start + i);
}
