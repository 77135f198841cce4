// A small translator that is trained in the page, and that its reader can break. Two figures share
// one worker.
import { loadModel } from "./loading.js";
import { announcer, fill, format, h, list, put, radios, uid } from "./shared.js";

export const STRINGS = {
  es: {
    watch: "Un traductor que aprende", break: "Un traductor que se rompe",
    start: "Entrenar", pause: "Pausa", resume: "Seguir", step: "Un paso", seed: "Semilla", again: "Empezar de nuevo",
    steps: "pasos", seconds: "segundos", loss: "pérdida", right: "oraciones nuevas bien", rightOf: "{right} de {total}", share: "bien, de {total}",
    pick: "Oración que no ha leído", own: "O escribe otra con sus palabras", show: "Traducir", writes: "Escribe", asked: "Lo correcto:", reads: "Lee",
    nothing: "nada", looks: ", atiende sobre todo a {word} ({percent}\u00a0%)", others: "Otras oraciones que no ha leído",
    unknown: "No conoce {words}. Conoce {count} palabras inglesas, entre ellas {some}.", tooLong: "Hasta diez palabras, por favor.", empty: "Escribe una oración en inglés.",
    ready: "Con la semilla {seed}, el mismo navegador repite el mismo entrenamiento.", busy: "Se entrena en tu navegador. Nada sale de la página.", masked: "máscara causal",
    unmasked: "Sin máscara causal: al aprender, cada palabra ve la que tiene que predecir.",
    minute: "Ya ha pasado un minuto de cálculo y aquí se detiene. Si quieres, sigue.",
    slow: "Este aparato da {rate} pasos por segundo, y el entrenamiento duraría varios minutos. Esto es lo que se guardó de uno con la semilla 1. Cuando acabe, «Seguir» lo entrena aquí de todos modos.",
    slowBare: "Este aparato da {rate} pasos por segundo, y el entrenamiento duraría varios minutos. «Seguir» lo entrena de todos modos: sin máscara causal no se guardó ninguno.",
    none: "Este navegador no deja calcular aparte de la página, así que se muestra lo que se guardó de un entrenamiento con máscara causal y la semilla 1.",
    missing: "No se encontraron las oraciones junto a la página, así que se muestra lo que se guardó de un entrenamiento con máscara causal y la semilla 1.",
    said: "Paso {step}: pérdida, {loss}; {right} de {total} oraciones bien.",
    model: "Modelo", stored: "guardado", trained: "entrenado por ti", heads: "Cabezas, cada una con su interruptor",
    "encoder.0.self": "codificador", "decoder.0.self": "decodificador, sobre lo escrito", "decoder.0.cross": "atención cruzada",
    "encoder.0.self.head": "cabeza {n} del codificador", "decoder.0.self.head": "cabeza {n} del decodificador", "decoder.0.cross.head": "cabeza {n} de la atención cruzada",
    parts: "Piezas", positions: "posiciones", mask: "máscara causal", encoder: "capa del codificador", decoder: "capa del decodificador",
    factor: "Puntajes", mend: "Reparar todo", wrong: "Una que sale mal", sentence: "Oración", sound: "Entero: {right} de {total}.", broken: "Así: {right} de {total}. Entero: {sound} de {total}.",
    dare: "El reto: ¿qué dos cabezas, de las doce, se pueden cortar con menos daño?", check: "Comprobar", answer: "Ver la respuesta",
    two: "Corta dos cabezas, ni más ni menos, y deja lo demás entero.", counting: "Probando las 66 parejas de tu modelo: {percent}\u00a0%.",
    verdict: "Sin tus dos cabezas, {right} de {total} oraciones salen bien. De las 66 parejas, la tuya ocupa el puesto {rank}.", first: "Ninguna pareja hace menos daño.",
    best: "La que menos daña: {heads}, {right} de {total}.", worst: "La que más: {heads}, {right} de {total}.", cutBest: "Cortar la primera", cutWorst: "Cortar la última", and: "y", nor: "ni",
  },
  en: {
    watch: "A translator that learns", break: "A translator that breaks",
    start: "Train", pause: "Pause", resume: "Go on", step: "One step", seed: "Seed", again: "Start over",
    steps: "steps", seconds: "seconds", loss: "loss", right: "new sentences right", rightOf: "{right} of {total}", share: "right, of {total}",
    pick: "A sentence that it has not read", own: "Or type another with its words", show: "Translate", writes: "It writes", asked: "Right:", reads: "It reads",
    nothing: "nothing", looks: ", looks most at {word} ({percent}%)", others: "Other sentences that it has not read",
    unknown: "It does not know {words}. It knows {count} English words, such as {some}.", tooLong: "Ten words at most, please.", empty: "Type an English sentence.",
    ready: "With seed {seed}, the same browser repeats the same training.", busy: "It is training in your browser. Nothing leaves the page.", masked: "causal mask",
    unmasked: "Without the causal mask: while it learns, each word sees the one that it is to predict.",
    minute: "A minute of computing has passed, so it stops here. Go on if you like.",
    slow: "This device makes {rate} steps a second, and the training would take several minutes. Here is what was stored of one with seed 1. When it ends, “Go on” trains it here all the same.",
    slowBare: "This device makes {rate} steps a second, and the training would take several minutes. “Go on” trains it all the same: none was stored without the causal mask.",
    none: "This browser does not let the page compute on the side, so what was stored of one training is shown, with the causal mask and seed 1.",
    missing: "The sentences were not found beside the page, so what was stored of one training is shown, with the causal mask and seed 1.",
    said: "Step {step}: loss, {loss}; {right} of {total} sentences right.",
    model: "Model", stored: "stored", trained: "trained by you", heads: "Heads, each with its switch",
    "encoder.0.self": "encoder", "decoder.0.self": "decoder, over what is written", "decoder.0.cross": "cross-attention",
    "encoder.0.self.head": "encoder head {n}", "decoder.0.self.head": "decoder head {n}", "decoder.0.cross.head": "cross-attention head {n}",
    parts: "Parts", positions: "positions", mask: "causal mask", encoder: "encoder layer", decoder: "decoder layer",
    factor: "Scores", mend: "Mend everything", wrong: "One that goes wrong", sentence: "Sentence", sound: "Whole: {right} of {total}.", broken: "Like this: {right} of {total}. Whole: {sound} of {total}.",
    dare: "The dare: which two of the twelve heads can be cut with the least damage?", check: "Check", answer: "Show the answer",
    two: "Cut two heads, no more and no fewer, and leave the rest whole.", counting: "Trying the 66 pairs of your model: {percent}%.",
    verdict: "Without your two heads, {right} of {total} sentences come out right. Among the 66 pairs, yours comes in at number {rank}.", first: "No pair does less damage.",
    best: "The pair that does least: {heads}, {right} of {total}.", worst: "The one that does most: {heads}, {right} of {total}.", cutBest: "Cut the first", cutWorst: "Cut the last", and: "and", nor: "or",
  },
};

