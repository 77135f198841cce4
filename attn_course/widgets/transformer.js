// The Transformer of attn.transformer, from token ids to logits.
//
// A sequence is a list of vectors, each a Float32Array, and a batch is a list of sequences. Every
// intermediate result is returned under its name and never changed afterwards, so that the widgets
// can show it.
import { readCheckpoint } from "./checkpoint.js";
import { multiply } from "./kernel.js";
import { attention, dot, wrong } from "./shared.js";

// This model supports one value of each of these options; attn.transformer supports more.
const ONLY = {
  attention: "scaled_dot_product", activation: "relu", normalization: "layer", normEps: 1e-5, bias: true,
  rotaryBase: 10000, rotaryScaling: null, nTokenTypes: 0, embeddingNorm: false,
};

/**
 * The model in a checkpoint, an ArrayBuffer or Uint8Array, as { config, parameters, encode, decode }.
 *
 * encode(ids) reads the source: { embeddings, positions, layers, memory }.
 *
 * decode(ids, memory, past) predicts, at every position of the target, the token that follows:
 * { embeddings, positions, layers, x, logits }. With `past`, what an earlier call returned, `ids`
 * are only the tokens after those it has seen; their keys and values are in its layers.
 * decodeAll(batch) does so for several, each { ids, memory, past }, in one pass over the weights.
 *
 * A layer is { selfAttention, crossAttention, feedForward }, each as `subLayer` returns it:
 * layers[l].crossAttention.weights[h][i][j] is what query i of head h takes from source token j.
 */
export function loadTransformer(bytes) {
  const { config, parameters } = readCheckpoint(bytes);
  if (!["sinusoidal", "learned", "rotary", "none"].includes(config.positions)) {
    throw wrong("positions", "'sinusoidal', 'learned', 'rotary' or 'none'", `'${config.positions}'`);
  }
  for (const [name, only] of Object.entries(ONLY)) {
    const said = (value) => JSON.stringify(value).replaceAll('"', "'");
    if ((config[name] ?? only) !== only) throw wrong(name, said(only), said(config[name]));
  }
  const { srcEmbedding, tgtEmbedding, encoder, decoder, output } = parameters;

  function encode(ids) {
    const { embeddings, positions, x } = embed(srcEmbedding, ids, 0, config);
    const [layers] = stack(encoder, [x], (layer, xs) => encoderLayer(layer, xs, config));
    return { embeddings, positions, layers, memory: lastNorm(encoder, layers, config) };
  }

  function decodeAll(batch) {
    const starts = batch.map(({ past }) => past?.layers[0].selfAttention.cache.key[0].length ?? 0);
    const first = batch.map(({ ids }, i) => embed(tgtEmbedding, ids, starts[i], config));
    const all = stack(decoder, first.map(({ x }) => x), (layer, xs, l) =>
      decoderLayer(layer, xs, batch.map(({ memory }) => memory), batch.map(({ past }) => past?.layers[l]), config));
    const xs = all.map((layers) => lastNorm(decoder, layers, config));
    const logits = linearAll(output, xs);
    return first.map(({ embeddings, positions }, i) => ({ embeddings, positions, layers: all[i], x: xs[i], logits: logits[i] }));
  }
  const decode = (ids, memory, past = null) => decodeAll([{ ids, memory, past }])[0];

  return { config, parameters, encode, decode, decodeAll };
}

// Layers -----------------------------------------------------------------------

/** Run a batch through N layers, one after the other; return the layers of each sequence. */
export function stack({ layers }, xs, run) {
  const all = xs.map(() => []);
  Object.values(layers).forEach((layer, l) => {
    run(layer, xs, l).forEach((traced, i) => all[i].push(traced));
    xs = all.map((some) => some[l].feedForward.x);
  });
  return all;
}

export const lastNorm = ({ norm }, layers, config) =>
  (config.norm === "pre" ? layerNorm(norm, layers.at(-1).feedForward.x) : layers.at(-1).feedForward.x);

export function encoderLayer(layer, xs, config) {
  const read = subLayer(layer.norm1, xs, config, (xs) =>
    multiHeadAttention(layer.selfAttention, xs, keysAndValues(layer.selfAttention, xs, config, true), config, true));
  const thought = subLayer(layer.norm2, read.map(({ x }) => x), config, (xs) => feedForward(layer.feedForward, xs));
  return read.map((selfAttention, i) => ({ selfAttention, feedForward: thought[i] }));
}

