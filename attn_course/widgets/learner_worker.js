// Trains the small translator of `learner.js` and breaks it, in a worker, so that the page stays
// responsive.
import { adam, backward, dice, forget, lossOf, named, newModel, translate } from "./backward.js";

const SIZE = { dModel: 32, dFf: 64, nLayers: 1, nHeads: 4 };
const BATCH = 32;
const LEAST = 4; // Below so many steps a second, training would take several minutes.

/** The sentences as ids: { train, held, encode, wordsOf, sizes }; `encode` has undefined for an unknown word. */
export function readWorld({ source, target, train, held }) {
  const [sources, targets] = [source, target].map((words) => new Map(words.map((word, id) => [word, id])));
  const encode = (text, ids = sources) => text.split(" ").map((word) => ids.get(word));
  const pairs = (lines) => lines.map((line) => line.split("|")).map(([english, spanish]) => [encode(english), encode(spanish, targets)]);
  return {
    train: pairs(train), held: pairs(held), encode, wordsOf: (ids) => ids.map((id) => target[id]),
    config: { ...SIZE, sourceSize: source.length, targetSize: target.length },
  };
}

/**
 * A training with a seed: { model, step, loss, curve, advance }. `curve` has the smoothed loss of
 * every tenth step. With `breaks`, as in `encode`, it trains without a part.
 */
export function newTraining(world, seed, breaks = {}) {
  const random = dice(seed);
  const model = newModel(world.config, random);
  const change = adam(model);
  const training = { model, step: 0, loss: null, curve: [] };
  training.advance = () => {
    const batch = Array.from({ length: BATCH }, () => world.train[Math.floor(random() * world.train.length)]);
    const loss = lossOf(model, batch, breaks);
    backward();
    change();
    training.loss = training.loss === null ? loss : 0.9 * training.loss + 0.1 * loss;
    if (training.step++ % 10 === 0) training.curve.push([training.step, training.loss]);
  };
  return training;
}

const NAMES = ["encoder.0.self", "decoder.0.self", "decoder.0.cross"];

/** The names of the heads that can be removed: "decoder.0.cross.3". */
export const HEADS = NAMES.flatMap((name) => Array.from({ length: SIZE.nHeads }, (_, h) => `${name}.${h}`));

/** The { cut } of `encode` and `decode` for some names of heads. */
export function cutting(heads) {
  return Object.fromEntries(NAMES.map((name) => [name, heads.filter((head) => head.startsWith(name)).map((head) => Number(head.at(-1)))]));
}

/** How many held-out sentences are right, the first that is not, and the loss on them, for a model with these `breaks`. */
export function score(world, model, breaks) {
  const written = translate(model, world.held.map(([ids]) => ids), breaks);
  const areRight = written.map(({ ids }, i) => ids.join() === world.held[i][1].join());
  const loss = lossOf(model, world.held, breaks);
  forget();
  return { right: areRight.filter(Boolean).length, wrong: areRight.indexOf(false), loss };
}

/** The mean of the cross-attention over layers and over heads that are not removed: a row for each written token. */
export function meanCross(cross, cut = []) {
  return cross.map((layers) => {
    const heads = layers.flatMap((layer) => layer.filter((_, h) => !cut.includes(h)));
    return heads.length ? heads[0].map((_, j) => heads.reduce((total, row) => total + row[j], 0) / heads.length) : [];
  });
}

/** The output of a model for each source: { words, cross }, with the row that predicted the end as well. */
export function written(world, model, sources, breaks = {}) {
  return translate(model, sources, breaks)
    .map(({ ids, cross }) => ({ words: world.wordsOf(ids), cross: meanCross(cross, breaks.cut?.["decoder.0.cross"]) }));
}

/** Pairs of heads, the least costly first: by the number of right sentences, and then by the loss. */
export const inOrder = (pairs) => [...pairs].sort((one, other) => other[2] - one[2] || one[3] - other[3]);

/** Remove every pair of heads, one after the other; yield the results so far: [first, second, right, loss] each. */
export function* pairsOfHeads(world, model) {
  const found = [];
  for (let a = 0; a < HEADS.length; a++) {
    for (let b = a + 1; b < HEADS.length; b++) {
      const { right, loss } = score(world, model, { cut: cutting([HEADS[a], HEADS[b]]) });
      found.push([a, b, right, loss]);
      yield found;
    }
  }
}

