// Runs the language model in a worker of the page, so that the page stays alive. It gets
//   { kind: "load", base, manifest }     fetch the parts, as book/_ext/attn_model.py packs them
//   { kind: "write", turn, prompt, ids, from, most, temperature, topP }   go on after some ids; of these too, from
//        number `from` on, tell what could have stood in their place
//   { kind: "look", turn, text, off, patch, words }   read a text without the heads `off`, each [layer, head], and
//        with one vector of another text, `patch`, { text, layer, position }; of some words tell the probability
//   { kind: "lens", turn, text, off, patch, layers, position, ids }   what the vector of that position would
//        predict on entering each layer, and the rank of each id there
//   { kind: "grid", turn, text, other, layers, ids }   carry each vector of the other text over, one at a time
//   { kind: "stop" }
// and tells { kind: "loading", share }, "loaded", "reading" with the share of a pass, a "step" for each
// position, "looked", "seen", a "cell" for each vector, "done", "full" where no more tokens are read, or "failed",
// with the turn of the request. A new request ends the one before it.
import { ByteLevelTokenizer } from "./byte_level.js";
import { drawn, greedyChoice, loadLlama, nextTokenProbabilities, withoutHeads, withStream } from "./llama.js";
import { loaded, serve } from "./model_worker.js";
import { wrong } from "./shared.js";

const BEST = 5;
const SLOW = 20; // The progress of reading a prompt with more tokens than this is reported.
export const MOST_READ = 300; // A text has at most this many tokens.
export const MOST_LOOKED_AT = 24; // With more tokens the heads would be too small to see.
const WHOLE = 255; // A weight of 1, as the stored sentences of the chapters have it.

/** The most probable tokens, the best first, as [id, probability], without those of probability 0. */
export function bestOf(probabilities, count) {
  const best = [];
  for (let id = 0; id < probabilities.length; id++) {
    if (!(probabilities[id] > (best.length === count ? best.at(-1)[1] : 0))) continue;
    const place = best.findIndex(([, p]) => probabilities[id] > p);
    best.splice(place < 0 ? best.length : place, 0, [id, probabilities[id]]);
    best.length = Math.min(best.length, count);
  }
  return best;
}

/**
 * What a worker does with one message, without the worker: `tell` hears what it tells, and `pause` lets
 * other messages in.
 */
