// Plays back a recorded training: its curves, the model's translation and its cross-attention at
// each checkpoint.
import { announcer, fill, format, formatBrief, h, put, scroller, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Película de un entrenamiento",
    sentence: "Oración", step: "Paso", play: "Reproducir", pause: "Pausa", next: "Siguiente",
    loss: "pérdida", train: "entrenamiento, suavizada", validation: "validación, sin suavizar",
    share: "en oraciones de validación", exact: "coincidencia exacta", aer: "error de alineación",
    writes: "Por su cuenta escribe", asked: "Traducción correcta:", plain: "Paso {step}: pérdida, {loss}.", fresh: "en oraciones que no ha leído", nothing: "(nada: termina enseguida)",
    summary: "Paso {step}: pérdida de validación, {loss}; coincidencia exacta, {exact}\u00a0%. {looking}",
    looking: "Con la traducción correcta, {right} de {total} palabras miran sobre todo a su enlace.",
    heat: "Pesos de la atención cruzada", rows: "Media de capas y cabezas. Cada fila es la query que predice su palabra y suma 1; cada columna, una key.",
    sure: "una palabra traduce la otra", possible: "quizá la traduce",
  },
  en: {
    title: "Film of a training",
    sentence: "Sentence", step: "Step", play: "Play", pause: "Pause", next: "Next",
    loss: "loss", train: "training, smoothed", validation: "validation, unsmoothed",
    share: "on validation sentences", exact: "exact match", aer: "alignment error",
    writes: "On its own it writes", asked: "Right translation:", plain: "Step {step}: loss, {loss}.", fresh: "on sentences that it has not read", nothing: "(nothing: it ends at once)",
    summary: "Step {step}: validation loss, {loss}; exact match, {exact}%. {looking}",
    looking: "Given the right translation, {right} of {total} words look most at their link.",
    heat: "Cross-attention weights", rows: "Mean of layers and heads. Each row is the query that predicts its word and sums to 1; each column is a key.",
    sure: "one word translates the other", possible: "it may translate it",
  },
};

const PACE = 800; // The next checkpoint is shown after this many milliseconds.
const MOST_WORDS = 10; // An untrained model does not stop, so its text is cut after this many words.

/** The first words of a text. */
export function brief(text) {
  const words = text.split(" ");
  return words.slice(0, MOST_WORDS).join(" ") + (words.length > MOST_WORDS ? " …" : "");
}

/** The words of a text; those that stand where the right translation has them are marked. */
function marked(text, target) {
  return text.split(" ").flatMap((word, i) => {
    const node = h("span", { "data-right": word === target[i] }, word);
    return i ? [" ", node] : [node];
  });
}

/** Count the aligned words whose largest weight is on a word that they are aligned with. */
export function looking({ target, sure, possible }, weights) {
  const links = target.map((_, i) => [...sure, ...possible].filter(([, t]) => t === i).map(([s]) => s));
  const linked = [...links.keys()].filter((i) => links[i].length);
  const right = linked.filter((i) => links[i].includes(weights[i].indexOf(Math.max(...weights[i]))));
  return { right: right.length, total: linked.length };
}

