// The stages of the Transformer, in order: which numbers each stage holds and how they are computed.
import { greedy } from "./decoding.js";
import { softmax } from "./shared.js";
import { add, layerNorm, linear } from "./transformer.js";

const PARTS = {
  encoder: ["selfAttention", "feedForward"],
  decoder: ["selfAttention", "crossAttention", "feedForward"],
};

/** The parts of the machine, { side, layer, part, steps }, in the order of the computation. */
export function anatomy({ nLayers, norm, positions }) {
  const computed = {
    selfAttention: attentionSteps(positions === "rotary"), crossAttention: attentionSteps(false), feedForward: ["hidden", "output"],
  };
  const around = (steps) => (norm === "pre" ? ["norm", ...steps, "sum"] : [...steps, "sum", "norm"]);
  return Object.keys(PARTS).flatMap((side) => [
    { side, part: "input", steps: ["tokens", "embedding", "position"] },
    ...Array.from({ length: nLayers }, (_, layer) =>
      PARTS[side].map((part) => ({ side, layer, part, steps: around(computed[part]) }))).flat(),
    side === "encoder" ? { side, part: "memory", steps: ["memory"] }
      : { side, part: "prediction", steps: ["lastNorm", "logits", "softmax"] },
    { side, part: "stream", steps: side === "encoder" ? ["stream"] : ["stream", "lens"] },
  ]);
}

const attentionSteps = (turns) =>
  ["query", "key", "value", ...(turns ? ["turnedQuery", "turnedKey"] : []), "scores", "scaled", "weights", "mean", "projection"];

/** The stages that every head computes for itself. */
export const inHeads = (step) => attentionSteps(true).slice(0, -1).includes(step);

/** Return the kind of a stage's numbers: a list of ids, a vector for each token, a matrix of tokens by tokens, ... */
export const kindOf = (step) => ({
  tokens: "tokens", scores: "matrix", scaled: "matrix", weights: "matrix", logits: "vocabulary", softmax: "vocabulary", stream: "stream", lens: "lens",
})[step] ?? "vector";

/** Return the side whose tokens the rows belong to: the keys and values of cross-attention come from the source. */
export const rowsOf = ({ side, part }, step) =>
  (part === "crossAttention" && ["key", "value"].includes(step) ? "encoder" : side);

/** Translate and keep every intermediate result. Row i of the decoder reads tokens.decoder[i] and predicts next[i]. */
export function dissect({ transformer, source, target }, ids) {
  const written = greedy(transformer, ids, { maxNewTokens: 2 * ids.length + 10 });
  const read = { encoder: ids, decoder: written.slice(0, -1) };
  const encoder = transformer.encode(ids);
  const words = (some) => some.map((id) => target.tokens[id]);
  return {
    model: transformer, ids: read, encoder, decoder: transformer.decode(read.decoder, encoder.memory),
    tokens: { encoder: ids.map((id) => source.tokens[id]), decoder: words(read.decoder) },
    next: words(written.slice(1)), vocabulary: target.tokens, text: target.decode(written),
  };
}

// Where each stage's numbers lie ----------------------------------------------------------------

const doubles = (rows) => rows.map((row) => Array.from(row));
const first = ({ embeddings, positions }) => add(embeddings, positions);

/** Return the vectors to which a sub-layer adds its output. */
function before(trace, { side, layer, part }) {
  const at = PARTS[side].indexOf(part);
  if (at > 0) return trace[side].layers[layer][PARTS[side][at - 1]].x;
  return layer > 0 ? trace[side].layers[layer - 1].feedForward.x : first(trace[side]);
}

/** Return the parameters of a sub-layer and of its norm, its input, and the columns of each row that belong to a head. */
function places(trace, { side, layer, part }, head) {
  const { parameters, config: { dModel, nHeads, nKvHeads } } = trace.model;
  const own = parameters[side].layers[layer];
  const { input } = trace[side].layers[layer][part];
  const d = dModel / nHeads;
  return {
    own: own[part], norm: own[`norm${PARTS[side].indexOf(part) + 1}`], input, d,
    keysFrom: part === "crossAttention" ? trace.encoder.memory : input,
    start: { query: head * d, key: Math.floor((head * (nKvHeads ?? nHeads)) / nHeads) * d },
  };
}