export function languageModel(tell, pause, random = Math.random) {
  let [model, tokenizer, cache] = [null, null, null];
  let task = 0;

  /** Read the ids that the cache lacks, and return the logits after each of the last few; null if stopped. */
  async function logitsAfter(ids, few, isCurrent, say) {
    let known = 0;
    while (known < ids.length - few && cache.ids[known] === ids[known]) known += 1;
    cache.truncate(known);
    const hear = ids.length - known > SLOW ? (share) => say({ kind: "reading", share }) : null;
    return (await finished(model.read(ids.slice(known), { cache, all: few > 1 }), isCurrent, hear))?.logits.slice(-few);
  }

  /** Run a pass to its end; with `hear`, let other messages in after each layer. Null if it was stopped. */
  async function finished(reading, isCurrent, hear) {
    let step = reading.next();
    while (!step.done) {
      if (hear) {
        hear(step.value);
        await pause();
        if (!isCurrent()) return null;
      }
      step = reading.next();
    }
    await pause();
    return isCurrent() ? step.value : null;
  }

  const idsOf = (text) => {
    const ids = tokenizer.encode(text, { marked: true });
    if (!ids.length) throw wrong("text", "at least one token", "none");
    return ids;
  };
  /** The residual stream of a text on entering each layer, and after the last one, with the changes of the hooks. */
  async function streamsOf(ids, isCurrent, hooks = {}) {
    const streams = [];
    const stream = (layer, x) => {
      hooks.stream?.(layer, x);
      streams[layer] = x;
    };
    await finished(model.read(ids, { hooks: { ...hooks, stream } }), isCurrent);
    return streams;
  }
  /** The hooks of a request; null if it was stopped. */
  async function changed({ off = [], patch = null }, isCurrent) {
    const hooks = withoutHeads(off);
    if (!patch) return hooks;
    const streams = await streamsOf(idsOf(patch.text), isCurrent);
    return isCurrent() ? { ...hooks, ...withStream(patch.layer, patch.position, streams[patch.layer][patch.position]) } : null;
  }

  async function look({ text, words = [], ...hand }, say) {
    const mine = ++task;
    const isCurrent = () => mine === task;
    const ids = idsOf(text);
    if (ids.length > MOST_LOOKED_AT) return say({ kind: "full", tokens: ids.length, most: MOST_LOOKED_AT });
    const weights = [];
    const collect = (_, heads) => heads.forEach((rows) => rows.forEach((row) => row.forEach((w) => weights.push(Math.round(WHOLE * w)))));
    const hooks = await changed(hand, isCurrent);
    const logits = hooks && (await finished(model.read(ids, { hooks: { ...hooks, weights: collect } }), isCurrent))?.logits[0];
    if (!logits) return null;
    const probabilities = nextTokenProbabilities(logits);
    const best = bestOf(probabilities, BEST).map(([id, p]) => ({ id, p, text: tokenizer.show(id) }));
    const chances = words.map((word) => probabilities[tokenizer.encode(word)[0]]);
    return say({ kind: "looked", tokens: ids.map((id) => tokenizer.show(id)), ids, weights: Uint8Array.from(weights), probabilities, best, chances });
  }

  async function lens({ text, layers, position, ids: asked, ...hand }, say) {
    const mine = ++task;
    const isCurrent = () => mine === task;
    const hooks = await changed(hand, isCurrent);
    const streams = hooks && await streamsOf(idsOf(text), isCurrent, hooks);
    if (!streams || !isCurrent()) return null;
    const seen = model.logits(layers.map((layer) => streams[layer][position])).map((logits, i) => {
      const id = greedyChoice(logits);
      return { layer: layers[i], text: tokenizer.show(id), ranks: asked.map((one) => 1 + logits.filter((x) => x > logits[one]).length) };
    });
    return say({ kind: "seen", seen });
  }

  /**
   * What each patch does: the logit of the first of two ids less that of the second, as the share of the way
   * from its value in the text to that in the other one.
   */
  async function grid({ text, other, layers, ids: [one, two] }, say) {
    const mine = ++task;
    const isCurrent = () => mine === task;
    const [own, others] = [idsOf(text), idsOf(other)];
    const [x, y] = [await streamsOf(own, isCurrent), await streamsOf(others, isCurrent)];
    if (!isCurrent()) return null;
    const lead = (logits) => logits[one] - logits[two];
    const [from, to] = [x, y].map((streams) => lead(model.logits(streams.at(-1).slice(-1))[0]));
    const first = own.findIndex((id, i) => id !== others[i]);
    for (const layer of layers) {
      for (let position = 0; position < own.length; position++) {
        let share = 0; // Before the first difference the two streams are the same.
        if (position >= first) {
          const patched = x[layer].map((row, i) => (i === position ? y[layer][i] : row));
          const found = await finished(model.read(own, { from: { layer, x: patched } }), isCurrent);
          if (!found) return null;
          share = (lead(found.logits[0]) - from) / (to - from);
        }
        say({ kind: "cell", layer, position, share });
      }
    }
    return say({ kind: "done" });
  }

  async function write({ prompt, ids: written, from = written.length, most, temperature, topP }, say) {
    const mine = ++task;
    const isCurrent = () => mine === task;
    const start = tokenizer.encode(prompt, { marked: true });
    const ids = [...start, ...written];
    if (!start.length) throw wrong("prompt", "at least one token", "none");
    const full = () => say({ kind: "full", tokens: ids.length, most: MOST_READ });
    if (ids.length > MOST_READ) return full();
    const given = written.slice(from);
    let known = await logitsAfter(ids, 1 + given.length, isCurrent, say);
    for (let n = -given.length; n <= most; n++) {
      if (known?.length === 0) known = await logitsAfter(ids, 1, isCurrent, say);
      if (!known) return null;
      const logits = known.shift();
      const probabilities = nextTokenProbabilities(logits, { temperature: temperature || 1, topP: temperature ? topP : 1 });
      const best = bestOf(probabilities, BEST);
      const isGiven = n < 0;
      let taken = null;
      if (isGiven || (n < most && ids.length < MOST_READ)) {
        const id = isGiven ? given.at(n) : temperature ? drawn(probabilities, random) : greedyChoice(logits);
        taken = best.findIndex(([other]) => other === id);
        if (taken < 0) taken = best.push([id, probabilities[id]]) - 1;
        if (!isGiven) ids.push(id);
      }
      const shown = best.map(([id, p]) => ({ id, text: tokenizer.show(id), p, isEnd: tokenizer.endIds.includes(id) }));
      say({ kind: "step", best: shown, taken, isGiven, nPrompt: start.length, bytes: cache.bytes });
      if (!isGiven && (taken === null || shown[taken].isEnd)) break;
    }
    return ids.length < MOST_READ ? say({ kind: "done" }) : full();
  }

  async function load(request) {
    const room = await loaded(request, tell);
    model = loadLlama(room);
    tokenizer = new ByteLevelTokenizer(model.metadata);
    cache = model.newCache();
    tell({ kind: "loaded", isFast: room.isFast });
  }

  return (message) => {
    if (message.kind === "stop") task += 1;
    const say = (data) => tell({ ...data, turn: message.turn });
    const answer = { load, write, look, lens, grid }[message.kind]?.(message, say);
    return answer?.catch((error) => say({ kind: "failed", why: String(error.message ?? error) }));
  };
}

serve(languageModel);