const ROWS = 10; // No translation is longer.
const PACE = 900; // The next stored checkpoint is shown after this many milliseconds.
const MINUTE = 60; // Training stops by itself after so many seconds of computing.
const PLACES = ["encoder.0.self", "decoder.0.self", "decoder.0.cross"];
const N_HEADS = 4;
const HEADS = PLACES.flatMap((place) => Array.from({ length: N_HEADS }, (_, n) => `${place}.${n}`));

/** The lines "English|Spanish" as pairs. */
const pairsOf = (lines) => lines.map((line) => line.split("|"));

/** The words of a sentence as the translator reads them. */
export const wordsOf = (text) => text.toLowerCase().replace(/[.!?]+\s*$/, "").split(/\s+/).filter(Boolean);

/** Words of a vocabulary, first those that share the longest beginning with a word. */
export function nearest(word, vocabulary, count = 4) {
  const alike = (other) => [...word, null].findIndex((letter, i) => letter !== other[i]);
  return [...vocabulary].sort((one, other) => alike(other) - alike(one)).slice(0, count);
}

/** The rank of a pair of heads among all pairs, from 1; the pairs are in order. */
export const rankOf = (pairs, heads) => 1 + pairs.findIndex(([a, b]) => heads.includes(HEADS[a]) && heads.includes(HEADS[b]));

