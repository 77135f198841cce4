// A language model of today, from token ids to logits: attn.transformer.DecoderOnly with the choices of a
// Llama (attn.pretrained.families). Each function is the counterpart of a module of attn, and a
// hook can read or change what attn_course.interpret reads and changes.
//
// A text is a list of vectors, each a Float32Array. Layers, heads and positions count from 0.
import { readGguf, rowOf } from "./gguf.js";
import { wrong } from "./shared.js";

/**
 * The model in a GGUF file, { config, metadata, newCache, read, logits, finished }. The file lies in a
 * `roomFor` of packed.js.
 *
 * `read(ids, { cache, hooks, all })` is a generator: it yields the share of the layers that it has run, so
 * that whoever runs it may show the progress, or stop. It returns { logits }: the scores of the token that
 * follows the last id, or with `all` those after each. With a cache, `ids` are only the tokens that the
 * cache has not seen. `from`, { layer, x }, begins at a layer with a residual stream that is known.
 * `finished(generator)` runs one to its end. `logits(x)` reads off what a residual stream would predict.
 *
 * The hooks are functions. They may change the arrays that they are given:
 *   stream(layer, x)        the residual stream that enters a layer; that of nLayers leaves the last
 *   weights(layer, weights) weights[h][i][j] is what query i of head h takes from position j
 *   heads(layer, heads)     heads[h][i] is the output of head h for query i: a weighted mean of values
 */
export function loadLlama({ bytes, multiply }) {
  const { metadata, tensors } = readGguf(bytes);
  const config = configOf(metadata, tensors);
  const named = (name) => tensors[`${name}.weight`] ?? missing(name);
  const embedding = named("token_embd");
  const output = tensors["output.weight"] ?? embedding;
  const lastNorm = rowOf(named("output_norm"));
  const layers = Array.from({ length: config.nLayers }, (_, l) => {
    const part = (name) => named(`blk.${l}.${name}`);
    return {
      norm1: rowOf(part("attn_norm")), qProj: part("attn_q"), kProj: part("attn_k"), vProj: part("attn_v"), outProj: part("attn_output"),
      norm2: rowOf(part("ffn_norm")), linear1: part("ffn_gate"), linear2: part("ffn_down"), linear3: part("ffn_up"),
    };
  });

  function* read(ids, { cache = newCache(), hooks = {}, all = false, from = null } = {}) {
    const outside = ids.find((id) => !(Number.isInteger(id) && 0 <= id && id < config.vocabSize));
    if (outside !== undefined) throw wrong("ids", `values from 0 to ${config.vocabSize - 1}`, outside);
    if (!ids.length) throw wrong("ids", "at least one token", "none");
    cache.makeRoom(ids.length);
    let x = from?.x ?? ids.map((id) => rowOf(embedding, id));
    for (let l = from?.layer ?? 0; l < config.nLayers; l++) {
      hooks.stream?.(l, x);
      x = encoderLayer(layers[l], x, l, cache, hooks);
      yield (l + 1) / config.nLayers;
    }
    hooks.stream?.(config.nLayers, x);
    cache.ids.push(...ids); // Only at the end: a pass that was stopped leaves the cache unchanged.
    return { logits: logits(all ? x : x.slice(-1)) };
  }

  const logits = (x) => multiply(output, rmsNorm(lastNorm, x));

  /** One layer of attn.layers.EncoderLayer, pre-norm. */
  function encoderLayer(layer, x, l, cache, hooks) {
    x = add(x, selfAttention(layer, rmsNorm(layer.norm1, x), l, cache, hooks));
    return add(x, feedForward(layer, rmsNorm(layer.norm2, x)));
  }

  /** attn.attention.MultiHeadAttention, causal, with a cache; n_heads / n_kv_heads neighbours share keys and values. */
  function selfAttention({ qProj, kProj, vProj, outProj }, x, l, cache, hooks) {
    const { nHeads, nKvHeads, dK } = config;
    const start = cache.ids.length;
    const query = multiply(qProj, x);
    const { key, value, width } = cache.append(l, multiply(kProj, x).map((row, i) => rotary(row, start + i)), multiply(vProj, x));
    query.forEach((row, i) => rotary(row, start + i));
    const joined = x.map(() => new Float32Array(nHeads * dK));
    const [weights, heads] = [[], []];
    for (let h = 0; h < nHeads; h++) {
      const at = Math.floor((h * nKvHeads) / nHeads) * dK; // the index in a row at which the keys of this head begin
      weights.push(query.map((row, i) => softmaxed(scores(row, h * dK, key, at, width, dK, start + i + 1))));
      heads.push(joined.map((row) => row.subarray(h * dK, (h + 1) * dK)));
    }
    hooks.weights?.(l, weights);
    for (let h = 0; h < nHeads; h++) {
      const at = Math.floor((h * nKvHeads) / nHeads) * dK;
      heads[h].forEach((out, i) => mix(out, weights[h][i], value, at, width));
    }
    hooks.heads?.(l, heads);
    return multiply(outProj, joined);
  }

  /** SwiGLU: (silu(x W₁ᵀ) · x W₃ᵀ) W₂ᵀ, attn.layers.FeedForward. */
  function feedForward({ linear1, linear2, linear3 }, x) {
    const [gate, hidden] = [multiply(linear1, x), multiply(linear3, x)];
    hidden.forEach((row, i) => {
      for (let d = 0; d < row.length; d++) row[d] *= gate[i][d] / (1 + Math.exp(-gate[i][d]));
    });
    return multiply(linear2, hidden);
  }

  /** attn.layers.new_norm("rms"). */
  const rmsNorm = (gain, x) => x.map((row) => {
    let total = 0;
    for (let d = 0; d < row.length; d++) total += row[d] * row[d];
    const scale = 1 / Math.sqrt(total / row.length + config.normEps);
    const out = new Float32Array(row.length);
    for (let d = 0; d < row.length; d++) out[d] = row[d] * scale * gain[d];
    return out;
  });

  /** attn.positions.rotary, in place: components 2i and 2i + 1 of each head turn by position / base^(2i/d_k). */
  function rotary(row, position) {
    const turn = turnOf(position);
    for (let d = 0; d < row.length; d += 2) {
      const a = row[d], b = row[d + 1], cosine = turn[d % config.dK], sine = turn[(d % config.dK) + 1];
      row[d] = a * cosine - b * sine;
      row[d + 1] = a * sine + b * cosine;
    }
    return row;
  }
  const turns = []; // The cosine and the sine of each pair, by position.
  const turnOf = (position) => (turns[position] ??= Float64Array.from({ length: config.dK }, (_, c) => {
    const angle = position / config.rotaryBase ** ((c - (c % 2)) / config.dK);
    return c % 2 ? Math.sin(angle) : Math.cos(angle);
  }));

  const newCache = () => new DecoderCache(config);
  return { config, metadata, newCache, read, logits, finished };
}

