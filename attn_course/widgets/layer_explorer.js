// Shows a stack of encoder layers: the six steps of a layer, number by number, and the purpose of each.
import {
  announcer, attention, fill, format, h, put, rich, roving, scroller, uid, visible, watch,
} from "./shared.js";

const HEADS = 2;
const EPS = 1e-5;

export const STRINGS = {
  es: {
    title: "Explorador de capas",
    residual: "Sumar la entrada (conexión residual)", norm: "Normalizar", post: "después", pre: "antes", none: "nunca",
    layer: "Capa", of: "{layer} de {count}",
    alike: "¿Cuánto se parecen los tokens?", gradient: "¿Cuánto gradiente vuelve?",
    alikeAxis: "coseno medio", gradientAxis: "relativo al de la salida, escala logarítmica",
    alikeAlt: "Coseno medio entre los tokens de la entrada a la capa {count}: de {first} a {last}.",
    gradientAlt: "Gradiente relativo, de la capa {count}, donde vale 1, a la entrada, donde vale {first}.",
    input: "entrada", now: "lo que has elegido", paper: "el orden del artículo",
    summary: "Al salir de la capa {layer}, el coseno medio es {alike}. El gradiente de la salida vuelve hasta ahí multiplicado por {gradient}, y hasta la entrada, por {first}.",
    steps: "Los seis pasos de la capa", step: "Paso {step} de 6: {name}.",
    attend: "atención", add: "sumar", normalise: "normalizar", feed: "red", skipped: "omitido",
    previous: "Anterior", next: "Siguiente",
    before: "entra", computed: "calculado", after: "sale", token: "token",
    explain: {
      attend: "Cada token recoge dos medias de los values, una por cabeza, y W_O las mezcla.",
      add: "Lo calculado se suma a lo que había entrado en la subcapa.",
      normalise: "A cada vector se le resta su media y se divide entre su desviación estándar.",
      feed: "Cada token se amplía a 16 componentes, cambia las negativas por 0 y vuelve a 4.",
      skipped: "Este paso está quitado: lo que entra sale tal cual.",
    },
    byHead: "«{token}», cabeza {head}: {weights}.",
    sum: "«{token}», primera componente: {a} + {b} = {c}.",
    normed: "«{token}»: media {mean}, desviación estándar {deviation}; primera componente, ({a} − {shift}) / {deviation} = {c}.",
    units: "«{token}» enciende {on} de las {count} unidades.",
    same: "«{token}» sale como entró.",
    rounded: "Los números se muestran redondeados, pero se calcula con todos los decimales.",
  },
  en: {
    title: "Layer explorer",
    residual: "Add the input (residual connection)", norm: "Normalise", post: "after", pre: "before", none: "never",
    layer: "Layer", of: "{layer} of {count}",
    alike: "How alike are the tokens?", gradient: "How much gradient returns?",
    alikeAxis: "mean cosine", gradientAxis: "relative to that at the output, logarithmic",
    alikeAlt: "Mean cosine between the tokens from the input to layer {count}: from {first} to {last}.",
    gradientAlt: "Relative gradient, from layer {count}, where it is 1, to the input, where it is {first}.",
    input: "input", now: "what you chose", paper: "the paper's order",
    summary: "After layer {layer}, the mean cosine is {alike}. As a multiple of its size at the output, the gradient is {gradient} here and {first} at the input.",
    steps: "The six steps of the layer", step: "Step {step} of 6: {name}.",
    attend: "attention", add: "add", normalise: "normalise", feed: "network", skipped: "left out",
    previous: "Previous", next: "Next",
    before: "in", computed: "computed", after: "out", token: "token",
    explain: {
      attend: "Each token collects two means of the values, one for each head, and W_O mixes them.",
      add: "What was computed is added to what had gone into the sub-layer.",
      normalise: "From each vector its mean is subtracted; it is then divided by its standard deviation.",
      feed: "Each token goes to 16 components, has its negatives set to 0, and returns to 4.",
      skipped: "This step has been taken away: what goes in comes out as it is.",
    },
    byHead: "“{token}”, head {head}: {weights}.",
    sum: "“{token}”, first component: {a} + {b} = {c}.",
    normed: "“{token}”: mean {mean}, standard deviation {deviation}; first component, ({a} − {shift}) / {deviation} = {c}.",
    units: "“{token}” switches on {on} of the {count} units.",
    same: "“{token}” comes out as it went in.",
    rounded: "Shown rounded; computed in full precision.",
  },
};

