// A mask to paint. The figure shows the weights that remain, fully masked rows, and leaks through the layers.
import {
  announcer, fill, formatBrief, h, list, put, scroller, softmax, uid, visible, watch,
} from "./shared.js";

export const STRINGS = {
  es: {
    title: "Pintor de máscaras", presets: "Máscara", layers: "Capas",
    names: {
      all: "ninguna", causal: "causal", padding: "relleno", both: "causal y relleno",
      ahead: "corrida", inverted: "invertida",
    },
    weights: "Pesos de una capa", hint: "Toca una celda, o arrastra con el ratón, para permitir o prohibir.",
    reach: { 1: "Lo que llega a cada salida con 1 capa", many: "Lo que llega a cada salida con {n} capas" },
    cell: "«{query}» a «{key}»", allowed: "permitido, peso {weight}", masked: "prohibido",
    leak: "fuga",
    direct: "llega", through: "llega por otra", not: "no llega",
    masked_legend: "prohibido", unseen: "?", next: "sigue", next_seen: "{word}, a la vista", next_hidden: "hay que adivinar",
    sight: { 1: "{queries} tiene su respuesta a la vista: le basta con copiar la palabra siguiente.", many: "{queries} tienen su respuesta a la vista: les basta con copiar la palabra siguiente." },
    blind: "Ninguna respuesta a la vista: en cada fila hay que adivinar la palabra siguiente.",
    legend: { masked: "prohibido; en la segunda tabla, no llega", leak: "fuga: una key posterior", dead: "fila sin nada permitido", direct: "llega en una capa", through: "llega a través de otras" },
    clean: { 1: "Sin fugas: ninguna query ve una key posterior.", many: "Sin fugas, tampoco a través de {n} capas." },
    leaks: "Fugas: {count}. {queries} {see} lo que viene después.",
    sees: "ve", see: "ven",
    deeper: "Con {n} capas: {count}.",
    deads: { 1: "{queries} no atiende a nada: la atención le da cero.", many: "{queries} no atienden a nada: la atención les da cero." },
    quoted: "«{token}»", and: "y",
  },
  en: {
    title: "Mask painter", presets: "Mask", layers: "Layers",
    names: {
      all: "none", causal: "causal", padding: "padding", both: "causal and padding",
      ahead: "shifted", inverted: "inverted",
    },
    weights: "Weights of one layer", hint: "Touch a cell, or drag with the mouse, to allow or forbid.",
    reach: { 1: "What reaches each output with 1 layer", many: "What reaches each output with {n} layers" },
    cell: "“{query}” to “{key}”", allowed: "allowed, weight {weight}", masked: "forbidden",
    leak: "leak",
    direct: "reaches", through: "reaches through another", not: "does not reach",
    masked_legend: "forbidden", unseen: "?", next: "next", next_seen: "{word}, in sight", next_hidden: "has to be guessed",
    sight: { 1: "{queries} has its answer in sight: all it needs to do is copy the next word.", many: "{queries} have their answers in sight: all they need to do is copy the next word." },
    blind: "No answer in sight: every row has to guess the next word.",
    legend: { masked: "forbidden; in the second table, does not reach", leak: "leak: a later key", dead: "row with nothing allowed", direct: "reaches in one layer", through: "reaches through others" },
    clean: { 1: "No leaks: no query sees a later key.", many: "No leaks, not even through {n} layers." },
    leaks: "Leaks: {count}. {queries} {see} what comes after.",
    sees: "sees", see: "see",
    deeper: "With {n} layers: {count}.",
    deads: { 1: "{queries} attends to nothing: attention gives it zero.", many: "{queries} attend to nothing: attention gives them zero." },
    quoted: "“{token}”", and: "and",
  },
};

const MOST_LAYERS = 4;

/** The predefined masks, by name. The padding masks need to know which tokens are real. */
const PRESETS = {
  all: () => true,
  causal: (i, j) => j <= i,
  padding: (i, j, real) => real[j],
  both: (i, j, real) => j <= i && real[j],
  ahead: (i, j) => j <= i + 1,
  inverted: (i, j) => j > i,
};

