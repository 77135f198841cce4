// A position as a row of clocks, the table of all positions, and how alike two of them are.
import { announcer, fill, format, h, put, rich, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Explorador de posiciones",
    base: "Base", size: "d_model", position: "Posición", shift: "Desplazamiento",
    clocks: "Un reloj por par de componentes", clock: "par {i}, vuelta completa cada {period} posiciones",
    turn: "Debajo de cada uno, en cuántas posiciones da la vuelta.", some: "Se muestran {shown} de {all}.",
    here: "posición {p}", there: "posición {p}",
    table: "Tabla de posiciones", rows: "Cada fila, una posición, de la 0 a la {last}; cada columna, una de las {d} componentes. Azul positivo, naranja negativo.",
    likeness: "Coseno con la posición {p}",
    curve: "Coseno de la posición {p} con cada una de las {n} posiciones.",
    summary: "De la posición {p} a la {q}, cada aguja avanza {k} de sus pasos, y el coseno entre las dos filas es {cosine}.",
    twin: "De las que están a más de 10 pasos de la {p}, la más parecida es la {q}, con un coseno de {cosine}.",
    alone: "No hay ninguna a más de 10 pasos de la {p}.",
    outside: "La {q} queda fuera de la tabla y de la curva.",
  },
  en: {
    title: "Position explorer",
    base: "Base", size: "d_model", position: "Position", shift: "Shift",
    clocks: "One clock for each pair of components", clock: "pair {i}, a full turn every {period} positions",
    turn: "Under each clock, the number of positions in a full turn.", some: "{shown} of {all} are shown.",
    here: "position {p}", there: "position {p}",
    table: "Table of positions", rows: "Each row is a position, from 0 to {last}; each column, one of the {d} components. Blue positive, orange negative.",
    likeness: "Cosine with position {p}",
    curve: "Cosine of position {p} with each of the {n} positions.",
    summary: "From position {p} to position {q}, each hand takes {k} of its steps. The cosine of the two rows is {cosine}.",
    twin: "Among the positions more than 10 steps away, {q} is the most like {p}, with a cosine of {cosine}.",
    alone: "No position is more than 10 steps away from {p}.",
    outside: "Position {q} is outside the table and the curve.",
  },
};

const FAR = 10; // Two similar positions are mentioned if they are more than this many steps apart.
const CLOCKS = 8; // More clocks would be too small to read.

/** How far each clock turns in one position: 1 for the first, then slower and slower. */
export const frequencies = (dModel, base) =>
  Array.from({ length: dModel / 2 }, (_, i) => base ** ((-2 * i) / dModel));

/** The encoding of one position: the sine and the cosine of every clock, in turn. */
export const encode = (position, dModel, base) =>
  frequencies(dModel, base).flatMap((w) => [Math.sin(position * w), Math.cos(position * w)]);

/** The cosine of two encodings: the mean of the cosines of how far each clock turned between them. */
export function cosine(distance, dModel, base) {
  const speeds = frequencies(dModel, base);
  return speeds.reduce((total, w) => total + Math.cos(distance * w), 0) / speeds.length;
}

/** Find the position most similar to `position` among those more than FAR steps away; null if there is none. */
export function twin(position, nPositions, dModel, base) {
  let best = null;
  for (let q = 0; q < nPositions; q += 1) {
    if (Math.abs(q - position) <= FAR) continue;
    const value = cosine(q - position, dModel, base);
    if (best === null || value > best.value) best = { position: q, value };
  }
  return best;
}