// The mathematics ------------------------------------------------------------------

const total = (row) => row.reduce((a, b) => a + b, 0);
const product = (a, b) => a.map((row) => b[0].map((_, j) => total(row.map((x, k) => x * b[k][j]))));
const transposed = (a) => a[0].map((_, j) => a.map((row) => row[j]));
const plus = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));
const size = (a) => Math.sqrt(total(a.flat().map((x) => x * x)));
const columns = (a, from, to) => a.map((row) => row.slice(from, to));
const joined = (parts) => parts[0].map((_, i) => parts.flatMap((part) => part[i]));

/** Layer normalisation without gain and bias, with its backward pass. */
export function normalise(x) {
  const means = x.map((row) => total(row) / row.length);
  const roots = x.map((row, i) => Math.sqrt(total(row.map((v) => (v - means[i]) ** 2)) / row.length + EPS));
  const out = x.map((row, i) => row.map((v) => (v - means[i]) / roots[i]));
  const back = (g) => g.map((row, i) => {
    const mean = total(row) / row.length;
    const along = total(row.map((v, j) => v * out[i][j])) / row.length;
    return row.map((v, j) => (v - mean - out[i][j] * along) / roots[i]);
  });
  return { out, means, roots, back };
}

/** Multi-head self-attention with its weights by head and its backward pass. */
export function attend(x, w) {
  const width = w.w_q[0].length / HEADS;
  const all = ["w_q", "w_k", "w_v"].map((name) => product(x, w[name]));
  const heads = Array.from({ length: HEADS }, (_, i) => {
    const [q, k, v] = all.map((matrix) => columns(matrix, i * width, (i + 1) * width));
    return { q, k, v, ...attention(q, k, v) };
  });
  const out = product(joined(heads.map((head) => head.output)), w.w_o);
  const back = (g) => {
    const mixed = product(g, transposed(w.w_o));
    const parts = heads.map(({ q, k, v, weights, root }, i) => {
      const d = columns(mixed, i * width, (i + 1) * width);
      const dWeights = product(d, transposed(v));
      const dScores = dWeights.map((row, a) => {
        const mean = total(row.map((value, b) => value * weights[a][b]));
        return row.map((value, b) => (weights[a][b] * (value - mean)) / root);
      });
      return [product(dScores, k), product(transposed(dScores), q), product(transposed(weights), d)];
    });
    return ["w_q", "w_k", "w_v"]
      .map((name, n) => product(joined(parts.map((part) => part[n])), transposed(w[name])))
      .reduce(plus);
  };
  return { out, weights: heads.map((head) => head.weights), back };
}

/** The feed-forward network without biases, with its active units and its backward pass. */
export function feed(x, w) {
  const hidden = product(x, w.w_1);
  const on = hidden.map((row) => row.map((v) => v > 0));
  const out = product(hidden.map((row) => row.map((v) => Math.max(0, v))), w.w_2);
  const back = (g) => product(
    product(g, transposed(w.w_2)).map((row, i) => row.map((v, j) => (on[i][j] ? v : 0))), transposed(w.w_1));
  return { out, on, back };
}

/** One sub-layer: three of the six steps in their order, its output, and its backward pass. */
function part(x, w, name, compute, { residual, norm }) {
  const before = norm === "pre" ? normalise(x) : null;
  const did = compute(before ? before.out : x, w);
  const sum = residual ? plus(x, did.out) : did.out;
  const after = norm === "post" ? normalise(sum) : null;
  const last = after ? after.out : sum;
  const own = { name, input: before ? before.out : x, output: did.out, ...did };
  const add = { name: "add", input: x, computed: did.out, output: sum, skipped: !residual };
  const scale = norm === "pre"
    ? { name: "normalise", input: x, output: before.out, ...before }
    : { name: "normalise", input: sum, output: last, skipped: !after, ...after };
  const back = (g) => {
    const inner = after ? after.back(g) : g;
    const through = did.back(inner);
    const entering = before ? before.back(through) : through;
    return residual ? plus(inner, entering) : entering;
  };
  return { steps: norm === "pre" ? [scale, own, add] : [own, add, scale], out: last, back };
}