/** The path of a curve in a square of side 100, from 0 at the foot to `top`. */
export function curve(values, top) {
  const last = values.length - 1;
  return values.map((value, i) => `${i ? "L" : "M"}${((100 * i) / last).toFixed(2)} ${(100 - (100 * value) / top).toFixed(2)}`).join("");
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const { steps, sentences, ...measures } = model.get("replay");
  const whole = model.get("attention");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const live = announcer();
  let timer = null;
  let map;

  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const pick = h("select", { id: uid(), class: "attn-live-input", "data-attn": "pick", onchange: () => set("sentence", pick.selectedIndex) },
    sentences.map(({ source }) => h("option", { lang: "en" }, source.join(" "))));
  const shown = h("span", { class: "attn-w-number", "aria-hidden": "true", "data-attn": "step-value" });
  const slider = h("input", {
    type: "range", id: uid(), min: 0, max: steps.length - 1, step: 1, "data-attn": "frame",
    oninput: () => {
      stop();
      set("frame", Number(slider.value));
    },
  });
  const button = h("button", { type: "button", class: "attn-w-button", "data-attn": "play", onclick: press });
  const lines = whole ? [["train", t.train], ["validation", t.validation]] : [["validation", t.fresh]];
  const loss = chart(t.loss, lines, measures, steps, Math.ceil(Math.max(...measures.train, ...measures.validation)));
  const share = !whole ? null : chart(t.share, [["exact", t.exact], ["aer", t.aer]], measures, steps, 1);
  const output = h("p", { class: "attn-replay-output", lang: "es", "data-attn": "output" });
  const asked = h("span", { class: "attn-replay-asked", lang: "es", "data-attn": "asked" });
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const place = h("div", {});

  function stop() {
    clearInterval(timer);
    timer = null;
    put(button, still.matches ? t.next : t.play);
  }
  /** Go to the next checkpoint, and from the last to the first. */
  const advance = () => set("frame", (model.get("frame") + 1) % steps.length);
  /** Play, or with reduced motion move on by one. */
  function press() {
    if (timer !== null) return stop();
    advance();
    if (still.matches) return undefined;
    put(button, t.pause);
    timer = setInterval(() => {
      advance();
      if (model.get("frame") === steps.length - 1) stop();
    }, PACE);
    return undefined;
  }
  function choose() {
    pick.selectedIndex = model.get("sentence");
    const sentence = sentences[model.get("sentence")];
    put(asked, sentence.target.filter((token) => token !== "<eos>").join(" "));
    if (whole) {
      map = matrix(t, sentence);
      place.replaceChildren(map.node);
    }
    draw();
  }
  function draw() {
    const frame = model.get("frame");
    const sentence = sentences[model.get("sentence")];
    const weights = sentence.weights[frame];
    slider.value = frame;
    slider.setAttribute("aria-valuetext", String(steps[frame]));
    put(shown, String(steps[frame]));
    [loss, share].forEach((view) => view?.update(frame));
    if (whole) map.update(weights);
    const written = sentence.texts[frame];
    output.toggleAttribute("data-nothing", !written);
    output.lang = written ? "es" : language;
    output.replaceChildren(...(written ? marked(brief(written), sentence.target) : [t.nothing]));
    put(summary, fill(whole ? t.summary : t.plain, {
      step: steps[frame], loss: format(measures.validation[frame]), exact: Math.round(100 * measures.exact[frame]),
      looking: fill(t.looking, looking(sentence, weights)),
    }));
    if (timer === null) live.say(`${summary.textContent} ${t.writes}: ${output.textContent}`);
  }

  el.append(h("div", {
    class: "attn-w attn-replay", "data-whole": whole, lang: language, role: "group", "aria-label": t.title, "data-attn": "training-replay",
  },
  h("div", { class: "attn-w-controls" },
    button,
    h("div", { class: "attn-w-slider" }, h("label", { for: slider.id }, t.step), slider, shown),
    h("div", { class: "attn-replay-pick" }, h("label", { for: pick.id, class: "attn-w-label" }, t.sentence), pick)),
  h("p", { class: "attn-w-label" }, t.writes), output,
  h("p", { class: "attn-w-label" }, t.asked, " ", asked),
  h("div", { class: "attn-replay-charts" }, loss.node, share?.node),
  summary, place, live.node));
  stop();
  choose();
  const unwatch = [watch(model, ["frame"], draw), watch(model, ["sentence"], choose)];
  return () => {
    stop();
    unwatch.forEach((off) => off());
  };
}