/** The path of [x, y] points in a square of side 100, where x reaches `right` and y reaches `top`. */
export const pathOf = (points, right, top) => points
  .map(([x, y], i) => `${i ? "L" : "M"}${((100 * x) / right).toFixed(2)} ${(100 - (100 * Math.min(y, top)) / top).toFixed(2)}`).join("");

/** The worker of the page and its listeners. Both figures share it, also in JupyterLab, where each has its own module. */
function session() {
  return (globalThis.attnLearner ??= { worker: null, opened: null, listeners: new Set(), hasTrained: false });
}

/** Start the worker once. Its source is in the page, because a browser then allows it from file:// too. */
function open(model) {
  const shared = session();
  const make = ({ weights, worker: text, ...world }) => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = Object.assign(new Worker(address), {
      onmessage: ({ data }) => shared.listeners.forEach((listener) => listener(data)),
      onerror: () => shared.listeners.forEach((listener) => listener({ kind: "failed", why: "learner_worker.js" })),
    });
    worker.postMessage({ kind: "open", world, stored: weights });
    shared.worker = worker;
    return world;
  };
  shared.opened ??= loadModel("learner", model.get("trained"), (told) => told).then(make);
  shared.opened.catch(() => { shared.opened = null; });
  return shared.opened;
}

const ask = (kind, told = {}) => session().worker.postMessage({ kind, ...told });

/** The English words on the left, the written ones on the right, and ribbons as wide as the weights of the cross-attention. */
function stage(t) {
  const [left, right, svg] = [h("ol", { lang: "en", "aria-label": t.reads }), h("ol", { lang: "es", "aria-label": t.writes, "data-attn": "written" }), h("svg", { viewBox: `0 0 100 ${ROWS}`, preserveAspectRatio: "none", "aria-hidden": "true" })];
  const asked = h("span", { lang: "es", "data-attn": "asked" });
  const line = h("p", { class: "attn-w-label" }, t.asked, " ", asked);
  const node = h("div", { class: "attn-learner-stage" },
    h("p", { class: "attn-w-label attn-w-key", "aria-hidden": "true" }, t.reads), h("p", { class: "attn-w-label attn-w-query", "aria-hidden": "true" }, t.writes), left, svg, right, line);
  const draw = (source, { words, cross }, target) => {
    left.replaceChildren(...source.map((word) => h("li", {}, word)));
    right.toggleAttribute("data-nothing", !words.length);
    right.replaceChildren(...(words.length ? words : [t.nothing]).map((word, i) => {
      const weights = cross[i] ?? [];
      const most = weights.indexOf(Math.max(...weights));
      const told = words.length && most >= 0 ? h("span", { class: "attn-w-hidden" }, fill(t.looks, { word: source[most], percent: Math.round(100 * weights[most]) })) : null;
      return h("li", { "data-right": Boolean(target) && target[i] === word }, word, told);
    }));
    // The paths stay, so that the browser can move them.
    const links = words.flatMap((_, i) => (cross[i] ?? []).map((weight, j) => [i, j, weight]));
    while (svg.childElementCount < links.length) svg.append(h("path", {}));
    [...svg.children].forEach((path, n) => {
      const [i, j, weight] = links[n] ?? [0, 0, 0];
      path.setAttribute("d", `M0 ${j + 0.5}C45 ${j + 0.5} 55 ${i + 0.5} 100 ${i + 0.5}`);
      path.style.strokeWidth = `${14 * weight}px`;
      path.style.strokeOpacity = weight < 0.02 ? 0 : 0.12 + 0.7 * weight;
    });
    line.toggleAttribute("data-none", !target);
    put(asked, target ? target.join(" ") : "");
  };
  return { node, draw };
}