export function decoderLayer(layer, xs, memories, pasts, config) {
  const own = subLayer(layer.norm1, xs, config, (xs) => {
    const caches = keysAndValues(layer.selfAttention, xs, config, true, pasts.map((past) => past?.selfAttention.cache));
    const masks = config.isCausal === false ? [] : xs.map((x, i) => causalMask(x.length, caches[i].key[0].length));
    return multiHeadAttention(layer.selfAttention, xs, caches, config, true, masks);
  });
  const cross = subLayer(layer.norm2, own.map(({ x }) => x), config, (xs) => {
    const caches = pasts.map((past, i) =>
      past?.crossAttention.cache ?? keysAndValues(layer.crossAttention, [memories[i]], config, false)[0]);
    return multiHeadAttention(layer.crossAttention, xs, caches, config, false);
  });
  const thought = subLayer(layer.norm3, cross.map(({ x }) => x), config, (xs) => feedForward(layer.feedForward, xs));
  return own.map((selfAttention, i) => ({ selfAttention, crossAttention: cross[i], feedForward: thought[i] }));
}

/** Return the rows of a causal mask for the last n queries, or no mask where it would hide nothing. */
const causalMask = (n, nKeys) => (n === 1 ? null
  : Array.from({ length: n }, (_, i) => Array.from({ length: nKeys }, (_, j) => j <= nKeys - n + i)));

/**
 * x + f(x) and its norm, post-norm norm(x + f(x)) or pre-norm x + f(norm(x)): for each sequence
 * what f was given, `input`, all that it computed, its `output` added to x, `sum`, and the new `x`.
 */
function subLayer(norm, xs, config, f) {
  const inputs = config.norm === "pre" ? xs.map((x) => layerNorm(norm, x)) : xs;
  const computed = f(inputs);
  return xs.map((x, i) => {
    const sum = add(x, computed[i].output);
    return { input: inputs[i], ...computed[i], sum, x: config.norm === "post" ? layerNorm(norm, sum) : sum };
  });
}

/** max(0, x W₁ + b₁) W₂ + b₂ */
export function feedForward({ linear1, linear2 }, xs) {
  const hidden = linearAll(linear1, xs);
  for (const row of hidden.flat()) {
    for (let i = 0; i < row.length; i++) row[i] = Math.max(0, row[i]);
  }
  const outputs = linearAll(linear2, hidden);
  return hidden.map((rows, i) => ({ hidden: rows, output: outputs[i] }));
}

// Attention --------------------------------------------------------------------

/**
 * The keys and values of each sequence by head, key[h][j], after those of its past: the KV cache,
 * continued. With rotary positions the keys of self-attention are those already turned.
 */
function keysAndValues({ kProj, vProj }, xs, config, isSelf, pasts = []) {
  const nHeads = config.nKvHeads ?? config.nHeads;
  const [keys, values] = [kProj, vProj].map((projection) => linearAll(projection, xs));
  return xs.map((_, i) => {
    const past = pasts[i];
    const key = splitHeads(keys[i], nHeads, isSelf && config.positions === "rotary" ? past?.key[0].length ?? 0 : null);
    const value = splitHeads(values[i], nHeads);
    if (!past) return { key, value };
    return { key: past.key.map((rows, h) => rows.concat(key[h])), value: past.value.map((rows, h) => rows.concat(value[h])) };
  });
}

/**
 * Every head by itself: query[h][i], key[h][j] and value[h][j] are vectors, scores[h][i][j] their
 * products, maskedScores these divided by √d_k, and masked, weights the softmax, heads[h][i] the
 * weighted mean of the values; `output` is all heads side by side through the last projection.
 * With rotary positions the queries and keys of self-attention are those already turned.
 */
function multiHeadAttention({ qProj, outProj }, xs, caches, { nHeads, positions }, isSelf, masks = []) {
  const queries = linearAll(qProj, xs);
  const found = xs.map((x, i) => {
    const cache = caches[i];
    const query = splitHeads(queries[i], nHeads, isSelf && positions === "rotary" ? cache.key[0].length - x.length : null);
    const [key, value] = [cache.key, cache.value].map((heads) =>
      query.map((_, h) => heads[Math.floor((h * heads.length) / nHeads)]));
    const attended = query.map((q, h) => attention(q, key[h], value[h], { mask: masks[i] }));
    const of = (name) => attended.map((head) => head[name]);
    return { query, key, value, scores: of("scores"), maskedScores: of("maskedScores"), weights: of("weights"), heads: of("output"), cache };
  });
  const outputs = linearAll(outProj, found.map(({ heads }) => joinHeads(heads)));
  return found.map((computed, i) => ({ ...computed, output: outputs[i] }));
}

/** Rows of d_model numbers as n_heads lists of rows of d_k, turned as rotary positions from `start` on. */
function splitHeads(rows, nHeads, start = null) {
  const d = rows[0].length / nHeads;
  return Array.from({ length: nHeads }, (_, h) => rows.map((row, i) => {
    const part = row.subarray(h * d, (h + 1) * d);
    return start === null ? part : rotary(part, start + i);
  }));
}

