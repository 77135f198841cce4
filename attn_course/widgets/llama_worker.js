// Runs the language model in a worker of the page, so that the page stays alive. It gets
//   { kind: "load", base, manifest }     fetch the parts, as book/_ext/attn_model.py packs them
//   { kind: "write", turn, prompt, ids, most, temperature, topP }
//   { kind: "stop" }
// and tells { kind: "loading", share }, "loaded", "reading" with the share of a pass, a "step" for each
// position, "done", "full" where no more tokens are read, or "failed", with the turn of the request. A new
// "write" ends the one before it.
import { ByteLevelTokenizer } from "./byte_level.js";
import { partsInto } from "./parts.js";
import { drawn, greedyChoice, loadLlama, nextTokenProbabilities } from "./llama.js";
import { roomFor } from "./packed.js";
import { wrong } from "./shared.js";

const BEST = 5;
const SLOW = 20; // A prompt of more tokens is read for long enough that its progress is worth telling.
export const MOST_READ = 300; // A text has at most this many tokens.

/** The most probable tokens, the first best, as [id, probability]; none that is never drawn. */
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

  /** Read what the cache does not know of some ids, and return the logits after the last; null if stopped. */
  async function logitsAfter(ids, isCurrent, say) {
    let known = 0;
    while (known < ids.length - 1 && cache.ids[known] === ids[known]) known += 1;
    cache.truncate(known);
    const reading = model.read(ids.slice(known), { cache });
    let step = reading.next();
    while (!step.done) {
      if (ids.length - known > SLOW) {
        say({ kind: "reading", share: step.value });
        await pause();
        if (!isCurrent()) return null;
      }
      step = reading.next();
    }
    await pause();
    return isCurrent() ? step.value.logits[0] : null;
  }

  async function write({ prompt, ids: written, most, temperature, topP }, say) {
    const mine = ++task;
    const isCurrent = () => mine === task;
    const start = tokenizer.encode(prompt, { marked: true });
    const ids = [...start, ...written];
    if (!start.length) throw wrong("prompt", "at least one token", "none");
    const full = () => say({ kind: "full", tokens: ids.length, most: MOST_READ });
    if (ids.length > MOST_READ) return full();
    for (let n = 0; n <= most; n++) {
      const logits = await logitsAfter(ids, isCurrent, say);
      if (!logits) return null;
      const probabilities = nextTokenProbabilities(logits, { temperature: temperature || 1, topP: temperature ? topP : 1 });
      const best = bestOf(probabilities, BEST);
      let taken = null;
      if (n < most && ids.length < MOST_READ) {
        const id = temperature ? drawn(probabilities, random) : greedyChoice(logits);
        taken = best.findIndex(([other]) => other === id);
        if (taken < 0) taken = best.push([id, probabilities[id]]) - 1;
        ids.push(id);
      }
      const shown = best.map(([id, p]) => ({ id, text: tokenizer.show(id), p, isEnd: tokenizer.endIds.includes(id) }));
      say({ kind: "step", best: shown, taken, nPrompt: start.length, bytes: cache.bytes });
      if (taken === null || shown[taken].isEnd) break;
    }
    return ids.length < MOST_READ ? say({ kind: "done" }) : full();
  }

  async function load({ base, manifest, kernel }) {
    const room = roomFor(manifest.bytes, kernel);
    await partsInto(room.bytes, base, manifest.parts, (share) => tell({ kind: "loading", share }));
    model = loadLlama(room);
    tokenizer = new ByteLevelTokenizer(model.metadata);
    cache = model.newCache();
    tell({ kind: "loaded", isFast: room.isFast });
  }

  return (message) => {
    if (message.kind === "stop") task += 1;
    const say = (data) => tell({ ...data, turn: message.turn });
    const answer = { load, write }[message.kind]?.(message, say);
    return answer?.catch((error) => say({ kind: "failed", why: String(error.message ?? error) }));
  };
}

/** The compiled kernel beside the model; null where there is none, or no SIMD. */
async function kernelAt(address) {
  try {
    return await WebAssembly.compile(await (await fetch(address)).arrayBuffer());
  } catch {
    return null;
  }
}

if (globalThis.WorkerGlobalScope) {
  const { port1, port2 } = new MessageChannel(); // A timer would wait four milliseconds each time.
  let woken = () => {};
  port1.onmessage = () => woken();
  const pause = () => new Promise((resolve) => { woken = resolve; port2.postMessage(null); });
  const hear = languageModel((message) => postMessage(message), pause);
  onmessage = async ({ data }) => {
    if (data.kind === "load") data.kernel = data.manifest.kernel && await kernelAt(data.base + data.manifest.kernel);
    hear(data);
  };
}
