// The Transformer of attn.transformer, one sentence at a time, from token ids to logits.
//
// A sequence is a list of vectors, each a Float32Array. What is computed is never changed
// afterwards, and all of it is returned: whoever wants to look inside finds it by its name.
import { readCheckpoint } from "./checkpoint.js";
import { attention, maskMatrix, wrong } from "./shared.js";

/**
 * The model in a checkpoint, an ArrayBuffer or Uint8Array, as { config, parameters, encode, decode }.
 *
 * encode(ids) reads the source: { embeddings, positions, layers, memory }.
 *
 * decode(ids, memory, past) predicts, at every position of the target, the token that follows:
 * { embeddings, positions, layers, x, logits }. With `past`, what an earlier call returned, `ids`
 * are only the tokens after those it has seen; their keys and values are in its layers.
 *
 * A layer is { selfAttention, crossAttention, feedForward }, each as `subLayer` returns it:
 * layers[l].crossAttention.weights[h][i][j] is what query i of head h takes from source token j.
 */
export function loadTransformer(bytes) {
  const { config, parameters } = readCheckpoint(bytes);
  if (!["sinusoidal", "learned", "rotary", "none"].includes(config.positions)) {
    throw wrong("positions", "'sinusoidal', 'learned', 'rotary' or 'none'", `'${config.positions}'`);
  }
  if ((config.attention ?? "scaled_dot_product") !== "scaled_dot_product") {
    throw wrong("attention", "'scaled_dot_product'", `'${config.attention}'`);
  }
  const { srcEmbedding, tgtEmbedding, encoder, decoder, output } = parameters;

  function encode(ids) {
    const { embeddings, positions, x } = embed(srcEmbedding, ids, 0, config);
    const layers = stack(encoder, x, (layer, x) => encoderLayer(layer, x, config));
    return { embeddings, positions, layers, memory: lastNorm(encoder, layers, config) };
  }

  function decode(ids, memory, past = null) {
    const start = past ? past.layers[0].selfAttention.cache.key.length : 0;
    const { embeddings, positions, x: first } = embed(tgtEmbedding, ids, start, config);
    const layers = stack(decoder, first, (layer, x, l) => decoderLayer(layer, x, memory, past?.layers[l], config));
    const x = lastNorm(decoder, layers, config);
    return { embeddings, positions, layers, x, logits: linear(output, x) };
  }

  return { config, parameters, encode, decode };
}

// Layers -----------------------------------------------------------------------

/** N layers, each taking what the one before has made of x. */
export function stack({ layers }, x, run) {
  return Object.values(layers).map((layer, l) => {
    const traced = run(layer, x, l);
    ({ x } = traced.feedForward);
    return traced;
  });
}

export const lastNorm = ({ norm }, layers, config) =>
  (config.norm === "pre" ? layerNorm(norm, layers.at(-1).feedForward.x) : layers.at(-1).feedForward.x);

function encoderLayer(layer, x, config) {
  const selfAttention = subLayer(layer.norm1, x, config, (x) =>
    multiHeadAttention(layer.selfAttention, x, keysAndValues(layer.selfAttention, x), { ...config, isSelf: true }));
  return { selfAttention, feedForward: subLayer(layer.norm2, selfAttention.x, config, (x) => feedForward(layer.feedForward, x)) };
}

export function decoderLayer(layer, x, memory, past, config) {
  const selfAttention = subLayer(layer.norm1, x, config, (x) => {
    const cache = keysAndValues(layer.selfAttention, x, past?.selfAttention.cache);
    // The last queries of the causal mask: the tokens before them are in the cache.
    const mask = config.isCausal === false ? null : maskMatrix("causal", cache.key.length).slice(-x.length);
    return multiHeadAttention(layer.selfAttention, x, cache, { ...config, isSelf: true }, mask);
  });
  const crossAttention = subLayer(layer.norm2, selfAttention.x, config, (x) => {
    const cache = past?.crossAttention.cache ?? keysAndValues(layer.crossAttention, memory);
    return multiHeadAttention(layer.crossAttention, x, cache, config);
  });
  const last = subLayer(layer.norm3, crossAttention.x, config, (x) => feedForward(layer.feedForward, x));
  return { selfAttention, crossAttention, feedForward: last };
}

/**
 * x + f(x) and its norm, post-norm norm(x + f(x)) or pre-norm x + f(norm(x)): what f was given,
 * `input`, all that it computed, its `output` added to x, `sum`, and the new `x`.
 */