/** Rows of d_k numbers, head by head, side by side. */
const joinHeads = (heads) => heads[0].map((first, i) => {
  const row = new Float32Array(heads.length * first.length);
  heads.forEach((rows, h) => row.set(rows[i], h * first.length));
  return row;
});

// Vectors ----------------------------------------------------------------------

/** The vector of each token, times √d_model, and that of its position; x is their sum. */
export function embed({ tokens, positions: learned }, ids, start, { dModel, maxLen, positions: kind, scaleEmbeddings }) {
  const last = tokens.weight.length / dModel - 1;
  const outside = ids.find((id) => !(Number.isInteger(id) && 0 <= id && id <= last));
  if (outside !== undefined) throw wrong("ids", `values from 0 to ${last}`, outside);
  if (ids.length === 0) throw wrong("ids", "at least one token", "none");
  if (kind === "learned" && start + ids.length > maxLen) {
    throw wrong("ids", `positions below maxLen = ${maxLen}, all that were learned`, start + ids.length - 1);
  }
  const scale = scaleEmbeddings ? Math.sqrt(dModel) : 1;
  const row = (matrix, i) => matrix.subarray(i * dModel, (i + 1) * dModel);
  const embeddings = ids.map((id) => row(tokens.weight, id).map((x) => scale * x));
  const positions = ids.map((_, i) => {
    if (kind === "learned") return row(learned.weight, start + i);
    return kind === "sinusoidal" ? sinusoidal(start + i, dModel) : new Float32Array(dModel);
  });
  return { embeddings, positions, x: add(embeddings, positions) };
}

/** Rotate components 2i and 2i + 1 by position / 10000^(2i/d_k), so that dot products depend on the distance alone. */
function rotary(x, position) {
  const turn = turnOf(position, x.length);
  const out = new Float32Array(x.length);
  for (let c = 0; c < x.length; c += 2) {
    out[c] = x[c] * turn[c] - x[c + 1] * turn[c + 1];
    out[c + 1] = x[c] * turn[c + 1] + x[c + 1] * turn[c];
  }
  return out;
}

const turns = new Map(); // The cosine and sine of each pair, cached by position.
function turnOf(position, d) {
  const name = `${position} ${d}`;
  if (!turns.has(name)) {
    turns.set(name, Float64Array.from({ length: d }, (_, c) => {
      const angle = position / 10000 ** ((c - (c % 2)) / d);
      return c % 2 ? Math.sin(angle) : Math.cos(angle);
    }));
  }
  return turns.get(name);
}

/** Component 2i is sin(position / base^(2i/d_model)), component 2i + 1 the cosine of the same angle. */
export function sinusoidal(position, dModel, base = 10000) {
  return Float32Array.from({ length: dModel }, (_, c) => {
    const angle = position / base ** ((c - (c % 2)) / dModel);
    return c % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

export const add = (a, b) => a.map((row, i) => {
  const sum = new Float32Array(row.length);
  for (let d = 0; d < row.length; d++) sum[d] = row[d] + b[i][d];
  return sum;
});

/** x Wᵀ + b for each vector of a sequence. */
export function linear({ weight, bias }, x) {
  const rows = multiply(weight, x) ?? multiplySlowly(weight, x);
  if (bias) {
    for (const row of rows) for (let o = 0; o < row.length; o++) row[o] += bias[o];
  }
  return rows;
}

/** The same for each sequence of a batch, in one pass over the weights. */
export function linearAll(layer, xs) {
  const rows = linear(layer, xs.flat());
  let start = 0;
  return xs.map((x) => rows.slice(start, start += x.length));
}

function multiplySlowly(weight, x) {
  const nIn = x[0].length;
  const rows = x.map(() => new Float32Array(weight.length / nIn));
  for (let o = 0; o < rows[0].length; o++) {
    const w = weight.subarray(o * nIn, (o + 1) * nIn);
    for (let i = 0; i < x.length; i++) rows[i][o] = dot(w, x[i]);
  }
  return rows;
}

/** Mean 0 and variance 1 over the components of each vector, then a gain and a bias. */
export const layerNorm = ({ weight, bias }, x) => x.map((row) => {
  let [mean, variance] = [0, 0];
  for (let d = 0; d < row.length; d++) mean += row[d] / row.length;
  for (let d = 0; d < row.length; d++) variance += (row[d] - mean) ** 2 / row.length;
  const scale = 1 / Math.sqrt(variance + 1e-5);
  const out = new Float32Array(row.length);
  for (let d = 0; d < row.length; d++) out[d] = (row[d] - mean) * scale * weight[d] + bias[d];
  return out;
});
