// From logits to sentences: the greedy and beam_search of attn.decoding, for one source.
import { wrong } from "./shared.js";
import { EOS, SOS } from "./tokenizer.js";

/** Append the most probable token repeatedly; return the prompt and the new tokens. */
export function greedy(model, src, { maxNewTokens, prompt = [SOS], endId = EOS }) {
  checkSize("maxNewTokens", maxNewTokens, 0);
  const { memory } = model.encode(src);
  const ids = [...prompt];
  let next = prompt;
  let past = null;
  for (let n = 0; n < maxNewTokens; n++) {
    past = model.decode(next, memory, past);
    next = bestTokens(past.logits.at(-1), 1);
    ids.push(...next);
    if (next[0] === endId) break;
  }
  return ids;
}

/**
 * Keep the `width` most probable prefixes, and extend all of them: { hypotheses, tree }.
 *
 * The hypotheses, best first, are { ids, score, node }. The tree lists every prefix that was
 * scored, { parent, token, logProbability, total, kept }: the index of its parent in this list, the
 * token appended to it, the log-probability of that token and of all tokens so far, and whether the
 * search kept it. Its first node is the prompt.
 */
export function beamSearch(model, src, { width, maxNewTokens, lengthPenalty = 0, prompt = [SOS], endId = EOS }) {
  checkSize("width", width, 1);
  checkSize("maxNewTokens", maxNewTokens, 0);
  if (!(-10 <= lengthPenalty && lengthPenalty <= 10)) throw wrong("lengthPenalty", "a number from -10 to 10", lengthPenalty);
  const { memory } = model.encode(src);
  const tree = [{ parent: null, token: null, logProbability: 0, total: 0, kept: true }];
  let beam = [{ node: 0, ids: prompt, next: prompt, past: null, running: true }];
  for (let n = 0; n < maxNewTokens && beam.some((hypothesis) => hypothesis.running); n++) {
    // A hypothesis that has ended stays unchanged, before all others.
    const ended = beam.filter((hypothesis) => !hypothesis.running);
    const running = beam.filter((hypothesis) => hypothesis.running);
    const steps = model.decodeAll(running.map(({ next, past }) => ({ ids: next, memory, past })));
    const candidates = running.flatMap(({ node, ids }, i) => {
      const step = steps[i];
      const logits = step.logits.at(-1);
      const logTotal = logSumExp(logits);
      return bestTokens(logits, width).map((token) => {
        const logProbability = logits[token] - logTotal;
        tree.push({ parent: node, token, logProbability, total: tree[node].total + logProbability, kept: false });
        return { node: tree.length - 1, ids: [...ids, token], next: [token], past: step, running: token !== endId };
      });
    });
    candidates.sort((a, b) => tree[b.node].total - tree[a.node].total);
    const grown = candidates.slice(0, width - ended.length);
    for (const { node } of grown) tree[node].kept = true;
    beam = [...ended, ...grown];
  }
  const hypotheses = beam.map(({ node, ids }) =>
    ({ ids, node, score: tree[node].total / ((5 + ids.length - prompt.length) / 6) ** lengthPenalty }));
  return { hypotheses: hypotheses.sort((a, b) => b.score - a.score), tree };
}

/** Return the indices of the largest logits, the largest first. Of equal logits, the first comes first. */
function bestTokens(logits, count) {
  const best = [];
  let least = -Infinity; // The smallest of the best logits so far, once there are enough of them.
  for (let token = 0; token < logits.length; token++) {
    if (best.length === count && !(logits[token] > least)) continue;
    const place = best.findIndex((other) => logits[token] > logits[other]);
    best.splice(place < 0 ? best.length : place, 0, token);
    best.length = Math.min(best.length, count);
    least = logits[best.at(-1)];
  }
  return best;
}

/** The logarithm of the denominator of a softmax. */
export function logSumExp(logits) {
  let [top, total] = [-Infinity, 0];
  for (let i = 0; i < logits.length; i++) top = Math.max(top, logits[i]);
  for (let i = 0; i < logits.length; i++) total += Math.exp(logits[i] - top);
  return top + Math.log(total);
}

function checkSize(name, size, least) {
  if (!Number.isInteger(size)) throw wrong(name, "an integer", size);
  if (size < least) throw wrong(name, `at least ${least}`, size);
}