/** One curve over the steps, from 0 at the foot to `top`. */
function chart(title, hook, top, ticks) {
  const path = h("path", { class: "attn-replay-curve", "data-curve": hook === "loss" ? 0 : 1, "data-attn": `${hook}-curve` });
  const ends = h("span", {});
  const node = h("div", {}, h("p", { class: "attn-w-label" }, title), h("div", { class: "attn-replay-plot" },
    h("span", { class: "attn-replay-y", "aria-hidden": "true" }, ticks.map((tick) => h("span", {}, String(tick)))),
    h("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, h("path", { class: "attn-replay-grid", d: "M0 0H100M0 50H100M0 100H100" }), path)),
  h("p", { class: "attn-replay-x", "aria-hidden": "true" }, h("span", { style: "left: 0%" }, "0"), h("span", {}), ends));
  ends.style.left = "100%";
  const draw = (points, right) => {
    path.setAttribute("d", pathOf(points, right, top));
    put(ends, String(right));
  };
  return { node, draw };
}

/** A list of sentences to choose from. */
const picker = (sentences, hook, choose) => {
  const pick = h("select", { id: uid(), class: "attn-live-input", lang: "en", "data-attn": hook, onchange: () => choose(pick.value) },
    sentences.map((text) => h("option", { value: text }, text)));
  return pick;
};

// Watch it learn -------------------------------------------------------------------------

function watchIt({ model, el, t, language }) {
  const { seed: firstSeed, film, curve, held, shown } = model.get("learned");
  const rights = new Map(pairsOf(held));
  const total = held.length;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const live = announcer();
  let sentences = shown.slice(); // The first is drawn, and the others are listed.
  let [state, vocabulary, seed, points, timer, at, drawn, wasLong, turn, isFresh] = ["paused", null, firstSeed, [], null, 0, 0, false, 0, true];

  const button = (hook, text, act) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: act }, text);
  const toggle = button("train", t.start, () => (state === "running" || timer ? pause() : run()));
  toggle.toggleAttribute("data-main", true);
  const one = button("step", t.step, () => act(() => { pause(); isFresh = false; ask("step"); }));
  const seedInput = h("input", { type: "number", id: uid(), min: 1, max: 9999, value: seed, class: "attn-live-input attn-learner-seed", "data-attn": "seed" });
  const mask = h("input", { type: "checkbox", role: "switch", checked: true, "data-attn": "mask", onchange: () => startOver() });
  const again = button("again", t.again, () => startOver());
  function startOver() {
    seed = Math.min(9999, Math.max(1, Math.round(Number(seedInput.value) || 1)));
    seedInput.value = seed;
    vocabulary = null;
    if (state === "running") run();
    else act(() => {});
  }
  const numbers = Object.fromEntries(["steps", "seconds", "loss", "right"].map((name) => [name, h("b", { class: "attn-w-number", "data-attn": name }, "–")]));
  const board = h("dl", { class: "attn-learner-numbers" }, Object.entries(numbers).map(([name, node]) => h("div", {}, h("dt", {}, t[name]), h("dd", {}, node))));
  const pick = picker(shown, "pick", (text) => look(text));
  const own = h("input", { type: "text", id: uid(), class: "attn-live-input", lang: "en", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "data-attn": "own" });
  const form = h("form", { class: "attn-learner-form", novalidate: true, onsubmit: (event) => { event.preventDefault(); wish(); } },
    h("label", { for: own.id, class: "attn-w-label" }, t.own), own, h("button", { class: "attn-w-button", "data-attn": "translate" }, t.show));
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const view = stage(t);
  const [losses, shares] = [chart(t.loss, "loss", 6, [6, 3, 0]), chart(fill(t.share, { total }), "right", total, [total, total / 2, 0])];
  const others = h("ol", { class: "attn-learner-others", "data-attn": "others" });

  /** Open the worker and start a training if there is none, then run `then`, which returns why it cannot be done. */
  async function act(then) {
    stopFilm();
    let world;
    try {
      if (typeof Worker === "undefined") throw new Error("Worker");
      world = await open(model);
    } catch (error) {
      console.warn(error.message);
      return playFilm(/learner\.js/.test(error.message) ? t.missing : t.none);
    }
    if (!vocabulary) {
      vocabulary = world.source;
      [points, wasLong, isFresh, state] = [[], false, true, "paused"];
      [...rights.keys()].filter((text) => ![...pick.options].some(({ value }) => value === text)).forEach((text) => pick.append(h("option", { value: text }, text)));
      ask("begin", { seed, sentences, breaks: { isCausal: mask.checked }, turn: ++turn });
      trained(false);
    }
    const refusal = then();
    return refusal ? refuse(refusal) : tell();
  }
  /** Say whether there is a model of the reader's own that can be broken. */
  function trained(is) {
    session().hasTrained = is;
    session().listeners.forEach((listener) => listener({ kind: "begun" }));
  }
  const run = () => act(() => { [state, isFresh] = ["running", false]; ask("run"); });
  function pause() {
    stopFilm();
    if (state === "running") {
      state = "paused";
      ask("pause");
    }
    tell();
  }
  function tell(text) {
    put(toggle, state === "running" || timer ? t.pause : isFresh ? t.start : t.resume);
    note.removeAttribute("data-bad");
    put(note, text ?? (!mask.checked ? t.unmasked : state === "running" ? t.busy : fill(t.ready, { seed })));
  }
  function refuse(text) {
    note.setAttribute("data-bad", "");
    put(note, text);
    live.say(text);
  }
  function look(text) {
    if (![...pick.options].some(({ value }) => value === text)) pick.append(h("option", { value: text }, text));
    pick.value = text;
    const before = sentences[0];
    sentences = [text, ...[before, ...sentences.slice(1)].filter((other) => other !== text && rights.has(other)), ...shown.filter((other) => other !== text && !sentences.includes(other))].slice(0, shown.length);
    if (vocabulary) ask("look", { sentences });
    else drawFilm();
  }
  function wish() {
    const words = wordsOf(own.value);
    if (!words.length) return refuse(t.empty);
    if (words.length > ROWS) return refuse(t.tooLong);
    return act(() => {
      const strange = words.filter((word) => !vocabulary.includes(word));
      return strange.length ? fill(t.unknown, { words: list(strange, t.nor), count: vocabulary.length, some: list(nearest(strange[0], vocabulary), t.and) }) : look(words.join(" "));
    });
  }

  // What is stored ---------------------------------------------------------------------
  const filmFrame = (i) => ({
    ...film[i], seconds: null, curve: curve.filter(([step]) => step <= film[i].step),
    texts: sentences.map((text) => film[i].texts[shown.indexOf(text)]).map(({ words, cross }) => ({ words, cross: cross.map((row) => row.map((per) => per / 100)) })),
  });
  function drawFilm() {
    points = film.slice(0, at + 1).map(({ step, right }) => [step, right]);
    draw(filmFrame(at));
  }
  function playFilm(why) {
    stopFilm();
    sentences = sentences.filter((text) => shown.includes(text));
    sentences.push(...shown.filter((text) => !sentences.includes(text)));
    state = "film";
    at = at === film.length - 1 ? 0 : at;
    drawFilm();
    const next = () => {
      at += 1;
      drawFilm();
      if (at === film.length - 1) {
        stopFilm();
        tell(why);
      }
    };
    if (!still.matches) timer = setInterval(next, PACE);
    else next();
    tell(why);
  }
  function stopFilm() {
    clearInterval(timer);
    timer = null;
  }

  // Drawing ----------------------------------------------------------------------------
  function draw({ step, loss, seconds, texts, curve: line }) {
    const last = points.at(-1)?.[1];
    put(numbers.steps, String(step));
    put(numbers.seconds, seconds == null ? "–" : format(seconds, 0));
    put(numbers.loss, loss === null ? "–" : format(loss));
    put(numbers.right, last === undefined ? "–" : fill(t.rightOf, { right: last, total }));
    const right = Math.max(100, 100 * Math.ceil(step / 100));
    losses.draw(line, right);
    shares.draw(points, right);
    const target = (text) => rights.get(text)?.split(" ");
    view.draw(sentences[0].split(" "), texts[0], target(sentences[0]));
    others.replaceChildren(...sentences.slice(1).map((text, i) => h("li", {},
      h("button", { type: "button", lang: "en", onclick: () => look(text) }, text), " ",
      h("span", { lang: "es", "data-right": texts[i + 1].words.join(" ") === rights.get(text) }, texts[i + 1].words.join(" ") || t.nothing))));
    if (state !== "running" && !timer) live.say(fill(t.said, { step, loss: loss === null ? "–" : format(loss), right: last ?? "–", total }));
  }
  function hear(told) {
    if (told.kind === "frame" && told.turn === turn && told.sentences.join() === sentences.join()) {
      if (told.right !== undefined) points.push([told.step, told.right]);
      if (told.step && !session().hasTrained && state === "running") trained(true);
      // With reduced motion, a running training is drawn once a second.
      if (still.matches && state === "running" && told.step && performance.now() - drawn < 1000) return;
      drawn = performance.now();
      draw(told);
      if (told.seconds > MINUTE && !wasLong && state === "running") {
        wasLong = true;
        pause();
        tell(t.minute);
      }
    } else if (told.kind === "slow") {
      pause();
      trained(false); // It has taken a few steps and knows nothing.
      if (!mask.checked) return tell(fill(t.slowBare, { rate: format(told.rate, 1) }));
      playFilm(fill(t.slow, { rate: format(told.rate, 1) }));
      state = "paused";
    } else if (told.kind === "failed") {
      console.warn(told.why);
      playFilm(t.none);
    } else if (told.kind === "hold") pause();
  }
  session().listeners.add(hear);

  el.append(h("div", { class: "attn-w attn-learner", lang: language, role: "group", "aria-label": t.watch, "data-attn": "learner-watch" },
    h("div", { class: "attn-w-controls" }, toggle, one), note,
    board,
    h("div", { class: "attn-learner-grid" },
      h("div", {}, h("label", { for: pick.id, class: "attn-w-label" }, t.pick), pick, view.node, form,
        h("div", { class: "attn-learner-more" }, h("span", { class: "attn-learner-again" }, h("label", { for: seedInput.id, class: "attn-w-label" }, t.seed), seedInput, again), h("label", { class: "attn-w-choice" }, mask, t.masked))),
      h("div", {}, h("div", { class: "attn-learner-charts" }, losses.node, shares.node), h("p", { class: "attn-w-label" }, t.others), others)),
    live.node));
  drawFilm();
  tell();
  return () => {
    stopFilm();
    session().listeners.delete(hear);
    if (session().worker) ask("pause");
  };
}