export function preset(name, n, real) {
  return grid(n, (i, j) => PRESETS[name](i, j, real));
}

const grid = (n, f) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => f(i, j)));

/** Return the inputs on which each output depends after some layers. The residual connection always keeps its own input. */
export function reachable(mask, nLayers) {
  const n = mask.length;
  let reached = grid(n, (i, j) => i === j);
  for (let layer = 0; layer < nLayers; layer++) {
    const before = reached;
    reached = grid(n, (i, j) => before[i][j] || mask[i].some((allowed, k) => allowed && before[k][j]));
  }
  return reached;
}

/** The pairs (query, key) in which the key is later than the query. */
export const leaks = (seen) => seen.flatMap((row, i) => row.flatMap((yes, j) => (yes && j > i ? [[i, j]] : [])));

export const weigh = (scores, mask) =>
  scores.map((row, i) => softmax(row.map((score, j) => (mask[i][j] ? score : -Infinity))));

const same = (a, b) => a.every((row, i) => row.every((x, j) => x === b[i][j]));

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const tokens = model.get("tokens").map(visible);
  const n = tokens.length;
  const padding = model.get("padding");
  const answers = model.get("answers"); // With `answers`, the figure shows which answers are visible, and does not follow the layers.
  const live = announcer();
  const name = (token) => (/^<.*>$/.test(token) ? token : fill(t.quoted, { token })); // A name in angle brackets, such as <pad>, needs no quotation marks.
  const spoken = tokens.map((token, i) => {
    const alike = tokens.flatMap((other, j) => (other === token ? [j] : []));
    return alike.length > 1 ? `${name(token)} (${alike.indexOf(i) + 1})` : name(token);
  });
  const quoted = (indices) => list(indices.map((i) => spoken[i]), t.and);
  const set = (mask) => { model.set("mask", mask); model.save_changes(); };
  const paint = (i, j, allowed) => {
    const mask = model.get("mask");
    if (mask[i][j] !== allowed) set(mask.map((row, k) => row.map((x, l) => (k === i && l === j ? allowed : x))));
  };

  const names = Object.keys(PRESETS).filter((kind) => padding || !/padding|both/.test(kind));
  const masks = names.map((kind) => preset(kind, n, padding));
  const buttons = names.map((kind, k) => h("button", {
    type: "button", class: "attn-painter-preset", "data-attn": "preset", "data-name": kind, onclick: () => set(masks[k]),
  }, t.names[kind]));
  const group = uid();
  const layers = Array.from({ length: MOST_LAYERS }, (_, k) => h("input", {
    type: "radio", name: group, value: k + 1, "data-attn": "layers",
    onchange: () => { model.set("n_layers", k + 1); model.save_changes(); },
  }));

  const painted = paintedTable({ t, tokens, answers, paint, mask: () => model.get("mask") });
  const reached = reachTable({ t, tokens });
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function update() {
    const mask = model.get("mask");
    const nLayers = model.get("n_layers");
    const weights = weigh(model.get("scores"), mask);
    const seen = reachable(mask, nLayers);
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", same(mask, masks[k])));
    layers.forEach((input, k) => { input.checked = k + 1 === nLayers; });
    painted.update(mask, weights);
    reached.update(seen, mask, nLayers);
    put(summary, words(mask, seen, nLayers));
    model.set("weights", weights);
    model.set("reached", seen);
  }

  function words(mask, seen, nLayers) {
    const direct = leaks(mask);
    const through = leaks(seen);
    const dead = tokens.flatMap((_, i) => (mask[i].includes(true) ? [] : [i]));
    const queries = [...new Set(direct.map(([i]) => i))];
    const said = [];
    const sighted = answers ? tokens.flatMap((_, i) => (mask[i][i + 1] ? [i] : [])) : [];
    if (sighted.length) said.push(fill(t.sight[sighted.length > 1 ? "many" : 1], { queries: quoted(sighted) }));
    else if (answers && !direct.length) said.push(t.blind);
    else if (!through.length) said.push(fill(t.clean[nLayers > 1 ? "many" : 1], { n: nLayers }));
    else said.push(fill(t.leaks, { count: direct.length, queries: quoted(queries), see: queries.length > 1 ? t.see : t.sees }));
    if (nLayers > 1 && through.length) said.push(fill(t.deeper, { n: nLayers, count: through.length }));
    if (dead.length) said.push(fill(t.deads[dead.length > 1 ? "many" : 1], { queries: quoted(dead) }));
    return said.join(" ");
  }

  const swatch = ([kind, label]) => h("span", { class: "attn-painter-key" }, h("i", { "data-kind": kind }), ` ${label}`);
  const shown = Object.entries(answers ? { masked: t.masked_legend, leak: t.legend.leak, dead: t.legend.dead } : t.legend);
  const legend = h("p", { class: "attn-w-label attn-painter-legend" }, shown.map(swatch));
  const side = (...parts) => h("div", { class: "attn-painter-side" }, parts);
  el.append(h("div", {
    class: "attn-w attn-painter", lang: language, role: "group", "aria-label": t.title, "data-attn": "painter",
  },
  h("div", { class: "attn-w-controls" },
    h("fieldset", { class: "attn-w-inline attn-painter-presets" }, h("legend", {}, t.presets), buttons),
    answers ? null : h("fieldset", { class: "attn-w-inline" }, h("legend", {}, t.layers),
      layers.map((input) => h("label", { class: "attn-w-choice" }, input, input.value)))),
  h("div", { class: "attn-painter-stage" },
    side(painted.title, painted.node, h("p", { class: "attn-w-label" }, t.hint)),
    answers ? side(summary, legend) : side(reached.title, reached.node)),
  answers ? null : [legend, summary], live.node));
  update();
  const stops = [
    watch(model, ["mask", "n_layers"], update),
    watch(model, ["mask", "n_layers"], () => live.say(summary.textContent)),
  ];
  return () => stops.forEach((stop) => stop());
}