function subLayer(norm, x, config, f) {
  const input = config.norm === "pre" ? layerNorm(norm, x) : x;
  const computed = f(input);
  const sum = add(x, computed.output);
  return { input, ...computed, sum, x: config.norm === "post" ? layerNorm(norm, sum) : sum };
}

/** max(0, x W₁ + b₁) W₂ + b₂ */
export function feedForward({ linear1, linear2 }, x) {
  const hidden = linear(linear1, x).map((row) => row.map((h) => Math.max(0, h)));
  return { hidden, output: linear(linear2, hidden) };
}

// Attention --------------------------------------------------------------------

/** The keys and values of x, after those of the past: the KV cache, continued. */
function keysAndValues({ kProj, vProj }, x, past = { key: [], value: [] }) {
  return { key: [...past.key, ...linear(kProj, x)], value: [...past.value, ...linear(vProj, x)] };
}

/**
 * Every head by itself: query[h][i], key[h][j] and value[h][j] are vectors, scores[h][i][j] their
 * products, maskedScores these divided by √d_k, and masked, weights the softmax, heads[h][i] the
 * weighted mean of the values; `output` is all heads side by side through the last projection.
 * With rotary positions the queries and keys of self-attention are those already turned.
 */
function multiHeadAttention({ qProj, outProj }, x, cache, { nHeads, nKvHeads, positions, isSelf }, mask = null) {
  const turned = (rows, nHeads, start) => splitHeads(rows, nHeads).map((head) =>
    (isSelf && positions === "rotary" ? head.map((row, i) => rotary(row, start + i)) : head));
  const query = turned(linear(qProj, x), nHeads, cache.key.length - x.length);
  const [key, value] = [turned(cache.key, nKvHeads ?? nHeads, 0), splitHeads(cache.value, nKvHeads ?? nHeads)].map((heads) =>
    query.map((_, h) => heads[Math.floor((h * heads.length) / nHeads)]));
  const attended = query.map((q, h) => attention(q, key[h], value[h], { mask }));
  const of = (name) => attended.map((head) => head[name]);
  const joined = x.map((_, i) => Float32Array.from(of("output").flatMap((head) => [...head[i]])));
  return {
    query, key, value, scores: of("scores"), maskedScores: of("maskedScores"), weights: of("weights"),
    heads: of("output"), output: linear(outProj, joined), cache,
  };
}

/** Rows of d_model numbers as n_heads lists of rows of d_k. */
function splitHeads(rows, nHeads) {
  const d = rows[0].length / nHeads;
  return Array.from({ length: nHeads }, (_, h) => rows.map((row) => row.subarray(h * d, (h + 1) * d)));
}

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

/** Components 2i and 2i + 1 turned by position / 10000^(2i/d_k): products depend on distances alone. */
function rotary(x, position) {
  return x.map((_, c) => {
    const odd = c % 2;
    const angle = position / 10000 ** ((c - odd) / x.length);
    const [even, other] = [x[c - odd], x[c - odd + 1]];
    return odd ? even * Math.sin(angle) + other * Math.cos(angle) : even * Math.cos(angle) - other * Math.sin(angle);
  });
}

/** Component 2i is sin(position / base^(2i/d_model)), component 2i + 1 its cosine. */
export function sinusoidal(position, dModel, base = 10000) {
  return Float32Array.from({ length: dModel }, (_, c) => {
    const angle = position / base ** ((c - (c % 2)) / dModel);
    return c % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

export const add = (a, b) => a.map((row, i) => row.map((x, d) => x + b[i][d]));

/** x Wᵀ + b: one row of W for each number that comes out. */
export function linear({ weight, bias }, x) {
  return x.map((row) => {
    const out = new Float32Array(weight.length / row.length);
    for (let o = 0, w = 0; o < out.length; o++) {
      let total = bias ? bias[o] : 0;
      for (let i = 0; i < row.length; i++, w++) total += weight[w] * row[i];
      out[o] = total;
    }
    return out;
  });
}

/** Mean 0 and variance 1 over the components of each vector, then a gain and a bias. */
export function layerNorm({ weight, bias }, x) {
  return x.map((row) => {
    const mean = row.reduce((total, v) => total + v, 0) / row.length;
    const variance = row.reduce((total, v) => total + (v - mean) ** 2, 0) / row.length;
    return row.map((v, d) => ((v - mean) / Math.sqrt(variance + 1e-5)) * weight[d] + bias[d]);
  });
}