/** A whole stack: vectors and six steps of every layer, cosines and gradients by depth. */
export function run(x, layers, readout, settings) {
  const vectors = [x];
  const steps = [];
  const backs = [];
  for (const w of layers) {
    const first = part(vectors.at(-1), w, "attend", attend, settings);
    const second = part(first.out, w, "feed", feed, settings);
    vectors.push(second.out);
    steps.push([...first.steps, ...second.steps]);
    backs.push((g) => first.back(second.back(g)));
  }
  // A pre-norm stack ends with one more norm, as in attn.transformer.
  const gradients = [settings.norm === "pre" ? normalise(vectors.at(-1)).back(readout) : readout];
  for (const back of backs.toReversed()) gradients.unshift(back(gradients[0]));
  const sizes = gradients.map(size);
  return { vectors, steps, similarity: vectors.map(meanCosine), gradient: sizes.map((s) => s / sizes.at(-1)) };
}

function meanCosine(x) {
  const unit = x.map((row) => row.map((v) => v / size([row])));
  const cosines = product(unit, transposed(unit));
  const n = x.length;
  return (total(cosines.flat()) - total(cosines.map((row, i) => row[i]))) / (n * (n - 1));
}

/** A number of any size in few characters: 0.24, 16.3, 1.1×10⁵, 8.2×10⁻⁷. */
export function formatSize(v) {
  if (v >= 0.01 && v < 1000) return format(v, v < 10 ? 2 : 1);
  const [mantissa, power] = v.toExponential(1).split("e");
  return `${mantissa}×10${[...power.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;
}

// The figure -------------------------------------------------------------------------

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const tokens = model.get("tokens").map(visible);
  const [x, layers, readout] = ["x", "layers", "readout"].map((name) => model.get(name));
  const paper = run(x, layers, readout, { residual: true, norm: "post" });
  const change = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const live = announcer();
  const bar = controls(t, model, layers.length, change);
  const charts = [
    chart(t, t.alike, t.alikeAxis, "similarity", layers.length, (v) => v, [-0.5, 0, 0.5, 1], (v) => format(v, 1)),
    chart(t, t.gradient, t.gradientAxis, "gradient", layers.length, Math.log10, [-9, -6, -3, 0, 3, 6],
      (p) => (p ? `10${[...String(p)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}` : "1")),
  ];
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const other = h("span", { "data-line": "paper" }, t.paper);
  const walk = stepper(t, tokens, change, model);
  let result;

  function draw() {
    const layer = model.get("layer");
    bar.update();
    charts.forEach(({ update }) => update(result, paper, layer));
    put(summary, fill(t.summary, {
      layer, alike: format(result.similarity[layer]), gradient: formatSize(result.gradient[layer]),
      first: formatSize(result.gradient[0]),
    }));
    walk.update(result.steps[layer - 1]);
  }
  function compute() {
    const [residual, norm] = [model.get("residual"), model.get("norm")];
    result = run(x, layers, readout, { residual, norm });
    // The two lines coincide, and the dashed one would be invisible.
    other.style.visibility = residual && norm === "post" ? "hidden" : "";
    model.set("similarity", result.similarity);
    draw();
  }
  const named = () => result.steps[model.get("layer") - 1][model.get("step") - 1];
  const stops = [
    watch(model, ["residual", "norm"], compute),
    watch(model, ["layer", "step", "token"], draw),
    watch(model, ["residual", "norm", "layer"], () => live.say(summary.textContent)),
    watch(model, ["step"], () => live.say(fill(t.step, { step: model.get("step"), name: t[named().name] }))),
  ];
  el.append(h("div", {
    class: "attn-w attn-layers", lang: language, role: "group", "aria-label": t.title, "data-attn": "layers",
  }, bar.node, h("div", { class: "attn-layers-charts" }, charts.map(({ node }) => node)),
  h("p", { class: "attn-layers-legend" }, h("span", { "data-line": "now" }, t.now), other),
  summary, walk.node, live.node));
  compute();
  return () => stops.forEach((stop) => stop());
}

function controls(t, model, count, change) {
  const residual = h("input", {
    type: "checkbox", role: "switch", "data-attn": "residual", onchange: () => change("residual", residual.checked),
  });
  const group = uid();
  const norms = ["post", "pre", "none"].map((norm) =>
    h("input", { type: "radio", name: group, value: norm, "data-attn": "norm", onchange: () => change("norm", norm) }));
  const id = uid();
  const slider = h("input", {
    type: "range", id, min: 1, max: count, step: 1, "data-attn": "layer", oninput: () => change("layer", Number(slider.value)),
  });
  const shown = h("span", { class: "attn-w-number", "aria-hidden": "true" });
  const node = h("div", { class: "attn-w-controls" },
    h("label", { class: "attn-w-choice" }, residual, t.residual),
    h("fieldset", { class: "attn-w-inline" }, h("legend", {}, t.norm),
      norms.map((input) => h("label", { class: "attn-w-choice" }, input, t[input.value]))),
    h("div", { class: "attn-w-slider" }, h("label", { for: id }, t.layer), slider, shown));
  const update = () => {
    residual.checked = model.get("residual");
    norms.forEach((input) => { input.checked = input.value === model.get("norm"); });
    slider.value = model.get("layer");
    const text = fill(t.of, { layer: model.get("layer"), count });
    slider.setAttribute("aria-valuetext", text);
    put(shown, text);
  };
  return { node, update };
}

/** Draw a curve over the depth, the curve of the paper's layer beneath it, and a mark at the open layer. */
function chart(t, title, axis, name, count, scale, ticks, label) {
  const [low, high] = [ticks[0], ticks.at(-1)];
  const across = (i) => (100 * i) / count;
  const up = (v) => 100 * (1 - (Math.min(high, Math.max(low, scale(v))) - low) / (high - low));
  const line = (values) => values.map((v, i) => `${i ? "L" : "M"}${across(i)} ${up(v)}`).join("");
  const [ghost, curve] = ["paper", "now"].map((kind) => h("path", { "data-line": kind, "data-attn": `${name}-${kind}` }));
  const grid = ticks.map((tick) => h("path", { "data-line": "grid", d: `M0 ${100 * (1 - (tick - low) / (high - low))}H100` }));
  const svg = h("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img" }, grid, ghost, curve);
  const dot = h("i", { "aria-hidden": "true" });
  const value = h("b", { class: "attn-w-number", "data-attn": name });
  const node = h("figure", { class: "attn-layers-chart" },
    h("figcaption", {}, h("span", {}, title), value, h("small", {}, axis)),
    h("div", { class: "attn-layers-plot" },
      h("div", { class: "attn-layers-ticks", "aria-hidden": "true" },
        ticks.map((tick) => h("span", { style: `top: ${100 * (1 - (tick - low) / (high - low))}%` }, label(tick)))),
      h("div", { class: "attn-layers-canvas" }, svg, dot)),
    h("div", { class: "attn-layers-depths", "aria-hidden": "true" }, h("span", {}, t.input), h("span", {}, String(count))));
  const update = (result, paper, layer) => {
    const values = result[name];
    curve.setAttribute("d", line(values));
    ghost.setAttribute("d", line(paper[name]));
    dot.style.left = `${across(layer)}%`;
    dot.style.top = `${up(values[layer])}%`;
    const show = name === "gradient" ? formatSize : (v) => format(v);
    put(value, show(values[layer]));
    value.setAttribute("data-values", values.join(" "));
    svg.setAttribute("aria-label", fill(t[`${name === "gradient" ? "gradient" : "alike"}Alt`],
      { count, first: show(values[0]), last: show(values.at(-1)) }));
  };
  return { node, update };
}

/** The six steps as tabs; the panel shows the input and the output vectors. */
function stepper(t, tokens, change, model) {
  const panelId = uid();
  const go = (step) => change("step", Math.min(6, Math.max(1, step)));
  const names = Array.from({ length: 6 }, () => h("span", {}));
  const tabs = names.map((name, i) => h("button", {
    type: "button", role: "tab", id: uid(), "aria-controls": panelId, "data-attn": "step", "data-step": i + 1,
    onclick: () => go(i + 1),
  }, h("span", { class: "attn-explorer-count" }, String(i + 1)), name));
  const focusTab = roving(tabs, (i) => go(i + 1));
  const explain = h("p", {});
  const sum = h("p", { class: "attn-layers-sum", "data-attn": "sum" });
  const matrices = ["before", "computed", "after"].map((name) => matrix(t, tokens, name, change));
  const panel = h("div", { role: "tabpanel", id: panelId, tabindex: 0, class: "attn-explorer-panel", "data-attn": "panel" },
    explain, sum, h("div", { class: "attn-layers-matrices" }, matrices.map(({ node }) => node)));
  const arrow = (text) => h("span", { "aria-hidden": "true" }, text);
  const turn = (by, hook, ...label) => h("button", {
    type: "button", class: "attn-w-button", "data-attn": hook, onclick: () => go(model.get("step") + by),
  }, label);
  const previous = turn(-1, "previous", arrow("← "), t.previous);
  const next = turn(1, "next", t.next, arrow(" →"));
  const node = h("div", { class: "attn-explorer-steps" },
    h("div", { class: "attn-explorer-tabs attn-layers-tabs", role: "tablist", "aria-label": t.steps }, tabs),
    // The buttons stand above the panel, whose height changes with the step, so that they stay under the finger.
    h("div", { class: "attn-explorer-turn" }, previous, next, h("small", {}, t.rounded)), panel);
  const update = (steps) => {
    const step = model.get("step");
    const token = model.get("token");
    const now = steps[step - 1];
    focusTab(step - 1);
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === step - 1);
      tab.toggleAttribute("data-skipped", Boolean(steps[i].skipped));
      put(names[i], t[steps[i].name]);
      if (steps[i].skipped) tab.setAttribute("aria-label", `${i + 1} ${t[steps[i].name]}: ${t.skipped}`);
      else tab.removeAttribute("aria-label");
    });
    panel.setAttribute("aria-labelledby", tabs[step - 1].id);
    previous.setAttribute("aria-disabled", step === 1);
    next.setAttribute("aria-disabled", step === 6);
    explain.replaceChildren(...rich(t.explain[now.skipped ? "skipped" : now.name]));
    const [before, computed, after] = matrices;
    const shown = now.skipped && now.name === "add" ? now.computed : now.input;
    before.update(shown, token);
    computed.node.hidden = now.name !== "add" || now.skipped;
    if (!computed.node.hidden) computed.update(now.computed, token);
    after.update(now.output, token);
    put(sum, arithmetic(t, tokens, now, token));
  };
  return { node, update };
}

function arithmetic(t, tokens, now, i) {
  const token = tokens[i];
  const [a, c] = [now.input[i][0], now.output[i][0]].map((v) => format(v));
  const bracketed = (v) => (format(v).startsWith("−") ? `(${format(v)})` : format(v));
  if (now.skipped) return fill(t.same, { token });
  if (now.name === "add") return fill(t.sum, { token, a, b: bracketed(now.computed[i][0]), c });
  if (now.name === "feed") return fill(t.units, { token, on: now.on[i].filter(Boolean).length, count: now.on[i].length });
  if (now.name === "normalise") {
    return fill(t.normed, {
      token, a, c, mean: format(now.means[i]), shift: bracketed(now.means[i]), deviation: format(now.roots[i]),
    });
  }
  return now.weights.map((head, n) => fill(t.byHead, {
    token, head: n + 1, weights: tokens.map((other, j) => `${other} ${format(head[i][j])}`).join(", "),
  })).join(" ");
}

/** Show one vector a row. A larger number has a stronger background, and a row can be chosen. */
function matrix(t, tokens, name, change) {
  const heads = tokens.map((token, i) => h("button", {
    type: "button", "data-attn": "row", "data-row": i, onclick: () => change("token", i),
  }, token));
  const cells = tokens.map(() => Array.from({ length: 4 }, () => h("td", { class: "attn-w-number" })));
  const rows = tokens.map((_, i) => h("tr", {}, h("th", { scope: "row" }, heads[i]), cells[i]));
  const table = h("table", { class: "attn-w-table attn-layers-matrix", "data-attn": `matrix-${name}` },
    h("caption", {}, t[name]), h("tbody", {}, rows));
  const node = h("div", {}, scroller(t[name], table));
  const update = (values, token) => {
    const top = Math.max(...values.flat().map(Math.abs)) || 1;
    values.forEach((row, i) => {
      rows[i].toggleAttribute("data-hot", i === token);
      heads[i].setAttribute("aria-pressed", i === token);
      row.forEach((v, j) => {
        const cell = cells[i][j];
        put(cell, Math.abs(v) < 0.005 ? "0" : format(v));
        cell.setAttribute("data-value", v);
        cell.style.setProperty("--share", Math.abs(v) / top);
        cell.toggleAttribute("data-negative", v < 0);
      });
    });
  };
  return { node, update };
}

export default { render };