/** Show a table of queries by keys. A name that is wider than its column is written vertically. */
function matrix({ tokens }, hook, title, cells, last = { head: [], cells: [] }) {
  const heads = tokens.map((token) => h("th", { scope: "col", class: "attn-w-key" }, h("span", {}, token)));
  const rowNames = tokens.map((token) => h("th", { scope: "row", class: "attn-w-query" }, h("span", {}, token)));
  const rows = tokens.map((_, i) => h("tr", {}, rowNames[i], cells[i], last.cells[i]));
  const table = h("table", { class: "attn-w-table attn-painter-matrix", "aria-labelledby": title.id, "data-attn": hook },
    h("thead", {}, h("tr", {}, h("td", {}), heads, last.head)), h("tbody", {}, rows));
  const fit = () => {
    table.removeAttribute("data-upright");
    table.toggleAttribute("data-upright", heads.some((head) => head.firstChild.scrollWidth > head.clientWidth));
  };
  new ResizeObserver(fit).observe(table);
  return { node: scroller(title.textContent, table), rows };
}

function paintedTable(figure) {
  const { t, tokens, answers, paint, mask } = figure;
  const title = h("p", { class: "attn-painter-title", id: uid() }, t.weights);
  const n = tokens.length;
  let brush = null; // The value that the mouse paints while its button is down.
  const focus = (i, j) => {
    buttons.flat().forEach((button) => { button.tabIndex = -1; });
    buttons[i][j].tabIndex = 0;
    buttons[i][j].focus();
  };
  const move = (event, i, j) => {
    const to = {
      ArrowRight: [i, Math.min(n - 1, j + 1)], ArrowLeft: [i, Math.max(0, j - 1)],
      ArrowDown: [Math.min(n - 1, i + 1), j], ArrowUp: [Math.max(0, i - 1), j], Home: [i, 0], End: [i, n - 1],
    }[event.key];
    if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    focus(...to);
  };
  const buttons = tokens.map((_, i) => tokens.map((_, j) => h("button", {
    type: "button", "data-attn": "cell", "data-row": i, "data-col": j, tabindex: i || j ? -1 : 0,
    onpointerdown: (event) => {
      brush = null;
      if (event.pointerType === "touch" || event.button) return; // A finger must be able to scroll, so it paints by tapping.
      brush = !mask()[i][j];
      event.preventDefault();
      focus(i, j);
      paint(i, j, brush);
    },
    onpointerenter: (event) => {
      if (brush !== null && event.buttons === 1) paint(i, j, brush);
    },
    onclick: (event) => {
      if (brush === null || event.detail === 0) paint(i, j, !mask()[i][j]); // The click came from a finger or a key.
    },
    onkeydown: (event) => move(event, i, j),
  }, h("span", {}))));
  const said = (answers ?? []).map(() => [h("b", { "aria-hidden": "true" }), h("span", { class: "attn-w-hidden" })]);
  const next = said.map((words) => h("td", { class: "attn-painter-next", "data-attn": "next" }, words));
  const last = answers ? { head: h("th", { scope: "col", class: "attn-painter-next" }, t.next), cells: next } : undefined;
  const { node, rows } = matrix(figure, "weights", title, buttons.map((row) => row.map((button) => h("td", {}, button))), last);
  const update = (allowed, weights) => {
    buttons.forEach((row, i) => {
      rows[i].toggleAttribute("data-dead", !allowed[i].includes(true));
      if (answers) {
        const seen = allowed[i][i + 1] === true; // The answer is the next token, which is a key of its own.
        next[i].toggleAttribute("data-seen", seen);
        put(said[i][0], seen ? answers[i] : t.unseen);
        put(said[i][1], seen ? fill(t.next_seen, { word: answers[i] }) : t.next_hidden);
      }
      row.forEach((button, j) => {
        const weight = weights[i][j];
        const yes = allowed[i][j];
        const leak = yes && j > i;
        button.setAttribute("aria-pressed", yes);
        button.setAttribute("aria-label", [
          fill(t.cell, { query: tokens[i], key: tokens[j] }),
          yes ? fill(t.allowed, { weight: weight.toFixed(2) }) : t.masked,
          ...(leak ? [t.leak] : []),
        ].join(", "));
        button.setAttribute("data-weight", weight);
        button.toggleAttribute("data-masked", !yes);
        button.toggleAttribute("data-leak", leak);
        button.toggleAttribute("data-deep", weight > 0.757); // as in attention_explorer.js
        button.style.backgroundColor = yes ? `rgb(var(--attn-heat) / ${weight.toFixed(3)})` : "";
        put(button.firstChild, yes ? formatBrief(weight) : "");
      });
    });
  };
  return { title, node, update };
}

