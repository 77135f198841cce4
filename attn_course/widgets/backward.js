// A Transformer that learns: the layers of attn.transformer, pre-norm, with their gradients.
//
// Each operation computes its result, as in attn, and records on the tape how the gradient of the
// loss is propagated back through it. The sequences of a batch are stacked in one matrix, without
// padding; `starts` has the first row of each, and ends with the number of rows.

/** Numbers, row by row, and the gradient of the loss with respect to each. */
export class Matrix {
  constructor(rows, columns, values = new Float64Array(rows * columns)) {
    Object.assign(this, { rows, columns, values, held: null });
  }

  get gradient() { return (this.held ??= new Float64Array(this.values.length)); }
}

let tape = []; // The recorded steps of the backward pass.
const record = (out, back) => {
  tape.push(back);
  return out;
};

/** Clear the tape, after a pass without gradients. */
export const forget = () => { tape = []; };

/** Compute the gradient of every matrix on which the loss depends. */
export function backward() {
  for (let i = tape.length - 1; i >= 0; i--) tape[i]();
  forget();
}

// Operations -----------------------------------------------------------------------

/** Add to each row i of `out` the rows k of b, each times the number of `a` at i · down + k · across. */
function accumulate(out, a, down, across, b, rows, inner, columns) {
  for (let i = 0; i < rows; i++) {
    const o = i * columns;
    for (let k = 0; k < inner; k += 4) { // Four rows at once: `out` is read and written a quarter as often.
      const [at, r] = [i * down + k * across, k * columns];
      const last = inner - k;
      const a0 = a[at], a1 = last > 1 ? a[at + across] : 0, a2 = last > 2 ? a[at + 2 * across] : 0, a3 = last > 3 ? a[at + 3 * across] : 0;
      const r1 = last > 1 ? r + columns : r, r2 = last > 2 ? r + 2 * columns : r, r3 = last > 3 ? r + 3 * columns : r;
      for (let c = 0; c < columns; c++) out[o + c] += a0 * b[r + c] + a1 * b[r1 + c] + a2 * b[r2 + c] + a3 * b[r3 + c];
    }
  }
}

/** x Wᵀ + b. Back: dx = dy W, dW = dyᵀ x, db = the sum of the rows of dy. */
export function linear({ weight, bias }, x) {
  const [n, nIn, nOut] = [x.rows, weight.columns, weight.rows];
  const out = new Matrix(n, nOut);
  const across = new Float64Array(nIn * nOut);
  for (let o = 0; o < nOut; o++) for (let i = 0; i < nIn; i++) across[i * nOut + o] = weight.values[o * nIn + i];
  if (bias) for (let i = 0; i < n; i++) out.values.set(bias.values, i * nOut);
  accumulate(out.values, x.values, nIn, 1, across, n, nIn, nOut);
  return record(out, () => {
    const dy = out.gradient;
    accumulate(x.gradient, dy, nOut, 1, weight.values, n, nOut, nIn);
    accumulate(weight.gradient, dy, 1, nOut, x.values, nOut, n, nIn);
    if (bias) for (let i = 0; i < dy.length; i++) bias.gradient[i % nOut] += dy[i];
  });
}

/** a + b. The gradient goes to both. */
export function add(a, b) {
  const out = new Matrix(a.rows, a.columns, a.values.map((x, i) => x + b.values[i]));
  return record(out, () => out.gradient.forEach((g, i) => {
    a.gradient[i] += g;
    b.gradient[i] += g;
  }));
}

/** max(0, x). The gradient goes where x is positive. */
export function relu(x) {
  const out = new Matrix(x.rows, x.columns, x.values.map((value) => Math.max(0, value)));
  return record(out, () => out.gradient.forEach((g, i) => { if (x.values[i] > 0) x.gradient[i] += g; }));
}