/** Choose which of `n` clocks are shown: all, or the first, the last and some between. */
export const shown = (n) => (n <= CLOCKS
  ? [...Array(n).keys()]
  : Array.from({ length: CLOCKS }, (_, i) => Math.round((i * (n - 1)) / (CLOCKS - 1))));

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const n = model.get("n_positions");
  const live = announcer();
  const state = () => ({
    n, d: model.get("d_model"), base: model.get("base"), p: model.get("position"), k: model.get("shift"),
  });
  const change = (name) => (value) => {
    model.set(name, value);
    model.save_changes();
  };
  const sliders = [
    slider("position", t.position, { min: 0, max: n - 1, step: 1 }, change("position"), ({ p }) => [p, String(p)]),
    slider("shift", t.shift, { min: 0, max: n - 1, step: 1 }, change("shift"), ({ k }) => [k, `+${k}`]),
    slider("base", t.base, { min: 0, max: 5, step: 0.05 }, (x) => change("base")(rounded(10 ** x)),
      ({ base }) => [Math.log10(base), base >= 100 ? base.toFixed(0) : String(base)]),
    slider("d_model", t.size, { min: 1, max: 7, step: 1 }, (x) => change("d_model")(2 ** x), ({ d }) => [Math.log2(d), String(d)]),
  ];
  const views = [clocks(t), heat(t, n), curve(t, n)];
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function draw() {
    const now = state();
    [...sliders, ...views].forEach((part) => part.update(now));
    const q = now.p + now.k;
    const far = twin(now.p, n, now.d, now.base);
    put(summary, [
      fill(t.summary, { p: now.p, q, k: now.k, cosine: format(cosine(now.k, now.d, now.base)) }),
      far ? fill(t.twin, { p: now.p, q: far.position, cosine: format(far.value) }) : fill(t.alone, { p: now.p }),
      q < n ? "" : fill(t.outside, { q }),
    ].join(" ").trim());
    model.set("encoding", encode(now.p, now.d, now.base));
    model.set("cosines", Array.from({ length: n }, (_, other) => cosine(other - now.p, now.d, now.base)));
  }
  const names = ["position", "shift", "base", "d_model"];
  const stops = [watch(model, names, draw), watch(model, names, () => live.say(summary.textContent))];
  const colours = new MutationObserver(() => views[1].repaint());
  [document.documentElement, document.body].forEach((node) =>
    colours.observe(node, { attributes: true, attributeFilter: ["data-theme", "data-jp-theme-light"] }));

  el.append(h("div", {
    class: "attn-w attn-positions", lang: language, role: "group", "aria-label": t.title, "data-attn": "positions",
  },
  h("div", { class: "attn-w-controls attn-positions-controls" }, sliders.map((one) => one.node)),
  views[0].node, h("div", { class: "attn-positions-pair" }, views[1].node, views[2].node), summary, live.node));
  draw();
  requestAnimationFrame(() => views[1].repaint()); // The colours of the canvas are known only after the style sheet applies.
  return () => {
    colours.disconnect();
    stops.forEach((stop) => stop());
  };
}

const rounded = (x) => Number(x.toPrecision(x < 100 ? 2 : 3));

function slider(name, label, range, change, read) {
  const id = uid();
  const shownValue = h("span", { class: "attn-w-number", "aria-hidden": "true", "data-attn": `${name}-value` });
  const input = h("input", {
    type: "range", id, ...range, "data-attn": name, oninput: () => change(Number(input.value)),
  });
  const node = h("div", { class: "attn-w-slider" }, h("label", { for: id }, rich(label)), input, shownValue);
  const update = (now) => {
    const [place, text] = read(now);
    if (Math.abs(input.value - place) > range.step / 2) input.value = place;
    input.setAttribute("aria-valuetext", text);
    put(shownValue, text);
  };
  return { node, update };
}

/** The hands: where each clock stands at the position (whole) and at the shifted one (dashed). */
function clocks(t) {
  const legend = [["here", "p"], ["there", "q"]].map(([name]) => h("span", { "data-attn": `legend-${name}` }));
  const list = h("ul", { class: "attn-positions-clocks" });
  const note = h("p", { class: "attn-w-label" });
  const node = h("section", { class: "attn-positions-part" },
    h("p", { class: "attn-positions-title" }, h("b", {}, t.clocks),
      h("span", { class: "attn-positions-legend" }, h("i", { class: "attn-positions-here" }), legend[0],
        h("i", { class: "attn-positions-there" }), legend[1])),
    list, note);
  let dials = [];
  let drawn = 0;
  const build = (count) => {
    dials = shown(count).map((i) => {
      const hands = ["there", "here"].map((name) => h("path", { class: `attn-positions-${name}`, "data-attn": `hand-${name}` }));
      const arc = h("path", { class: "attn-positions-arc" });
      const name = h("span", { class: "attn-w-hidden" });
      const period = h("small", { "aria-hidden": "true" });
      const face = h("svg", { viewBox: "-11 -11 22 22", "aria-hidden": "true" },
        h("path", { class: "attn-positions-face", d: "M0-10A10 10 0 1 1 0 10A10 10 0 1 1 0-10" }), arc, hands);
      return { i, hands, arc, name, period, node: h("li", { "data-attn": "clock", "data-pair": i }, face, name, period) };
    });
    list.replaceChildren(...dials.map((dial) => dial.node));
    drawn = count;
  };
  const update = ({ d, base, p, k }) => {
    if (drawn !== d / 2) build(d / 2);
    const speeds = frequencies(d, base);
    put(legend[0], fill(t.here, { p }));
    put(legend[1], fill(t.there, { p: p + k }));
    put(note, `${t.turn} ${dials.length < drawn ? fill(t.some, { shown: dials.length, all: drawn }) : ""}`);
    for (const { i, hands, arc, name, period, node: item } of dials) {
      const angles = [(p + k) * speeds[i], p * speeds[i]];
      hands.forEach((hand, which) => {
        const [x, y] = [Math.sin(angles[which]), -Math.cos(angles[which])].map((x) => (9 * x).toFixed(3));
        hand.setAttribute("d", `M0 0L${x} ${y}`);
      });
      arc.setAttribute("d", arcPath(angles[1], angles[0]));
      item.setAttribute("data-angle", angles[1]);
      const every = (2 * Math.PI) / speeds[i];
      put(period, format(every, every < 100 ? 1 : 0));
      put(name, fill(t.clock, { i, period: format(every, 1) }));
    }
  };
  return { node, update };
}