function reachTable(figure) {
  const { t, tokens } = figure;
  const title = h("p", { class: "attn-painter-title", id: uid() }, t.reach[1]);
  const marks = tokens.map(() => tokens.map(() => [h("b", { "aria-hidden": "true" }), h("span", { class: "attn-w-hidden" })]));
  const cells = marks.map((row, i) => row.map((mark, j) => h("td", { "data-attn": "reach", "data-row": i, "data-col": j }, mark)));
  const { node, rows } = matrix(figure, "reached", title, cells);
  const update = (seen, mask, nLayers) => {
    put(title, fill(t.reach[nLayers > 1 ? "many" : 1], { n: nLayers }));
    cells.forEach((row, i) => {
      rows[i].toggleAttribute("data-dead", !mask[i].includes(true));
      row.forEach((cell, j) => {
        const kind = !seen[i][j] ? "not" : mask[i][j] || i === j ? "direct" : "through";
        const leak = seen[i][j] && j > i;
        cell.setAttribute("data-kind", kind);
        cell.toggleAttribute("data-leak", leak);
        put(marks[i][j][0], { not: "", direct: "●", through: "○" }[kind]);
        put(marks[i][j][1], leak ? `${t[kind]}, ${t.leak}` : t[kind]);
      });
    });
  };
  return { title, node, update };
}

export default { render };