/** Mean 0 and variance 1 in each row, then a gain and a bias. */
export function layerNorm({ weight, bias }, x) {
  const d = x.columns;
  const [out, normal, scales] = [new Matrix(x.rows, d), new Float64Array(x.values.length), new Float64Array(x.rows)];
  for (let i = 0, r = 0; i < x.rows; i++, r += d) {
    let [mean, variance] = [0, 0];
    for (let c = 0; c < d; c++) mean += x.values[r + c] / d;
    for (let c = 0; c < d; c++) variance += (x.values[r + c] - mean) ** 2 / d;
    scales[i] = 1 / Math.sqrt(variance + 1e-5);
    for (let c = 0; c < d; c++) {
      normal[r + c] = (x.values[r + c] - mean) * scales[i];
      out.values[r + c] = normal[r + c] * weight.values[c] + bias.values[c];
    }
  }
  return record(out, () => {
    for (let i = 0, r = 0; i < x.rows; i++, r += d) {
      let [along, total] = [0, 0]; // A norm removes the components of its gradient along 1 and along the row.
      for (let c = 0; c < d; c++) {
        const [dy, g] = [out.gradient[r + c], out.gradient[r + c] * weight.values[c]];
        weight.gradient[c] += dy * normal[r + c];
        bias.gradient[c] += dy;
        total += g / d;
        along += (g * normal[r + c]) / d;
      }
      for (let c = 0; c < d; c++) {
        x.gradient[r + c] += scales[i] * (out.gradient[r + c] * weight.values[c] - total - normal[r + c] * along);
      }
    }
  });
}

/** The vector of each token times √d_model, plus its position: sin and cos(position / 10000^(2i/d_model)). */
export function embed({ tokens: { weight: tokens } }, { ids, starts }, isOrdered) {
  const d = tokens.columns;
  const [out, scale] = [new Matrix(ids.length, d), Math.sqrt(d)];
  for (let s = 0; s + 1 < starts.length; s++) {
    for (let i = starts[s]; i < starts[s + 1]; i++) {
      for (let c = 0; c < d; c++) {
        const angle = (i - starts[s]) / 10000 ** ((c - (c % 2)) / d);
        out.values[i * d + c] = scale * tokens.values[ids[i] * d + c] + (isOrdered ? (c % 2 ? Math.cos(angle) : Math.sin(angle)) : 0);
      }
    }
  }
  return record(out, () => out.gradient.forEach((g, at) => { tokens.gradient[ids[Math.floor(at / d)] * d + (at % d)] += scale * g; }));
}

/**
 * softmax(Q Kᵀ / √d_k) V for every head of every sequence. `weights` collects [sequence][head], the rows of a
 * matrix. `factor` multiplies the scores; the output of a head in `cut` is 0.
 */
export function attend(q, k, v, starts, nHeads, { keyStarts = starts, isCausal = false, factor = 1, cut = [], weights = null } = {}) {
  const [d, dk, out] = [q.columns, q.columns / nHeads, new Matrix(q.rows, q.columns)];
  const root = factor / Math.sqrt(dk);
  const all = [];
  for (let s = 0; s + 1 < starts.length; s++) {
    const [first, n, firstKey, m] = [starts[s], starts[s + 1] - starts[s], keyStarts[s], keyStarts[s + 1] - keyStarts[s]];
    for (let h = 0; h < nHeads; h++) {
      const a = new Float64Array(n * m);
      for (let i = 0; i < n; i++) {
        const [last, qi] = [isCausal ? i + 1 : m, (first + i) * d + h * dk];
        let [top, total] = [-Infinity, 0];
        for (let j = 0; j < last; j++) {
          let score = 0;
          for (let c = 0, kj = (firstKey + j) * d + h * dk; c < dk; c++) score += q.values[qi + c] * k.values[kj + c];
          a[i * m + j] = score * root;
          top = Math.max(top, a[i * m + j]);
        }
        for (let j = 0; j < last; j++) total += a[i * m + j] = Math.exp(a[i * m + j] - top);
        for (let j = 0; j < last; j++) {
          a[i * m + j] /= total;
          if (!cut.includes(h)) for (let c = 0, vj = (firstKey + j) * d + h * dk; c < dk; c++) out.values[qi + c] += a[i * m + j] * v.values[vj + c];
        }
      }
      all.push(a);
    }
    weights?.push(all.slice(-nHeads));
  }
  return record(out, () => {
    for (let s = 0, w = 0; s + 1 < starts.length; s++) {
      const [first, n, firstKey, m] = [starts[s], starts[s + 1] - starts[s], keyStarts[s], keyStarts[s + 1] - keyStarts[s]];
      for (let h = 0; h < nHeads; h++, w++) {
        if (cut.includes(h)) continue;
        const [a, da] = [all[w], new Float64Array(m)];
        for (let i = 0; i < n; i++) {
          const [last, qi] = [isCausal ? i + 1 : m, (first + i) * d + h * dk];
          let mean = 0; // dS = A (dA − the mean of dA under A).
          for (let j = 0; j < last; j++) {
            da[j] = 0;
            for (let c = 0, vj = (firstKey + j) * d + h * dk; c < dk; c++) {
              da[j] += out.gradient[qi + c] * v.values[vj + c];
              v.gradient[vj + c] += a[i * m + j] * out.gradient[qi + c];
            }
            mean += a[i * m + j] * da[j];
          }
          for (let j = 0; j < last; j++) {
            const ds = a[i * m + j] * (da[j] - mean) * root;
            for (let c = 0, kj = (firstKey + j) * d + h * dk; c < dk; c++) {
              q.gradient[qi + c] += ds * k.values[kj + c];
              k.gradient[kj + c] += ds * q.values[qi + c];
            }
          }
        }
      }
    }
  });
}

