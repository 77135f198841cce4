// The searcher of attn_course.emoji: from a text to the emoji whose pictures are nearest to it.
import { readCheckpoint } from "./checkpoint.js";
import { dot } from "./shared.js";
import { BytePairTokenizer } from "./tokenizer.js";
import { loadModel } from "./trained.js";
import { embed, encoderLayer, lastNorm, linear, stack } from "./transformer.js";

/** Load the trained model once: { config, parameters, tokenizer, maxTokens, emoji, seen, pictures }. */
export function loadEmoji(model) {
  return loadModel("emoji", model.get("trained"), ({ weights, vocabulary, codes, maxTokens }) => {
    const { config, parameters } = readCheckpoint(weights, "TextTower");
    const { weight } = parameters.pictures;
    const all = codes.split(" ");
    const emoji = all.map((code) => String.fromCodePoint(...code.replace("*", "").split("-").map((part) => parseInt(part, 16))));
    const side = weight.length / all.length;
    const pictures = all.map((_, i) => unit(weight.subarray(i * side, (i + 1) * side)));
    const seen = all.map((code) => !code.startsWith("*"));
    return { config, parameters, tokenizer: new BytePairTokenizer(vocabulary), maxTokens, emoji, seen, pictures };
  });
}

/** Normalise a text as in training: lower case, no accents, single spaces, one space in front. */
export const plain = (text) => ` ${text.replace(/\p{Surrogate}/gu, "\ufffd").toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "").trim().split(/\s+/).join(" ")}`;

/** Return the vector of a text: the mean of its token vectors, projected and scaled to length 1. */
export function textVector({ config, parameters, tokenizer, maxTokens }, text) {
  const { x } = embed(parameters.embedding, tokenizer.encode(plain(text)).slice(0, maxTokens), 0, config);
  const [layers] = stack(parameters.encoder, [x], (layer, xs) => encoderLayer(layer, xs, config));
  const rows = lastNorm(parameters.encoder, layers, config);
  const mean = rows[0].map((_, d) => rows.reduce((total, row) => total + row[d], 0) / rows.length);
  return unit(linear(parameters.output, [mean])[0]);
}

/** Return the emoji nearest to a text, the nearest first, as { emoji, cosine, seen }. */
export function search(trained, text, n, onlyUnseen = false) {
  const vector = textVector(trained, text);
  const cosines = trained.pictures.map((picture) => dot(vector, picture));
  const some = [...cosines.keys()].filter((i) => !onlyUnseen || !trained.seen[i]);
  const best = some.sort((a, b) => cosines[b] - cosines[a]).slice(0, n);
  return best.map((i) => ({ emoji: trained.emoji[i], cosine: cosines[i], seen: trained.seen[i] }));
}

function unit(vector) {
  const length = Math.sqrt(dot(vector, vector));
  return vector.map((x) => x / length);
}