// Break it -------------------------------------------------------------------------------

function breakIt({ model, el, t, language, fallback }) {
  const { film, held, shown, breaks: measured, pairs: storedPairs } = model.get("learned");
  const rights = new Map(pairsOf(held));
  const total = held.length;
  const live = announcer();
  let [which, sentence, checking] = ["stored", shown[0], null];
  let [asked, isStale] = [null, false]; // The request to the worker; whether the reader has changed something since.
  const sound = { stored: measured.nothing }; // The accuracy of each unbroken model.
  const known = { stored: storedPairs };
  const away = { heads: new Set(), positions: false, mask: false, encoder: false, decoder: false, factor: 1 };

  const nameOf = (head) => fill(t[`${head.slice(0, -2)}.head`], { n: Number(head.at(-1)) + 1 });
  const cuts = HEADS.map((head) => h("button", {
    type: "button", "aria-pressed": "false", "aria-label": nameOf(head), title: nameOf(head), "data-attn": "head", "data-head": head,
    onclick: () => { if (!away.heads.delete(head)) away.heads.add(head); damage(); },
  }, String(Number(head.at(-1)) + 1)));
  const bench = h("div", { class: "attn-learner-heads" }, PLACES.map((place, p) =>
    h("div", { role: "group", "aria-label": t[place] }, h("span", { "aria-hidden": "true" }, t[place]), cuts.slice(p * N_HEADS, (p + 1) * N_HEADS))));
  const switches = Object.fromEntries(["positions", "mask", "encoder", "decoder"].map((name) => [name, h("input", {
    type: "checkbox", role: "switch", checked: true, "data-attn": name, onchange: () => { away[name] = !switches[name].checked; damage(); },
  })]));
  const factor = h("input", { type: "range", id: uid(), min: 0, max: 4, step: 0.1, value: 1, "data-attn": "factor", oninput: () => { away.factor = Number(factor.value); damage(); } });
  const shownFactor = h("span", { class: "attn-w-number", "aria-hidden": "true" });
  const mend = h("button", { type: "button", class: "attn-w-button", "data-attn": "mend", onclick: () => cut([]) }, t.mend);
  const choice = radios(t.model, "model", [["stored", t.stored], ["trained", t.trained]], which, (name) => { which = name; damage(); });
  const mine = choice.querySelector('[value="trained"]');
  const pick = picker([...shown, ...[...rights.keys()].filter((text) => !shown.includes(text))], "break-pick", (text) => { sentence = text; damage(); });
  // The sentence shown may be the last one to go wrong.
  const wrong = h("button", { type: "button", class: "attn-w-button", "data-none": "", "data-attn": "wrong", onclick: () => {
    [sentence, pick.value] = [wrong.value, wrong.value];
    damage();
    pick.focus();
  } }, t.wrong);
  const view = stage(t);
  const bar = h("i", {});
  const said = h("p", { class: "attn-w-summary", "data-attn": "said" });
  const note = h("p", { class: "attn-live-note", "data-attn": "break-note" });
  const verdict = h("p", { class: "attn-learner-verdict", role: "status", "data-attn": "verdict" });
  const button = (hook, text, act) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: act }, text);

  /** Remove these heads and undo all other changes. */
  function cut(heads) {
    Object.assign(away, { heads: new Set(heads), positions: false, mask: false, encoder: false, decoder: false, factor: 1 });
    factor.value = 1;
    for (const [name, input] of Object.entries(switches)) input.checked = !away[name];
    damage();
  }
  function show() {
    cuts.forEach((node) => node.setAttribute("aria-pressed", away.heads.has(node.dataset.head)));
    put(shownFactor, `× ${format(away.factor, 1)}`);
    factor.setAttribute("aria-valuetext", shownFactor.textContent);
    mine.disabled = !session().hasTrained;
    if (mine.disabled && which === "trained") {
      which = "stored";
      choice.querySelector('[value="stored"]').checked = true;
    }
  }
  const onlyHeads = () => away.factor === 1 && !Object.keys(switches).some((name) => away[name]);
  const isWhole = () => !away.heads.size && onlyHeads();
  async function damage() {
    show();
    isStale = Boolean(asked);
    if (asked) return;
    asked = { which, sentence, isWhole: isWhole() };
    const breaks = {
      heads: [...away.heads], isOrdered: !away.positions, isCausal: !away.mask, factor: away.factor,
      without: ["encoder", "decoder"].filter((name) => away[name]).map((name) => `${name}.0`),
    };
    try {
      if (typeof Worker === "undefined") throw new Error("Worker");
      await open(model);
      ask("damage", { model: which, sentence, breaks });
    } catch (error) {
      fail(error.message);
    }
  }
  function fail(why) {
    console.warn(why);
    asked = null;
    put(note, /learner\.js/.test(why) ? t.missing : t.none);
    if (fallback && !note.nextElementSibling?.matches(".attn-fallback")) note.after(fallback.cloneNode(true));
  }
  function draw(text, right, about, firstWrong = -1) {
    wrong.toggleAttribute("data-none", firstWrong < 0 || text.words.join(" ") !== rights.get(about.sentence));
    wrong.value = [...rights.keys()][firstWrong] ?? "";
    view.draw(about.sentence.split(" "), text, rights.get(about.sentence)?.split(" "));
    bar.style.width = `${(100 * right) / total}%`;
    put(said, fill(about.isWhole ? t.sound : t.broken, { right, total, sound: sound[about.which] ?? "–" }));
    live.say(said.textContent);
  }
  function check(isAnswer) {
    const pairs = known[which];
    if (!isAnswer && !(away.heads.size === 2 && onlyHeads())) return verdict.replaceChildren(t.two);
    if (!pairs) {
      checking = isAnswer;
      session().listeners.forEach((listener) => listener({ kind: "hold" }));
      return ask("dare", { model: which });
    }
    const heads = ([a, b]) => list([HEADS[a], HEADS[b]].map(nameOf), t.and);
    if (isAnswer) {
      const [best, worst] = [pairs[0], pairs.at(-1)];
      return verdict.replaceChildren(fill(t.best, { heads: heads(best), right: best[2], total }), " ", fill(t.worst, { heads: heads(worst), right: worst[2], total }), " ",
        ...[[t.cutBest, best], [t.cutWorst, worst]].map(([text, [a, b]]) => button("cut", text, () => cut([HEADS[a], HEADS[b]]))));
    }
    const rank = rankOf(pairs, [...away.heads]);
    return verdict.replaceChildren(fill(t.verdict, { right: pairs[rank - 1][2], total, rank }), rank === 1 ? ` ${t.first}` : "");
  }
  function hear(told) {
    if (told.kind === "damaged" && asked) {
      const about = asked;
      asked = null;
      draw(told.text, told.right, about, told.wrong);
      if (isStale) damage();
    } else if (told.kind === "failed") fail(told.why);
    else if (told.kind === "begun" || told.kind === "frame") {
      sound.trained = told.right ?? sound.trained;
      delete known.trained; // The model of the reader has changed.
      if (told.kind === "begun") show();
    } else if (told.kind === "dared") {
      if (told.pairs) {
        known[told.model] = told.pairs;
        check(checking);
      } else verdict.replaceChildren(fill(t.counting, { percent: Math.round(100 * told.share) }));
    }
  }
  session().listeners.add(hear);

  el.append(h("div", { class: "attn-w attn-learner", lang: language, role: "group", "aria-label": t.break, "data-attn": "learner-break" },
    h("div", { class: "attn-w-controls" }, choice),
    h("div", { class: "attn-learner-grid" },
      // On a phone the result comes first, so that each switch below is on the screen together with
      // its effect.
      h("div", { class: "attn-learner-result" }, h("label", { for: pick.id, class: "attn-w-label" }, t.sentence), pick, said, h("div", { class: "attn-learner-bar", "aria-hidden": "true" }, bar), h("div", { class: "attn-learner-mend" }, mend, wrong), view.node),
      h("div", {}, h("p", { class: "attn-w-label" }, t.heads), bench,
        h("p", { class: "attn-w-label" }, t.parts),
        h("div", { class: "attn-learner-switches" }, Object.entries(switches).map(([name, input]) => h("label", { class: "attn-w-choice" }, input, t[name]))),
        h("div", { class: "attn-w-slider" }, h("label", { for: factor.id }, t.factor), factor, shownFactor)),
      h("div", { class: "attn-learner-dare" }, h("p", {}, t.dare), button("check", t.check, () => check(false)), button("answer", t.answer, () => check(true)), verdict)),
    note, live.node));
  const last = film.at(-1).texts[0];
  draw({ words: last.words, cross: last.cross.map((row) => row.map((per) => per / 100)) }, measured.nothing, { which, sentence, isWhole: true });
  show();
  return () => session().listeners.delete(hear);
}

function render({ model, el, fallback }) {
  const language = model.get("language");
  const told = { model, el, fallback, t: STRINGS[language], language };
  return model.get("part") === "watch" ? watchIt(told) : breakIt(told);
}

export default { render };