/** The mean of −log p(the right token), a number. Back: p, minus 1 at the right token, over the number of tokens. */
export function crossEntropy(logits, targets) {
  const [n, size] = [logits.rows, logits.columns];
  const p = new Float64Array(logits.values.length);
  let loss = 0;
  for (let i = 0, r = 0; i < n; i++, r += size) {
    let [top, total] = [-Infinity, 0];
    for (let c = 0; c < size; c++) top = Math.max(top, logits.values[r + c]);
    for (let c = 0; c < size; c++) total += p[r + c] = Math.exp(logits.values[r + c] - top);
    for (let c = 0; c < size; c++) p[r + c] /= total;
    loss -= Math.log(p[r + targets[i]]) / n;
  }
  return record(loss, () => p.forEach((x, at) => { logits.gradient[at] += (x - (at % size === targets[Math.floor(at / size)])) / n; }));
}

// Layers ---------------------------------------------------------------------------

function multiHeadAttention(layer, x, source, starts, config, options) {
  const [q, k, v] = [linear(layer.qProj, x), linear(layer.kProj, source), linear(layer.vProj, source)];
  return linear(layer.outProj, attend(q, k, v, starts, config.nHeads, options));
}

const feedForward = ({ linear1, linear2 }, x) => linear(linear2, relu(linear(linear1, x)));

/** The changes that break one attention: { cut, factor }. */
const broken = ({ cut = {}, factor = 1 }, name) => ({ cut: cut[name], factor });

/** Encode the source. `breaks` is { cut: { "encoder.0.self": [heads] }, without: [layers], isOrdered, isCausal, factor }. */
export function encode({ parameters, config }, source, breaks = {}) {
  let x = embed(parameters.srcEmbedding, source, breaks.isOrdered ?? true);
  Object.values(parameters.encoder.layers).forEach((layer, l) => {
    if (breaks.without?.includes(`encoder.${l}`)) return;
    const read = layerNorm(layer.norm1, x);
    x = add(x, multiHeadAttention(layer.selfAttention, read, read, source.starts, config, broken(breaks, `encoder.${l}.self`)));
    x = add(x, feedForward(layer.feedForward, layerNorm(layer.norm2, x)));
  });
  return layerNorm(parameters.encoder.norm, x);
}

/** Predict, at every position of the target, the token that follows: the logits. `cross` collects the weights of each layer. */
export function decode({ parameters, config }, target, memory, source, breaks = {}, cross = []) {
  let x = embed(parameters.tgtEmbedding, target, breaks.isOrdered ?? true);
  const isCausal = breaks.isCausal ?? true;
  Object.values(parameters.decoder.layers).forEach((layer, l) => {
    if (breaks.without?.includes(`decoder.${l}`)) return;
    const read = layerNorm(layer.norm1, x);
    x = add(x, multiHeadAttention(layer.selfAttention, read, read, target.starts, config, { isCausal, ...broken(breaks, `decoder.${l}.self`) }));
    const weights = [];
    cross.push(weights);
    x = add(x, multiHeadAttention(layer.crossAttention, layerNorm(layer.norm2, x), memory, target.starts, config, { keyStarts: source.starts, weights, ...broken(breaks, `decoder.${l}.cross`) }));
    x = add(x, feedForward(layer.feedForward, layerNorm(layer.norm3, x)));
  });
  return linear(parameters.output, layerNorm(parameters.decoder.norm, x));
}

/** Return several sequences of ids as one list, with the start of each. */
export function pack(sequences) {
  const starts = [0];
  for (const { length } of sequences) starts.push(starts.at(-1) + length);
  return { ids: sequences.flat(), starts };
}

// Training -------------------------------------------------------------------------

export const [SOS, EOS] = [0, 1];