function configOf(said, tensors) {
  const kind = said["general.architecture"];
  if (kind !== "llama") throw wrong("general.architecture", "'llama'", kind);
  const scaling = said["llama.rope.scaling.type"] ?? "none";
  if (scaling !== "none" || tensors["rope_freqs.weight"]) throw wrong("llama.rope.scaling.type", "'none'", scaling);
  const nHeads = said["llama.attention.head_count"];
  const dModel = said["llama.embedding_length"];
  return {
    vocabSize: said["tokenizer.ggml.tokens"].length, nLayers: said["llama.block_count"], dModel, nHeads,
    nKvHeads: said["llama.attention.head_count_kv"] ?? nHeads, dK: dModel / nHeads, dFf: said["llama.feed_forward_length"],
    normEps: said["llama.attention.layer_norm_rms_epsilon"], rotaryBase: said["llama.rope.freq_base"] ?? 10000,
  };
}

function missing(name) { throw wrong(`${name}.weight`, "a tensor of this name", "none"); }

/** attn.cache.DecoderCache: the keys and values of every layer, so that a token is read once. */
class DecoderCache {
  constructor({ nLayers, nKvHeads, dK }) {
    this.width = nKvHeads * dK;
    this.ids = [];
    this.layers = Array.from({ length: nLayers }, () => ({ key: new Float32Array(0), value: new Float32Array(0) }));
  }