/** Return the rows of numbers of a stage, of one head where the heads differ, or null if the trace lacks them. */
export function numbers(trace, block, step, head) {
  const { side, layer, part } = block;
  const stack = trace[side];
  const sub = layer === undefined ? null : stack.layers[layer][part];
  if (step === "weights") return sub.weights[head];
  if (!trace.model) return null;
  const projected = (projection, from, name) => {
    const { own, d, start, ...place } = places(trace, block, head);
    return linear(own[projection], place[from]).map((row) => row.subarray(start[name], start[name] + d));
  };
  return {
    tokens: () => trace.ids[side].map((id) => [id]),
    embedding: () => stack.embeddings,
    position: () => first(stack),
    norm: () => (trace.model.config.norm === "pre" ? sub.input : sub.x),
    query: () => projected("qProj", "input", "query"),
    key: () => projected("kProj", "keysFrom", "key"),
    value: () => projected("vProj", "keysFrom", "key"),
    turnedQuery: () => sub.query[head],
    turnedKey: () => sub.key[head],
    scores: () => sub.scores[head],
    scaled: () => sub.maskedScores[head],
    mean: () => sub.heads[head],
    projection: () => sub.output,
    hidden: () => sub.hidden,
    output: () => sub.output,
    sum: () => sub.sum,
    memory: () => stack.memory,
    lastNorm: () => stack.x,
    logits: () => stack.logits,
    softmax: () => doubles(stack.logits).map(softmax),
    stream: () => contributions(trace, side).map(({ rows }) => rows.map((row) => Math.hypot(...row))),
    lens: () => depths(trace).map((logits) => doubles(logits).map(softmax)),
  }[step]();
}

/** Return the parts that are added to the residual stream, each as { layer, part, rows }, and the stream after each part. */
export function contributions(trace, side) {
  const start = first(trace[side]);
  return [{ part: "input", rows: start, after: start }, ...trace[side].layers.flatMap((sub, layer) =>
    PARTS[side].map((part) => ({ layer, part, rows: sub[part].output, after: sub[part].x })))];
}

/** The logits that the last norm and layer would give after the embeddings, and after each layer. */
function depths({ decoder, model: { config, parameters } }) {
  return [first(decoder), ...decoder.layers.map((layer) => layer.feedForward.x)].map((x) =>
    linear(parameters.output, config.norm === "pre" ? layerNorm(parameters.decoder.norm, x) : x));
}

// How a number is computed ------------------------------------------------------------

const term = (name, left, right) => ({ name, left, right, value: left * right });

/** One number of x Wᵀ + b: a product for each component of x. */
const product = ({ weight, bias }, x, o) => ({
  signs: ["x", "w"], terms: Array.from(x, (component, i) => term(i + 1, component, weight[o * x.length + i])),
  bias: bias?.[o],
});

/** One share of a softmax. If a score exceeds 20, the largest is subtracted from all: its exponential would be too long to show. */
function softmaxShare(row, i, names) {
  const top = Math.max(...row);
  const shift = top > 20 ? top : 0;
  const terms = row.map((x, j) => ({ name: names[j], left: x - shift, value: Math.exp(x - shift) }));
  const total = terms.reduce((sum, { value }) => sum + value, 0);
  return { signs: [shift ? "shifted" : "plain"], terms, steps: [["power", terms[i].value], ["share", terms[i].value / total]] };
}

function normalised({ weight, bias }, x, c) {
  const mean = x.reduce((total, v) => total + v, 0) / x.length;
  const deviation = Math.sqrt(x.reduce((total, v) => total + (v - mean) ** 2, 0) / x.length + 1e-5);
  return { steps: [
    ["component", x[c]], ["average", mean], ["deviation", deviation], ["normalised", (x[c] - mean) / deviation],
    ["gain", weight[c]], ["shift", bias[c]], ["result", ((x[c] - mean) / deviation) * weight[c] + bias[c]],
  ] };
}

/**
 * { signs, terms, bias, steps }: the terms and the bias add up to a sum, and each of `steps` applies
 * one operation to the result so far. The last result is the number that is shown.
 */