/** The loss of a batch of pairs [source, target] of ids: at each position of <sos> target, what follows in target <eos>. */
export function lossOf(model, pairs, breaks) {
  const source = pack(pairs.map(([ids]) => ids));
  const target = pack(pairs.map(([, ids]) => [SOS, ...ids]));
  const logits = decode(model, target, encode(model, source, breaks), source, breaks);
  return crossEntropy(logits, pairs.flatMap(([, ids]) => [...ids, EOS]));
}

/** Random numbers from 0 to 1 that depend on the seed alone (mulberry32). */
export function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

/** A model with random initial weights, as attn draws them: { config, parameters }. */
export function newModel(config, random) {
  const { dModel: d, dFf, nLayers, sourceSize, targetSize } = config;
  const uniform = (rows, columns, limit) => new Matrix(rows, columns, Float64Array.from({ length: rows * columns }, () => limit * (2 * random() - 1)));
  const xavier = (rows, columns) => ({ weight: uniform(rows, columns, Math.sqrt(6 / (rows + columns))), bias: new Matrix(1, rows) });
  const norm = () => ({ weight: new Matrix(1, d, new Float64Array(d).fill(1)), bias: new Matrix(1, d) });
  const heads = () => ({ qProj: xavier(d, d), kProj: xavier(d, d), vProj: xavier(d, d), outProj: xavier(d, d) });
  const layer = (some) => ({ selfAttention: heads(), ...some, feedForward: { linear1: xavier(dFf, d), linear2: xavier(d, dFf) }, norm1: norm(), norm2: norm() });
  const layers = (make) => Object.fromEntries(Array.from({ length: nLayers }, (_, l) => [l, make()]));
  const tokens = (size) => ({ tokens: { weight: uniform(size, d, Math.sqrt(3 / d)) } });
  const parameters = {
    srcEmbedding: tokens(sourceSize), tgtEmbedding: tokens(targetSize),
    encoder: { layers: layers(() => layer({})), norm: norm() },
    decoder: { layers: layers(() => layer({ crossAttention: heads(), norm3: norm() })), norm: norm() },
    output: { weight: xavier(targetSize, d).weight },
  };
  return { config, parameters };
}

/** Every matrix of a model by its name. */
export function named(tree, path = "") {
  return Object.entries(tree).flatMap(([name, node]) => (node instanceof Matrix ? [[path + name, node]] : named(node, `${path}${name}.`)));
}

/** Adam: each step updates the parameters. The rate rises over `warmUp` steps and then falls as their inverse root. */
export function adam(model, { rate = 0.005, warmUp = 60, beta1 = 0.9, beta2 = 0.98 } = {}) {
  const all = named(model.parameters).map(([, matrix]) => ({ matrix, m: new Float64Array(matrix.values.length), v: new Float64Array(matrix.values.length) }));
  let step = 0;
  return () => {
    step++;
    const now = rate * Math.min(step / warmUp, Math.sqrt(warmUp / step));
    const [scale1, scale2] = [1 - beta1 ** step, 1 - beta2 ** step];
    for (const { matrix: { values, gradient }, m, v } of all) {
      for (let i = 0; i < values.length; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * gradient[i];
        v[i] = beta2 * v[i] + (1 - beta2) * gradient[i] ** 2;
        values[i] -= (now * (m[i] / scale1)) / (Math.sqrt(v[i] / scale2) + 1e-9);
      }
      gradient.fill(0);
    }
  };
}

/**
 * Translate several sources greedily: { ids, cross } each, where cross[i] is the cross-attention with which token i was
 * predicted, [layer][head][source token].
 */
export function translate(model, sources, breaks = {}, most = 10) {
  const source = pack(sources);
  const memory = encode(model, source, breaks);
  const found = sources.map(() => ({ ids: [], cross: [], isDone: false }));
  for (let step = 0; step < most && !found.every(({ isDone }) => isDone); step++) {
    const cross = [];
    const target = pack(found.map(({ ids }) => [SOS, ...ids.slice(0, step)]));
    const logits = decode(model, target, memory, source, breaks, cross);
    found.forEach((one, s) => {
      if (one.isDone) return;
      const [row, m] = [target.starts[s + 1] - 1, sources[s].length];
      const scores = logits.values.subarray(row * logits.columns, (row + 1) * logits.columns);
      const best = scores.indexOf(Math.max(...scores));
      one.cross.push(cross.map((weights) => weights[s].map((a) => Array.from(a.slice(-m)))));
      one.isDone = best === EOS;
      if (!one.isDone) one.ids.push(best);
    });
  }
  forget();
  return found.map(({ ids, cross }) => ({ ids, cross }));
}
