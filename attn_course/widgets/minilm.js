// MiniLM, from token ids to the vectors of a text at every layer: attn.transformer.EncoderOnly with the
// choices of a BERT (attn.pretrained.families). Its file is what book/_ext/attn_minilm.py packs.
import { readGguf, rowOf } from "./gguf.js";
import { add, mix, scores, softmaxed } from "./llama.js";
import { wrong } from "./shared.js";

/**
 * The model, { config, tokens, read }. `read(ids)` returns the vectors of the tokens on entering each layer and
 * after the last one, x[layer][position]. The file lies in a `roomFor` of packed.js.
 */
export function loadMinilm({ bytes, multiply }) {
  const { metadata, tensors } = readGguf(bytes);
  if (metadata["general.architecture"] !== "bert") throw wrong("general.architecture", "'bert'", metadata["general.architecture"]);
  const said = JSON.parse(metadata.config);
  const config = { nLayers: said.num_hidden_layers, nHeads: said.num_attention_heads, dModel: said.hidden_size, maxLen: said.max_position_embeddings, normEps: said.layer_norm_eps };
  const dK = config.dModel / config.nHeads;

  /** x Wᵀ + b */
  const linear = (name) => {
    const [weight, bias] = [tensors[`${name}.weight`], rowOf(tensors[`${name}.bias`])];
    return (x) => add(x.map(() => bias), multiply(weight, x));
  };
  const layerNorm = (name) => {
    const [gain, bias] = ["weight", "bias"].map((part) => rowOf(tensors[`${name}.${part}`]));
    return (x) => x.map((row) => normalised(row, config.normEps, gain, bias));
  };
  const [tokens, positions, types] = ["word", "position", "token_type"].map((name) => tensors[`embeddings.${name}_embeddings.weight`]);
  const embeddingNorm = layerNorm("embeddings.LayerNorm");
  const layers = Array.from({ length: config.nLayers }, (_, l) => {
    const part = (make, name) => make(`encoder.layer.${l}.${name}`);
    return {
      qProj: part(linear, "attention.self.query"), kProj: part(linear, "attention.self.key"), vProj: part(linear, "attention.self.value"),
      outProj: part(linear, "attention.output.dense"), norm1: part(layerNorm, "attention.output.LayerNorm"),
      linear1: part(linear, "intermediate.dense"), linear2: part(linear, "output.dense"), norm2: part(layerNorm, "output.LayerNorm"),
    };
  });

  function read(ids) {
    if (!(ids.length <= config.maxLen)) throw wrong("ids", `at most ${config.maxLen} tokens`, ids.length);
    const placed = add(ids.map((_, i) => rowOf(positions, i)), ids.map(() => rowOf(types)));
    const x = [embeddingNorm(add(placed, ids.map((id) => rowOf(tokens, id))))];
    for (const layer of layers) x.push(postNorm(layer, x.at(-1)));
    return x;
  }

  /** One layer of attn.layers.EncoderLayer, post-norm. */
  function postNorm({ norm1, norm2, linear1, linear2, ...parts }, x) {
    x = norm1(add(x, selfAttention(parts, x)));
    return norm2(add(x, linear2(linear1(x).map((row) => row.map(gelu)))));
  }

  /** attn.attention.MultiHeadAttention without a mask. */
  function selfAttention({ qProj, kProj, vProj, outProj }, x) {
    const [query, key, value] = [qProj(x), joined(kProj(x)), joined(vProj(x))];
    return outProj(query.map((row) => {
      const out = new Float32Array(config.dModel);
      for (let at = 0; at < config.dModel; at += dK) {
        mix(out.subarray(at, at + dK), softmaxed(scores(row, at, key, at, config.dModel, dK, x.length)), value, at, config.dModel);
      }
      return out;
    }));
  }

  return { config, tokens: metadata["tokenizer.ggml.tokens"], read };
}

/** Vectors one after the other. */
function joined(rows) {
  const all = new Float32Array(rows.length * rows[0].length);
  rows.forEach((row, i) => all.set(row, i * row.length));
  return all;
}

function normalised(row, eps, gain, bias) {
  let [mean, variance] = [0, 0];
  for (let d = 0; d < row.length; d++) mean += row[d] / row.length;
  for (let d = 0; d < row.length; d++) variance += (row[d] - mean) ** 2 / row.length;
  return row.map((x, d) => ((x - mean) / Math.sqrt(variance + eps)) * gain[d] + bias[d]);
}

/** x Φ(x), with Φ from formula 7.1.26 of Abramowitz and Stegun, whose error is below 2e-7. */
function gelu(x) {
  const t = 1 / (1 + (0.3275911 * Math.abs(x)) / Math.SQRT2);
  const tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp((-x * x) / 2);
  return (x * (1 + Math.sign(x) * (1 - tail))) / 2;
}

/** The mean of some vectors, brought to length 1: attn_course.minilm.vectors. */
export function meanOf(rows) {
  const mean = rows[0].map((_, d) => rows.reduce((total, row) => total + row[d], 0));
  const length = Math.hypot(...mean);
  return mean.map((x) => x / length);
}