  /** The bytes of the keys and values of the tokens so far. */
  get bytes() { return 8 * this.layers.length * this.width * this.ids.length; }

  /** Forget the tokens from position `length` on. */
  truncate(length) { this.ids.length = Math.min(this.ids.length, length); }

  makeRoom(nNew) {
    const wanted = (this.ids.length + nNew) * this.width;
    for (const layer of this.layers) {
      for (const name of ["key", "value"]) {
        if (layer[name].length >= wanted) continue;
        const larger = new Float32Array(Math.max(wanted, 2 * layer[name].length));
        larger.set(layer[name]);
        layer[name] = larger;
      }
    }
  }

  append(l, keys, values) {
    const { key, value } = this.layers[l];
    keys.forEach((row, i) => key.set(row, (this.ids.length + i) * this.width));
    values.forEach((row, i) => value.set(row, (this.ids.length + i) * this.width));
    return { key, value, width: this.width };
  }
}

// Vectors ----------------------------------------------------------------------

export const add = (a, b) => {
  a.forEach((row, i) => { for (let d = 0; d < row.length; d++) b[i][d] += row[d]; });
  return b;
};

/** The products of a query with the first n keys, divided by √d_k. */
export function scores(query, from, key, at, width, dK, n) {
  const out = new Float32Array(n);
  for (let j = 0; j < n; j++) {
    let total = 0;
    for (let d = 0; d < dK; d++) total += query[from + d] * key[j * width + at + d];
    out[j] = total / Math.sqrt(dK);
  }
  return out;
}

export function softmaxed(row) {
  let [top, total] = [-Infinity, 0];
  for (let j = 0; j < row.length; j++) top = Math.max(top, row[j]);
  for (let j = 0; j < row.length; j++) total += row[j] = Math.exp(row[j] - top);
  for (let j = 0; j < row.length; j++) row[j] /= total;
  return row;
}

/** The mean of values, each with its weight. */
export function mix(out, weights, value, at, width) {
  for (let j = 0; j < weights.length; j++) {
    for (let d = 0; d < out.length; d++) out[d] += weights[j] * value[j * width + at + d];
  }
}

/** Run a generator to its end. */
export function finished(generator) {
  let step = generator.next();
  while (!step.done) step = generator.next();
  return step.value;
}

// Interventions ------------------------------------------------------------------

/** Hooks that switch heads off, each [layer, head]: their outputs are zeros. */
export const withoutHeads = (pairs) => ({
  heads: (layer, heads) => pairs.filter(([l]) => l === layer).forEach(([, h]) => heads[h].forEach((row) => row.fill(0))),
});

/** Hooks that replace the residual stream at a layer and a position by a vector, such as one from another text. */
export const withStream = (layer, position, vector) => ({ stream: (l, x) => { if (l === layer) x[position].set(vector); } });

// The next token, as in attn.decoding ----------------------------------------------

/** The most probable token; of equal ones the first. */
export function greedyChoice(logits) {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id] > logits[best]) best = id;
  return best;
}

/** The probabilities for sampling: `next_token_probabilities` of attn.decoding. */
export function nextTokenProbabilities(logits, { temperature = 1, topP = 1 } = {}) {
  if (!(temperature > 0 && temperature < Infinity)) throw wrong("temperature", "a finite number above 0", temperature);
  if (!(topP > 0 && topP <= 1)) throw wrong("topP", "a number above 0 and at most 1", topP);
  const top = logits[greedyChoice(logits)];
  const probabilities = softmaxed(Float64Array.from(logits, (logit) => (logit - top) / temperature));
  if (topP === 1) return probabilities;
  const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]);
  let [before, kept] = [0, 0];
  for (const id of order) {
    if (before >= topP) probabilities[id] = 0;
    before += probabilities[id];
    kept += probabilities[id];
  }
  return probabilities.map((p) => p / kept);
}

/** Sample a token; `random` returns a number in [0, 1). */
export function drawn(probabilities, random = Math.random) {
  let rest = random();
  let last = 0;
  for (let id = 0; id < probabilities.length; id++) {
    if (!probabilities[id]) continue;
    if ((rest -= probabilities[id]) < 0) return id;
    last = id;
  }
  return last; // Sums of floats may end just below 1.
}