/** Draw an arc from one angle to another. More than a turn is a whole ring. */
function arcPath(from, to) {
  const point = (angle) => [4 * Math.sin(angle), -4 * Math.cos(angle)].map((x) => x.toFixed(3)).join(" ");
  const turn = to - from;
  if (turn >= 2 * Math.PI) return "M0-4A4 4 0 1 1 0 4A4 4 0 1 1 0-4";
  return `M${point(from)}A4 4 0 ${turn > Math.PI ? 1 : 0} 1 ${point(to)}`;
}

/** Show the encodings of all positions as a table, with the two chosen rows marked. */
function heat(t, n) {
  const canvas = h("canvas", { role: "img", "data-attn": "heat" });
  const marks = ["here", "there"].map((name) => h("span", { class: `attn-positions-mark attn-positions-${name}`, "data-attn": `mark-${name}` }));
  const title = h("b", {}, t.table);
  const note = h("p", { class: "attn-w-label" });
  const node = h("section", { class: "attn-positions-part" }, h("p", { class: "attn-positions-title" }, title),
    h("div", { class: "attn-positions-map" }, canvas, marks), note);
  let last = null;
  function repaint() {
    const { d, base } = last;
    const style = getComputedStyle(canvas);
    const [high, low, ground] = ["--attn-weight", "--attn-key", "--attn-surface"].map((name) => channels(style.getPropertyValue(name)));
    const pen = canvas.getContext("2d");
    [canvas.width, canvas.height] = [d, n];
    const image = pen.createImageData(d, n);
    for (let p = 0; p < n; p += 1) {
      encode(p, d, base).forEach((x, column) => {
        const end = x < 0 ? low : high;
        const mixed = ground.map((from, c) => from + Math.abs(x) * (end[c] - from));
        image.data.set([...mixed, 255], 4 * (p * d + column));
      });
    }
    pen.putImageData(image, 0, 0);
  }
  const update = (now) => {
    const afresh = !last || last.d !== now.d || last.base !== now.base;
    last = now;
    if (afresh) repaint();
    const text = fill(t.rows, { last: n - 1, d: now.d });
    put(note, text);
    canvas.setAttribute("aria-label", text);
    [now.p, now.p + now.k].forEach((row, i) => {
      marks[i].hidden = row >= n;
      marks[i].style.top = `${(100 * (row + 0.5)) / n}%`;
    });
  };
  return { node, update, repaint };
}

/** Read "#a1b2c3" as three numbers. Without a style sheet the colour is empty and becomes black. */
const channels = (colour) => {
  const hex = /^\s*#(\w{2})(\w{2})(\w{2})/.exec(colour);
  return hex ? hex.slice(1).map((part) => parseInt(part, 16)) : [0, 0, 0];
};

/** Draw the similarity of the position to every other, from −1 to 1. */
function curve(t, n) {
  const line = h("path", { class: "attn-positions-line", "data-attn": "curve" });
  const dots = ["there", "here"].map((name) => h("path", { class: `attn-positions-dot attn-positions-${name}`, "data-attn": `dot-${name}` }));
  const title = h("b", {});
  const svg = h("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" },
    h("path", { class: "attn-positions-axis", d: "M0 50H100M0 2H100M0 98H100" }), line, dots);
  const node = h("section", { class: "attn-positions-part" }, h("p", { class: "attn-positions-title" }, title),
    h("div", { class: "attn-positions-plot" },
      h("span", { class: "attn-positions-scale", "aria-hidden": "true" }, ["1", "0", "−1"].map((x) => h("small", {}, x))), svg),
    h("p", { class: "attn-w-label attn-positions-ends", "aria-hidden": "true" }, h("span", {}, "0"), h("span", {}, String(n - 1))));
  const x = (q) => (100 * (q + 0.5)) / n;
  const y = (value) => 50 - 48 * value;
  const update = ({ d, base, p, k }) => {
    put(title, fill(t.likeness, { p }));
    svg.setAttribute("aria-label", fill(t.curve, { p, n }));
    const values = Array.from({ length: n }, (_, q) => cosine(q - p, d, base));
    line.setAttribute("d", values.map((value, q) => `${q ? "L" : "M"}${x(q).toFixed(2)} ${y(value).toFixed(2)}`).join(""));
    line.setAttribute("data-values", values.join(" "));
    [p + k, p].forEach((q, i) => {
      dots[i].setAttribute("d", q < n ? `M${x(q).toFixed(2)} ${y(values[q]).toFixed(2)}h0` : "");
    });
  };
  return { node, update };
}

export default { render };