export function explain(trace, block, step, head, row, c) {
  const { side, layer, part } = block;
  const { config, parameters } = trace.model;
  const stack = trace[side];
  const sub = layer === undefined ? null : stack.layers[layer][part];
  const { own, norm, input, keysFrom, start, d } = sub ? places(trace, block, head) : {};
  const isPre = config.norm === "pre";
  const turned = (name) => {
    const whole = numbers(trace, block, name, head)[row];
    const angle = row / 10000 ** ((c - (c % 2)) / d);
    const [even, odd] = c % 2 ? [Math.sin(angle), Math.cos(angle)] : [Math.cos(angle), -Math.sin(angle)];
    const at = c - (c % 2);
    return { signs: [name === "query" ? "q" : "k", "turn"], terms: [term(at + 1, whole[at], even), term(at + 2, whole[at + 1], odd)] };
  };
  return {
    tokens: () => ({}),
    embedding: () => {
      const scale = config.scaleEmbeddings ? Math.sqrt(config.dModel) : 1;
      const entry = parameters[side === "encoder" ? "srcEmbedding" : "tgtEmbedding"].tokens.weight[trace.ids[side][row] * config.dModel + c];
      return { steps: [["entry", entry], ["scale", scale], ["result", entry * scale]] };
    },
    position: () => ({ terms: [{ name: "embedding", value: stack.embeddings[row][c] }, { name: "position", value: stack.positions[row][c] }] }),
    norm: () => normalised(norm, isPre ? before(trace, block)[row] : sub.sum[row], c),
    query: () => product(own.qProj, input[row], start.query + c),
    key: () => product(own.kProj, keysFrom[row], start.key + c),
    value: () => product(own.vProj, keysFrom[row], start.key + c),
    turnedQuery: () => turned("query"),
    turnedKey: () => turned("key"),
    scores: () => ({ signs: ["q", "k"], terms: Array.from(sub.query[head][row], (q, i) => term(i + 1, q, sub.key[head][c][i])) }),
    scaled: () => ({
      steps: [["score", sub.scores[head][row][c]], ["root", Math.sqrt(d)], [sub.maskedScores[head][row][c] === -Infinity ? "masked" : "quotient", sub.maskedScores[head][row][c]]],
    }),
    weights: () => softmaxShare(sub.maskedScores[head][row], c, trace.tokens[rowsOf(block, "key")]),
    mean: () => ({
      signs: ["a", "v"],
      terms: sub.weights[head][row].map((weight, j) => term(trace.tokens[rowsOf(block, "key")][j], weight, sub.value[head][j][c])),
    }),
    projection: () => product(own.outProj, sub.heads.flatMap((rows) => Array.from(rows[row])), c),
    hidden: () => {
      const found = product(own.linear1, input[row], c);
      return { ...found, steps: [["positive", Math.max(0, total(found))]] };
    },
    output: () => ({ ...product(own.linear2, sub.hidden[row], c), signs: ["h", "w"] }),
    sum: () => ({ terms: [{ name: "stream", value: before(trace, block)[row][c] }, { name: part, value: sub.output[row][c] }] }),
    memory: () => ended("encoder"),
    lastNorm: () => ended("decoder"),
    logits: () => product(parameters.output, stack.x[row], c),
    softmax: () => softmaxShare(Array.from(stack.logits[row]), c, trace.vocabulary),
    stream: () => {
      const { rows } = contributions(trace, side)[c];
      const found = { signs: ["f", "f"], terms: Array.from(rows[row], (x, i) => term(i + 1, x, x)) };
      return { ...found, steps: [["length", Math.sqrt(total(found))]] };
    },
    lens: () => softmaxShare(Array.from(depths(trace)[c[0]][row]), c[1], trace.vocabulary),
  }[step]();

  function ended(name) {
    const x = stack.layers.at(-1).feedForward.x[row];
    return isPre ? normalised(parameters[name].norm, x, c) : { steps: [["result", x[c]]] };
  }
}

export const total = ({ terms, bias = 0 }) => terms.reduce((sum, { value }) => sum + value, bias);