/** A stored model: the scale of each row as float32, and then the rows of the matrices, in the order of `named`, as int8. */
export function readModel(config, bytes) {
  const model = newModel(config, () => 0);
  const all = named(model.parameters).map(([, matrix]) => matrix);
  const scales = new Float32Array(bytes.slice(0, 4 * all.reduce((total, { rows }) => total + rows, 0)).buffer);
  let [at, row] = [scales.byteLength, 0];
  for (const { rows, columns, values } of all) {
    for (let i = 0; i < rows; i++, row++) for (let c = 0; c < columns; c++) values[i * columns + c] = ((bytes[at++] << 24) >> 24) * scales[row];
  }
  return model;
}

/** The bytes of a model. The largest number of each row becomes ±127. */
export function storedModel(model) {
  const [scales, steps] = [[], []];
  for (const [, { rows, columns, values }] of named(model.parameters)) {
    for (let i = 0; i < rows; i++) {
      const line = Array.from(values.subarray(i * columns, (i + 1) * columns));
      scales.push(Math.max(...line.map(Math.abs)) / 127 || 1);
      steps.push(...line.map((x) => Math.round(x / scales.at(-1))));
    }
  }
  return new Uint8Array([...new Uint8Array(Float32Array.from(scales).buffer), ...steps]);
}

// In the worker ------------------------------------------------------------------------

/** Answer the messages of the page: `start` { world, stored } and then the names below. `post` sends the replies. */
export function work(post) {
  let world, stored, training, looked, turn, isRunning = false, spent = 0, reports = 0, isWarned = false, dared = null;

  /** Report the step of the training, its translations, and now and then how many held-out sentences are right. */
  function report(isWhole) {
    const { step, loss, curve } = training;
    const texts = written(world, training.model, looked.map((text) => world.encode(text)));
    // Before the first step there is no loss of a batch, but there is one on the held-out sentences.
    const scored = isWhole || step === 0 || reports++ % 6 === 0 ? score(world, training.model) : {};
    post({ kind: "frame", turn, step, loss: step ? loss : scored.loss, curve, right: scored.right, seconds: spent / 1000, sentences: looked, texts });
  }
  /** Train for a seventh of a second, report, and let messages in. */
  function run() {
    if (!isRunning) return;
    const begun = performance.now();
    const before = training.step;
    while (performance.now() - begun < 140) training.advance();
    spent += performance.now() - begun;
    if (spent > 1000 && !isWarned) {
      isWarned = true;
      if ((1000 * training.step) / spent < LEAST) post({ kind: "slow", rate: (1000 * training.step) / spent });
    }
    report(before === 0);
    setTimeout(run);
  }
  const modelOf = (name) => (name === "trained" ? training.model : stored);
  const messages = {
    open(told) {
      world = readWorld(told.world);
      stored = readModel(world.config, told.stored);
    },
    begin({ seed, sentences, breaks, turn: now }) {
      [training, looked, turn, isRunning, spent, reports, dared] = [newTraining(world, seed, breaks), sentences, now, false, 0, 0, null];
      report(true);
    },
    run() { if (!isRunning) { isRunning = true; run(); } },
    pause() {
      if (isRunning) report(true);
      isRunning = false;
    },
    step() {
      const begun = performance.now();
      training.advance();
      spent += performance.now() - begun;
      report(true);
    },
    look({ sentences }) {
      looked = sentences;
      if (training && !isRunning) report(false);
    },
    damage({ model, sentence, breaks }) {
      const broken = { ...breaks, cut: cutting(breaks.heads) };
      const [text] = written(world, modelOf(model), [world.encode(sentence)], broken);
      post({ kind: "damaged", text, ...score(world, modelOf(model), broken) });
    },
    dare({ model }) {
      const pairs = pairsOfHeads(world, modelOf(model));
      const most = (HEADS.length * (HEADS.length - 1)) / 2;
      dared = pairs;
      const go = () => {
        if (dared !== pairs) return; // Another training has begun.
        const { value } = pairs.next();
        post({ kind: "dared", model, share: value.length / most, pairs: value.length === most ? inOrder(value) : null });
        if (value.length < most) setTimeout(go);
      };
      go();
    },
  };
  return ({ kind, ...told }) => messages[kind](told);
}

if (typeof WorkerGlobalScope !== "undefined" && globalThis instanceof WorkerGlobalScope) {
  const act = work((told) => postMessage(told));
  globalThis.onmessage = ({ data }) => {
    try {
      act(data);
    } catch (error) {
      postMessage({ kind: "failed", why: error.message });
    }
  };
}
