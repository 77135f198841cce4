// The model of attn.applications.visual_question: from a scene and the ids of a question to answers.
import { readCheckpoint } from "./checkpoint.js";
import { loadModel } from "./loading.js";
import { GROUND, N_COLUMNS, N_ROWS, patchPixels } from "./scenes.js";
import { softmax } from "./shared.js";
import { PAD, WordTokenizer } from "./tokenizer.js";
import { add, decoderLayer, embed, feedForward, lastNorm, layerNorm, linear, sinusoidal, stack } from "./transformer.js";

const CONTRAST = 64;
const SLOWEST = 100;
const N_PADDED = 16; // Without the mask, a question is padded to this many tokens.

/** Load the trained model once: { config, parameters, tokenizer, answers }. */
export function loadVisual(model) {
  return loadModel("visual_question", model.get("trained"), ({ weights, questions, answers }) => (
    { ...readCheckpoint(weights, "VisualQuestionModel"), tokenizer: new WordTokenizer(questions), answers }));
}

/**
 * Ask a scene: { layers, logits, probabilities }, layers as those of transformer.js.
 *
 * `without` removes one part: "places", the positions of the patches; "choice", so that every patch
 * gets the same weight; "mask", so that the question is padded and its padding is not masked.
 */
export function look({ config, parameters }, things, ids, without = null) {
  const { embedding, decoder, output } = parameters;
  const memory = patchVectors(parameters.patches, things, config, without !== "places");
  const read = without === "mask" ? [...ids, ...Array(Math.max(0, N_PADDED - ids.length)).fill(PAD)] : ids;
  const { x } = embed(embedding, read, 0, config);
  const [layers] = stack(decoder, [x], (layer, xs) =>
    decoderLayer(without === "choice" ? evenly(layer) : layer, xs, [memory], [null], { ...config, isCausal: false }));
  const [logits] = linear(output, lastNorm(decoder, layers, config).slice(0, 1));
  return { layers, logits, probabilities: softmax(Array.from(logits)) };
}

/** Return the vectors of the patches, row by row. Each patch is embedded by itself, without attention. */
function patchVectors({ linear: projection, norm1, norm2, feedForward: inner }, things, { dModel }, placed) {
  const cells = Array.from({ length: N_ROWS * N_COLUMNS }, (_, i) => [Math.floor(i / N_COLUMNS), i % N_COLUMNS]);
  const pixels = cells.map(([row, column]) => {
    const thing = things.find((thing) => thing.row === row && thing.column === column);
    return Float32Array.from(patchPixels(thing), (value, i) => (value - GROUND[i % 3]) / CONTRAST);
  });
  const places = cells.map((cell) =>
    (placed ? Float32Array.from(cell.flatMap((i) => [...sinusoidal(i, dModel / 2, SLOWEST)])) : new Float32Array(dModel)));
  const x = add(linear(projection, pixels), places);
  const [{ output }] = feedForward(inner, [layerNorm(norm1, x)]);
  return layerNorm(norm2, add(x, output));
}

/** Return a layer whose keys are zero, so that all scores are equal and so are all weights. */
function evenly(layer) {
  const kProj = Object.fromEntries(Object.entries(layer.crossAttention.kProj).map(([name, values]) => [name, values.map(() => 0)]));
  return { ...layer, crossAttention: { ...layer.crossAttention, kProj } };
}