/** Two curves over the checkpoints, and a line at the one shown. */
function chart(title, series, measures, steps, top) {
  const last = steps.length - 1;
  const numbers = series.map(([name]) => h("b", { class: "attn-w-number", "data-attn": `${name}-value` }));
  const legend = series.map(([name, label], i) => h("span", { class: "attn-replay-key", "data-curve": i }, h("i", { "aria-hidden": "true" }), ` ${label} `, numbers[i]));
  const marker = h("path", { "data-attn": "marker", class: "attn-replay-marker" });
  const svg = h("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" },
    h("path", { class: "attn-replay-grid", d: "M0 0H100M0 50H100M0 100H100" }),
    series.map(([name], i) => h("path", { class: "attn-replay-curve", "data-curve": i, "data-attn": `${name}-curve`, d: curve(measures[name], top) })), marker);
  const ticks = [0, Math.round(last / 3), Math.round((2 * last) / 3), last];
  const node = h("div", { class: "attn-replay-chart" },
    h("p", { class: "attn-w-label" }, title),
    h("div", { class: "attn-replay-plot" },
      h("span", { class: "attn-replay-y", "aria-hidden": "true" }, [top, top / 2, 0].map((y) => h("span", {}, String(y)))), svg),
    h("p", { class: "attn-replay-x", "aria-hidden": "true" }, ticks.map((i) => h("span", { style: `left: ${(100 * i) / last}%` }, String(steps[i])))),
    h("p", { class: "attn-replay-legend" }, legend));
  const update = (frame) => {
    marker.setAttribute("d", `M${(100 * frame) / last} 0V100`);
    series.forEach(([name], i) => put(numbers[i], format(measures[name][frame])));
  };
  return { node, update };
}

/** The cross-attention heat map of one sentence; bordered cells are links of the grammar's alignment. */
function matrix(t, { source, target, sure, possible }) {
  const has = (links, i, j) => links.some(([s, u]) => s === j && u === i);
  const gold = target.map((_, i) => source.map((_, j) => (has(sure, i, j) ? "sure" : has(possible, i, j) ? "possible" : null)));
  const small = source.length > 6;
  const cells = target.map((_, i) => source.map((_, j) => h("td", { "data-attn": "heat-cell", "data-gold": gold[i][j] },
    h("span", {}), gold[i][j] ? h("span", { class: "attn-w-hidden" }, `, ${t[gold[i][j]]}`) : null)));
  const title = h("b", { id: uid() }, t.heat);
  const table = h("table", {
    class: "attn-w-table attn-explorer-heat attn-live-heat", "aria-labelledby": title.id,
    "data-size": source.length > 8 ? "small" : "medium", "data-upright": small,
  },
  h("thead", {}, h("tr", {}, h("td", {}), source.map((token) => h("th", { scope: "col", class: "attn-w-key", lang: "en" }, h("span", {}, token))))),
  h("tbody", {}, target.map((token, i) => h("tr", {}, h("th", { scope: "row", class: "attn-w-query", lang: "es" }, token), cells[i]))));
  const mark = (kind) => h("span", { class: "attn-live-mark" }, h("i", { "data-gold": kind, "aria-hidden": "true" }), ` ${t[kind]}`);
  const node = h("div", { class: "attn-explorer-matrix" }, scroller(t.heat, table),
    h("p", { class: "attn-w-label" }, title, ". ", t.rows, " ", mark("sure"), " ", mark("possible")));
  const update = (weights) => weights.forEach((row, i) => row.forEach((per, j) => {
    const weight = per / 100;
    cells[i][j].toggleAttribute("data-deep", weight > 0.757); // On a darker colour, white text has more contrast than black.
    cells[i][j].toggleAttribute("data-faint", weight < 0.1);
    cells[i][j].setAttribute("data-weight", weight);
    cells[i][j].style.backgroundColor = `rgb(var(--attn-heat) / ${weight})`;
    put(cells[i][j].firstChild, small ? formatBrief(weight).replace("1.00", "1") : format(weight));
  }));
  return { node, update };
}

export default { render };
