// Runs MiniLM in a worker of the page. It gets
//   { kind: "load", base, manifest }         fetch the parts, as book/_ext/attn_model.py packs them
//   { kind: "compare", turn, texts, word }   the vectors of some texts, or of a word in each of them
//   { kind: "stop" }
// and tells { kind: "loading", share }, "loaded", "reading" with the share of the texts, "compared", or "failed", with
// the turn of the request. A new request ends the one before it.
import { meanOf, loadMinilm } from "./minilm.js";
import { loaded, serve } from "./model_worker.js";
import { dot, wrong } from "./shared.js";
import { WordPieceTokenizer } from "./word_piece.js";

/** Where some ids stand in others for the first time: a list of positions, or null. */
export function placesOf(ids, some) {
  const first = ids.findIndex((_, i) => some.every((id, k) => ids[i + k] === id));
  return first < 0 ? null : some.map((_, k) => first + k);
}

/** What a worker does with one message, without the worker. */
export function sentenceModel(tell, pause) {
  let [model, tokenizer] = [null, null];
  let task = 0;
  const known = new Map(); // the ids of each text that was read, and its vectors

  /**
   * `cosines[layer][a][b]` of the texts `found`, given by their places; the others lack the word. Layer 0 is the
   * entrance.
   */
  async function compare({ texts, word = "" }, say) {
    const mine = ++task;
    const asked = tokenizer.encode(word);
    const [found, vectors] = [[], []];
    for (const [i, text] of texts.entries()) {
      if (!known.has(text)) {
        const ids = [tokenizer.sosId, ...tokenizer.encode(text), tokenizer.eosId];
        if (ids.length > model.config.maxLen) throw wrong("text", `at most ${model.config.maxLen} tokens`, ids.length);
        known.set(text, { ids, x: model.read(ids) });
        say({ kind: "reading", share: (i + 1) / texts.length });
        await pause();
        if (mine !== task) return null;
      }
      const { ids, x } = known.get(text);
      const places = asked.length ? placesOf(ids, asked) : [...ids.keys()];
      if (!places) continue;
      found.push(i);
      vectors.push(x.map((rows) => meanOf(places.map((place) => rows[place]))));
    }
    const layers = Array.from({ length: model.config.nLayers + 1 }, (_, l) => vectors.map((one) => one[l]));
    return say({ kind: "compared", found, cosines: layers.map((some) => some.map((a) => some.map((b) => dot(a, b)))) });
  }

  async function load(request) {
    const room = await loaded(request, tell);
    model = loadMinilm(room);
    tokenizer = new WordPieceTokenizer(model.tokens);
    tell({ kind: "loaded", isFast: room.isFast });
  }

  return (message) => {
    if (message.kind === "stop") task += 1;
    const say = (data) => tell({ ...data, turn: message.turn });
    const answer = { load, compare }[message.kind]?.(message, say);
    return answer?.catch((error) => say({ kind: "failed", why: String(error.message ?? error) }));
  };
}

serve(sentenceModel);
