// Shows a sentence, its attention weights, and the arithmetic behind one row of them.
import {
  announcer, attention, fill, format, formatBrief, formatTemperature, h, largest, list, maskMatrix, put, rich, roving,
  scroller, signed, symbol, temperatureSlider, uid, visible, watch,
} from "./shared.js";

export const STRINGS = {
  es: {
    title: "Explorador de atención",
    mask: "Máscara", none: "ninguna", causal: "causal", padding: "relleno",
    scaled: "Dividir entre", temperature: "Temperatura",
    sentence: "De la query a las keys",
    query: "query: quién mira", key: "key: a quién mira",
    heat: "Pesos de atención", rows: "Cada fila es una query y suma 1; cada columna, una key.",
    showRow: "Fila de «{token}»", masked: "enmascarado",
    most: "«{query}» atiende sobre todo a {keys}: {weight}.",
    tied: "«{query}» atiende sobre todo a {keys}: {weight} cada uno.",
    many: "«{query}» atiende sobre todo a {count} keys por igual: {weight} cada una.",
    only: "«{query}» solo puede atender a {keys}: {weight}.",
    even: "«{query}» reparte su peso por igual.",
    nothing: "«{query}» no puede atender a nada: sus pesos y su salida son cero.",
    quoted: "«{token}»", and: "y",
    steps: "El cálculo, paso a paso", step: "Paso {step} de 4: {name}.",
    names: ["puntajes", "escala", "softmax", "media ponderada"],
    tabs: ["puntajes", "escala", "softmax", "media"],
    previous: "Anterior", next: "Siguiente",
    explain: [
      "Multiplica la query de «{query}» por cada key, componente a componente, y suma.",
      "Divide cada puntaje entre √d_k\u00a0=\u00a0{root}, para que su tamaño no dependa de d_k.",
      "Exponencial de cada número x, dividida entre la suma de todas: los pesos suman\u00a01.",
      "Multiplica cada value por su peso y suma: esa media ponderada es la salida de «{query}».",
    ],
    unscaled: "Sin dividir entre √d_k, los puntajes pasan tal cual.",
    cooled: "Después se dividen entre la temperatura.",
    blocked: "Lo que la máscara oculta pasa a −∞.",
    shifted: "Antes se resta el mayor, {top}: los pesos no cambian y la exponencial no se desborda.",
    token: "token", ofQuery: "q de «{query}»", score: "puntaje", scaledScore: "÷\u00a0{root}",
    sameScore: "sin escalar", cooledScore: "÷\u00a0T", exponential: "exp", weight: "peso", total: "suma", output: "salida",
    more: "otras {count}", compare: "antes y después", share: "peso, como barra",
    rounded: "Los números se muestran redondeados, pero se calcula con todos los decimales.",
  },
  en: {
    title: "Attention explorer",
    mask: "Mask", none: "none", causal: "causal", padding: "padding",
    scaled: "Divide by", temperature: "Temperature",
    sentence: "From the query to the keys",
    query: "query: who looks", key: "key: whom it looks at",
    heat: "Attention weights", rows: "Each row is a query and sums to 1; each column is a key.",
    showRow: "Row of “{token}”", masked: "masked",
    most: "“{query}” attends most to {keys}: {weight}.",
    tied: "“{query}” attends most to {keys}: {weight} each.",
    many: "“{query}” attends most to {count} keys alike: {weight} each.",
    only: "“{query}” may attend only to {keys}: {weight}.",
    even: "“{query}” spreads its weight evenly.",
    nothing: "“{query}” may attend to nothing: its weights and its output are zero.",
    quoted: "“{token}”", and: "and",
    steps: "The arithmetic, step by step", step: "Step {step} of 4: {name}.",
    names: ["scores", "scale", "softmax", "weighted mean"],
    tabs: ["scores", "scale", "softmax", "mean"],
    previous: "Previous", next: "Next",
    explain: [
      "Multiply the query of “{query}” by each key, component by component, and add up.",
      "Divide each score by √d_k\u00a0=\u00a0{root}, so that its size does not depend on d_k.",
      "The exponential of each number x, divided by the sum of them all: the weights sum to\u00a01.",
      "Multiply each value by its weight and add up: that weighted mean is the output of “{query}”.",
    ],
    unscaled: "Without dividing by √d_k, the scores pass as they are.",
    cooled: "Then they are divided by the temperature.",
    blocked: "Whatever the mask hides becomes −∞.",
    shifted: "The largest, {top}, is subtracted first: the weights stay the same and the exponential does not overflow.",
    token: "token", ofQuery: "q of “{query}”", score: "score", scaledScore: "÷\u00a0{root}",
    sameScore: "unscaled", cooledScore: "÷\u00a0T", exponential: "exp", weight: "weight", total: "sum", output: "output",
    more: "{count} more", compare: "before and after", share: "weight as a bar",
    rounded: "Shown rounded; computed in full precision.",
  },
};

/** Choose the components that get a column: all of a short vector; of a long one two, one column for the rest, and the last. */
export function columns(length) {
  const each = Array.from({ length }, (_, i) => [i]);
  return length <= 6 ? each : [...each.slice(0, 2), each.slice(2, -1).flat(), each.at(-1)];
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const tokens = model.get("tokens").map(visible);
  const data = Object.fromEntries(["query", "key", "value", "padding"].map((name) => [name, model.get(name)]));
  const figure = { t, tokens, model, ...data, choose, peek, highlight };
  let result;
  let peeked = null; // The row under the mouse, or null.
  const keys = { hovered: null, focused: null, pressed: null };

  const live = announcer();
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const views = [controls(figure), links(figure, summary), heatMap(figure), steps(figure)];
  const [bar, sentence, heat, walk] = views;
  const long = tokens.join("  ").length > 40; // Such a sentence does not fit into half the width.
  const stage = h("div", { class: "attn-explorer-stage", "data-long": long }, sentence.node, heat.node);

  function choose(row) {
    model.set("row", row);
    model.save_changes();
  }
  function peek(row) {
    peeked = row;
    draw();
  }
  function highlight(how, key) {
    keys[how] = how === "pressed" && key === keys.pressed ? null : key;
    draw();
  }
  function sentenceFor(row) {
    const weights = result.weights[row];
    const open = result.maskedScores[row].filter((score) => score !== -Infinity).length;
    const most = largest(weights);
    const tie = most.length === open ? "even" : ["", "most", "tied", "tied"][most.length] ?? "many";
    return fill(t[["nothing", "only"][open] ?? tie], {
      query: tokens[row], weight: format(weights[most[0]]), count: most.length,
      keys: list(most.map((j) => fill(t.quoted, { token: tokens[j] })), t.and),
    });
  }
  function draw() {
    const row = peeked ?? model.get("row");
    const state = {
      ...result, row, hot: keys.hovered ?? keys.focused ?? keys.pressed, pressed: keys.pressed, chosen: model.get("row"), step: model.get("step"),
      scaled: model.get("scaled"), temperature: model.get("temperature"), mask: model.get("mask"),
    };
    views.forEach((view) => view.update(state));
    put(summary, sentenceFor(row));
  }
  function compute() {
    const mask = maskMatrix(model.get("mask"), tokens.length, data.padding);
    result = attention(data.query, data.key, data.value, {
      mask, scaled: model.get("scaled"), temperature: model.get("temperature"),
    });
    model.set("weights", result.weights);
    model.set("output", result.output);
    draw();
  }
  const tell = (text) => live.say(`${text} ${sentenceFor(model.get("row"))}`);
  const stops = [
    watch(model, ["scaled", "mask", "temperature"], compute),
    watch(model, ["row", "step"], draw),
    watch(model, ["row", "scaled"], () => tell("")),
    watch(model, ["mask"], () => tell(`${t.mask}: ${t[model.get("mask")]}.`)),
    watch(model, ["temperature"], () => tell(`${t.temperature}: ${formatTemperature(model.get("temperature"))}.`)),
    watch(model, ["step"], () => live.say(
      fill(t.step, { step: model.get("step"), name: t.names[model.get("step") - 1] }))),
  ];

  // In one column the matrix comes last: choosing a word must change a table that is visible.
  const arrange = new ResizeObserver(() => {
    const stacked = getComputedStyle(stage).getPropertyValue("--stacked") !== "";
    if (stacked !== (heat.node.parentNode !== stage)) stacked ? walk.node.after(heat.node) : stage.append(heat.node);
    sentence.fit();
    heat.fit();
  });
  arrange.observe(bar.node);

  el.append(h("div", {
    class: "attn-w attn-explorer", lang: language, role: "group", "aria-label": t.title, "data-attn": "explorer",
  }, bar.node, stage, walk.node, live.node));
  compute();
  return () => {
    arrange.disconnect();
    stops.forEach((stop) => stop());
  };
}

function controls({ t, model, padding }) {
  const change = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const scaling = h("input", {
    type: "checkbox", role: "switch", "data-attn": "scaled",
    onchange: () => change("scaled", scaling.checked),
  });
  const group = uid();
  const masks = (padding ? ["none", "causal", "padding"] : ["none", "causal"]).map((mask) =>
    h("input", { type: "radio", name: group, value: mask, "data-attn": "mask", onchange: () => change("mask", mask) }));
  const temperature = temperatureSlider(t.temperature, model);
  const node = h("div", { class: "attn-w-controls" },
    h("label", { class: "attn-w-choice" }, scaling, h("span", {}, `${t.scaled} `, symbol("√d_k"))),
    h("fieldset", { class: "attn-w-inline" }, h("legend", {}, t.mask),
      masks.map((input) => h("label", { class: "attn-w-choice" }, input, t[input.value]))),
    temperature.node);
  const update = ({ scaled, mask }) => {
    scaling.checked = scaled;
    masks.forEach((input) => { input.checked = input.value === mask; });
    temperature.update();
  };
  return { node, update };
}

/** Draw the sentence twice, with a line from the chosen query to every key. A wider line means more weight. */
function links({ t, tokens, choose, peek, highlight }, summary) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const queries = tokens.map((token, i) =>
    h("button", {
      type: "button", role: "radio", class: "attn-explorer-query", "data-attn": "query-token", "data-row": i,
      onclick: () => choose(i), onpointerenter: mouse(() => peek(i)), onpointerleave: mouse(() => peek(null)),
    }, h("span", {}, token)));
  const numbers = tokens.map((_, j) =>
    h("span", { class: "attn-w-number", "data-attn": "link-weight", "data-col": j }));
  const keys = tokens.map((token, j) =>
    h("button", {
      type: "button", class: "attn-explorer-key", "data-attn": "key-token", "data-col": j,
      onclick: () => highlight("pressed", j),
      onpointerenter: mouse(() => highlight("hovered", j)), onpointerleave: mouse(() => highlight("hovered", null)),
      onfocus: () => { if (keys[j].matches(":focus-visible")) highlight("focused", j); },
      onblur: () => highlight("focused", null),
    }, h("span", {}, token), numbers[j]));
  const paths = tokens.map((_, j) =>
    h("path", { fill: "none", "data-attn": "link", "data-col": j }));
  const svg = h("svg", { class: "attn-explorer-links", "aria-hidden": "true" }, paths);
  const box = scroller(t.sentence,
    h("div", { class: "attn-explorer-wide", style: `--n: ${tokens.length}` },
      h("div", { class: "attn-w-label attn-w-query", "aria-hidden": "true" }, t.query),
      h("div", { class: "attn-explorer-tokens", role: "radiogroup", "aria-label": t.query }, queries),
      svg,
      h("div", { class: "attn-explorer-tokens", role: "group", "aria-label": t.key }, keys),
      h("div", { class: "attn-w-label attn-w-key", "aria-hidden": "true" }, t.key)));
  const node = h("div", { class: "attn-explorer-sentence" }, box, summary);
  const focusQuery = roving(queries, choose);
  const focusKey = roving(keys, (j) => focusKey(j));
  focusKey(0);

  let at = null; // The start of the lines, in pixels. Null means that they are not drawn yet.
  let goal = 0; // The lines start from this token, or are moving to it.
  let centres = tokens.map(() => 0);
  let height = 0;
  function place(x) {
    at = x;
    paths.forEach((path, j) =>
      path.setAttribute("d", `M${x} 0C${x} ${height * 0.55} ${centres[j]} ${height * 0.45} ${centres[j]} ${height}`));
  }
  function glide(row) {
    if (row === goal) return;
    goal = row;
    if (at === null) return; // The figure is not on the page yet.
    if (still.matches) return place(centres[row]);
    const from = at;
    const begin = performance.now();
    const frame = (now) => {
      if (goal !== row) return;
      const part = Math.min(1, Math.max(0, (now - begin) / 180));
      place(from + (centres[row] - from) * (1 - (1 - part) ** 3));
      if (part < 1) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
  function reveal(x) {
    const edge = 48;
    if (x < box.scrollLeft + edge || x > box.scrollLeft + box.clientWidth - edge) box.scrollLeft = x - box.clientWidth / 2;
  }
  const observer = new ResizeObserver(() => {
    const left = svg.getBoundingClientRect().left;
    centres = queries.map((button) => button.getBoundingClientRect()).map((box) => box.left + box.width / 2 - left);
    height = svg.clientHeight;
    place(centres[goal]);
    reveal(centres[goal]);
  });
  [svg, ...queries].forEach((element) => observer.observe(element));
  let state;
  let tight = false; // The words are written vertically when the columns are too narrow.
  const fit = () => {
    node.removeAttribute("data-tight");
    tight = box.scrollWidth > box.clientWidth;
    node.toggleAttribute("data-tight", tight);
    update(state);
  };
  const update = (now) => {
    state = now;
    const { row, chosen, weights, maskedScores, hot, pressed } = state;
    const show = tight && tokens.length > 8 ? formatBrief : format;
    glide(row);
    if (row === chosen) reveal(centres[row]);
    focusQuery(chosen);
    queries.forEach((button, i) => {
      button.setAttribute("aria-checked", i === chosen);
      button.toggleAttribute("data-peek", i === row && row !== chosen);
    });
    weights[row].forEach((weight, j) => {
      const masked = maskedScores[row][j] === -Infinity;
      const width = 1 + 11 * weight;
      paths[j].toggleAttribute("data-hot", hot === j);
      paths[j].style.strokeWidth = masked ? 0 : hot === j ? Math.max(2, width) : width;
      paths[j].style.strokeOpacity = hot === j ? 1 : (0.6 + 0.4 * weight) * (hot === null ? 1 : 0.4);
      paths[j].setAttribute("data-weight", weight);
      put(numbers[j], masked ? "—" : show(weight));
      if (masked) keys[j].setAttribute("aria-label", `${tokens[j]}, ${t.masked}`);
      else keys[j].removeAttribute("aria-label");
      keys[j].toggleAttribute("data-masked", masked);
      keys[j].toggleAttribute("data-hot", hot === j);
      keys[j].setAttribute("aria-pressed", pressed === j);
    });
  };
  return { node, update, fit };
}

/** Show the whole matrix as a table. A cell is coloured by its weight, and hatched where it is masked. */
function heatMap({ t, tokens, choose, peek, highlight }) {
  const show = tokens.length > 8 ? formatBrief : format;
  const heads = tokens.map((token, j) =>
    h("th", { scope: "col", class: "attn-w-key", "data-col": j }, h("span", {}, token)));
  const names = tokens.map((token, i) =>
    h("button", {
      type: "button", class: "attn-w-query", "aria-label": fill(t.showRow, { token }),
      "data-attn": "heat-row", "data-row": i, onclick: () => choose(i),
    }, token));
  const cells = tokens.map((_, i) => tokens.map((_, j) =>
    h("td", {
      "data-attn": "heat-cell", "data-row": i, "data-col": j,
      onpointerenter: mouse(() => highlight("hovered", j)), onpointerleave: mouse(() => highlight("hovered", null)),
    }, h("span", {}))));
  const rows = tokens.map((_, i) =>
    h("tr", {
      onclick: () => choose(i), onpointerenter: mouse(() => peek(i)), onpointerleave: mouse(() => peek(null)),
    }, h("th", { scope: "row" }, names[i]), cells[i]));
  const hatch = h("span", { class: "attn-explorer-hatch" }, h("i", { "data-masked": true }), ` ${t.masked}`);
  const title = h("b", { id: uid() }, t.heat);
  const table = h("table", {
    class: "attn-w-table attn-explorer-heat", "aria-labelledby": title.id, "data-size": size(tokens.length),
  }, h("thead", {}, h("tr", {}, h("td", {}), heads)), h("tbody", {}, rows));
  const node = h("div", { class: "attn-explorer-matrix" },
    scroller(t.heat, table), h("p", { class: "attn-w-label" }, title, ". ", t.rows, " ", hatch));
  const fit = () => { // A name that is wider than its column is written vertically.
    table.removeAttribute("data-upright");
    table.toggleAttribute("data-upright", heads.some((head) => head.firstChild.scrollWidth > head.clientWidth));
  };
  const focusRow = roving(names, choose);
  const tints = tokens.map(() => []); // The colours of the last drawing: only cells that changed are painted.
  const update = ({ row, chosen, weights, maskedScores, hot }) => {
    focusRow(chosen);
    let anyMasked = false;
    rows.forEach((tr, i) => {
      tr.toggleAttribute("data-shown", i === row);
      if (i === chosen) names[i].setAttribute("aria-current", "true");
      else names[i].removeAttribute("aria-current");
      cells[i].forEach((cell, j) => {
        const weight = weights[i][j];
        const masked = maskedScores[i][j] === -Infinity;
        anyMasked ||= masked;
        cell.toggleAttribute("data-masked", masked);
        cell.toggleAttribute("data-hot", i === row && j === hot);
        cell.toggleAttribute("data-deep", weight > 0.757); // On a darker colour, white text has more contrast than black.
        cell.setAttribute("data-weight", weight);
        const tint = weight.toFixed(3);
        if (tint !== tints[i][j]) cell.style.backgroundColor = `rgb(var(--attn-heat) / ${tints[i][j] = tint})`;
        put(cell.firstChild, masked ? t.masked : show(weight));
      });
    });
    heads.forEach((head, j) => head.toggleAttribute("data-hot", j === hot));
    hatch.hidden = !anyMasked;
  };
  return { node, update, fit };
}

const size = (n) => (n <= 5 ? "large" : n <= 8 ? "medium" : "small");

/** Preview a row only under a mouse: the tap of a finger is a click and must not leave a preview behind. */
function mouse(listener) {
  return (event) => { if (event.pointerType === "mouse") listener(); };
}

/** Show the four steps from the chosen query to its output, with the numbers of that query. */
function steps(figure) {
  const { t, model } = figure;
  const panels = [scoreStep, scaleStep, softmaxStep, meanStep].map((step) => step(figure));
  const go = (step) => {
    model.set("step", step);
    model.save_changes();
  };
  const tabs = t.names.map((name, i) => {
    const id = uid();
    const panelId = uid();
    const { node } = panels[i];
    node.id = panelId;
    node.setAttribute("aria-labelledby", id);
    return h("button", {
      type: "button", role: "tab", id, "aria-controls": panelId, "data-attn": "step", "data-step": i + 1,
      onclick: () => go(i + 1),
    }, h("span", { class: "attn-explorer-count" }, String(i + 1)),
    h("span", { class: "attn-explorer-full" }, name), h("span", { class: "attn-explorer-short" }, t.tabs[i]));
  });
  const focusTab = roving(tabs, (i) => go(i + 1));
  const turn = (by, hook, ...label) => h("button", {
    type: "button", class: "attn-w-button", "data-attn": hook,
    onclick: () => go(Math.min(4, Math.max(1, model.get("step") + by))),
  }, label);
  const arrow = (text) => h("span", { "aria-hidden": "true" }, text);
  const previous = turn(-1, "previous", arrow("← "), t.previous);
  const next = turn(1, "next", t.next, arrow(" →"));
  const node = h("div", { class: "attn-explorer-steps" },
    h("div", { class: "attn-explorer-tabs", role: "tablist", "aria-label": t.steps }, tabs),
    // The buttons are above the panels, whose heights differ, so that they stay under the finger.
    h("div", { class: "attn-explorer-turn" }, previous, next, h("small", {}, t.rounded)),
    panels.map((panel) => panel.node));
  const update = (state) => {
    focusTab(state.step - 1);
    tabs.forEach((tab, i) => tab.setAttribute("aria-selected", i === state.step - 1));
    panels.forEach((panel, i) => { panel.node.hidden = i !== state.step - 1; });
    previous.setAttribute("aria-disabled", state.step === 1);
    next.setAttribute("aria-disabled", state.step === 4);
    panels[state.step - 1].update(state);
  };
  return { node, update };
}

/** Show one step as a sentence above a table that has a row for each token. */
function panel({ t, tokens }, step, head, cells, foot) {
  const text = h("p", {});
  let shown;
  const explain = (sentence) => {
    if (sentence !== shown) text.replaceChildren(...rich(sentence));
    shown = sentence;
  };
  const rows = tokens.map((token, j) =>
    h("tr", { "data-col": j }, h("th", { scope: "row", class: "attn-w-key" }, token), cells(j)));
  const table = h("table", { class: "attn-w-table", "data-attn": `table-${step}` },
    h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows), foot && h("tfoot", {}, h("tr", {}, foot)));
  const node = h("div", { role: "tabpanel", tabindex: 0, class: "attn-explorer-panel", "data-attn": "panel", "data-step": step },
    text, scroller(t.names[step - 1], table));
  const shade = ({ hot, maskedScores, row }) => rows.forEach((tr, j) => {
    tr.toggleAttribute("data-hot", j === hot);
    tr.toggleAttribute("data-masked", maskedScores[row][j] === -Infinity);
  });
  return { node, explain, shade };
}

const heading = (...content) => h("th", { scope: "col" }, ...content);
const barHeading = (name, text) => h("th", { scope: "col", class: `${name}-head` }, h("span", {}, text));
const figureCell = (name, attributes = {}) => h("td", { class: "attn-w-number", "data-attn": name, ...attributes });

/** Show a factor and its product. A cell that stands for many components shows dots. */
function termCell(colour, components) {
  const factor = h("span", { class: colour });
  const product = h("span", {});
  const show = (vector, productText) => {
    put(factor, components.length > 1 ? "…" : `×\u2009${format(vector[components[0]])}`);
    put(product, productText);
  };
  return { node: h("td", { class: "attn-w-number attn-explorer-term" }, factor, product), show };
}

const headingFor = (t, components) => (components.length > 1 ? fill(t.more, { count: components.length }) : null);

function scoreStep(figure) {
  const { t, tokens, query, key } = figure;
  const groups = columns(query[0].length);
  const owner = h("th", { scope: "col", class: "attn-w-query" });
  const heads = groups.map(() => h("th", { scope: "col", class: "attn-w-query" }));
  const terms = tokens.map(() => groups.map((group) => termCell("attn-w-key", group)));
  const sums = tokens.map(() => h("span", {}));
  const totals = tokens.map((_, j) => h("td", { class: "attn-w-number", "data-attn": "score", "data-col": j },
    h("span", { class: "attn-explorer-equals" }, "= "), sums[j]));
  const { node, explain, shade } = panel(figure, 1, [owner, heads, heading(t.score)],
    (j) => [terms[j].map((term) => term.node), totals[j]]);
  node.dataset.terms = groups.length;
  const update = (state) => {
    const { row, scores } = state;
    const own = query[row];
    shade(state);
    explain(fill(t.explain[0], { query: tokens[row] }));
    put(owner, fill(t.ofQuery, { query: tokens[row] }));
    groups.forEach((group, g) => { heads[g].textContent = headingFor(t, group) ?? format(own[group[0]]); });
    tokens.forEach((_, j) => {
      terms[j].forEach((term, g) => {
        const product = groups[g].reduce((total, d) => total + own[d] * key[j][d], 0);
        term.show(key[j], g ? signed(product) : format(product));
      });
      put(sums[j], format(scores[row][j]));
      totals[j].setAttribute("data-value", scores[row][j]);
    });
  };
  return { node, update };
}

function scaleStep(figure) {
  const { t, tokens } = figure;
  const rootHead = heading();
  const coolHead = heading(t.cooledScore);
  const before = tokens.map((_, j) => figureCell("score", { "data-col": j }));
  const scaled = tokens.map((_, j) => figureCell("scaled-score", { "data-col": j }));
  const cooled = tokens.map((_, j) => figureCell("masked-score", { "data-col": j }));
  const bars = tokens.map(() => [h("i", {}), h("b", {})]);
  const { node, explain, shade } = panel(figure, 2, [heading(t.token), heading(t.score), rootHead, coolHead, barHeading("attn-explorer-axis", t.compare)],
    (j) => [before[j], scaled[j], cooled[j], h("td", { class: "attn-explorer-axis" }, h("span", { "aria-hidden": "true" }, bars[j]))]);
  const update = (state) => {
    const { row, scores, maskedScores, root, temperature } = state;
    shade(state);
    const cool = temperature !== 1;
    const masked = maskedScores[row].includes(-Infinity);
    const rootText = format(root);
    explain([
      state.scaled ? fill(t.explain[1], { root: rootText }) : t.unscaled,
      cool ? t.cooled : "", masked ? t.blocked : "",
    ].filter(Boolean).join(" "));
    put(rootHead, state.scaled ? fill(t.scaledScore, { root: rootText }) : t.sameScore);
    put(coolHead, `${t.cooledScore} =\u00a0${formatTemperature(temperature)}`);
    coolHead.hidden = !cool;
    const widest = Math.max(1e-12, ...scores[row].map(Math.abs), ...maskedScores[row].filter(Number.isFinite).map(Math.abs));
    const bar = (node, x) => {
      const half = (50 * Math.abs(x)) / widest;
      node.style.left = `${x < 0 ? 50 - half : 50}%`;
      node.style.width = `${half}%`;
    };
    tokens.forEach((_, j) => {
      const last = maskedScores[row][j];
      const middle = cool ? scores[row][j] / root : last;
      put(before[j], format(scores[row][j]));
      put(scaled[j], format(middle));
      scaled[j].setAttribute("data-value", middle);
      put(cooled[j], format(last));
      cooled[j].setAttribute("data-value", last);
      cooled[j].hidden = !cool;
      bar(bars[j][0], scores[row][j]);
      bar(bars[j][1], Number.isFinite(last) ? last : 0);
    });
  };
  return { node, update };
}

function softmaxStep(figure) {
  const { t, tokens } = figure;
  const cell = (name) => tokens.map((_, j) => figureCell(name, { "data-col": j }));
  const inputCells = cell("masked-score");
  const powerCells = cell("power");
  const weightCells = cell("weight");
  const bars = tokens.map(() => h("b", {}));
  const sumOfPowers = figureCell("sum-of-powers");
  const sumOfWeights = figureCell("sum-of-weights");
  const inputHead = heading();
  const { node, explain, shade } = panel(figure, 3,
    [heading(t.token), inputHead, heading(t.exponential), heading(t.weight), barHeading("attn-explorer-share", t.share)],
    (j) => [inputCells[j], powerCells[j], weightCells[j], h("td", { class: "attn-explorer-share" }, h("span", { "aria-hidden": "true" }, bars[j]))],
    [h("th", { scope: "row" }, t.total), h("td", {}), sumOfPowers, sumOfWeights, h("td", {})]);
  const update = (state) => {
    const { row, maskedScores, weights } = state;
    shade(state);
    const top = Math.max(...maskedScores[row]);
    const shift = top > 20 ? top : 0;
    const powers = maskedScores[row].map((x) => Math.exp(x - shift));
    put(inputHead, shift ? `x − ${format(top)}` : "x");
    explain(t.explain[2] + (shift ? ` ${fill(t.shifted, { top: format(top) })}` : ""));
    tokens.forEach((_, j) => {
      put(inputCells[j], format(maskedScores[row][j] - shift));
      put(powerCells[j], format(powers[j], 3));
      put(weightCells[j], format(weights[row][j], 3));
      weightCells[j].setAttribute("data-value", weights[row][j]);
      bars[j].style.width = `${100 * weights[row][j]}%`;
    });
    put(sumOfPowers, format(powers.reduce((a, b) => a + b, 0), 3));
    put(sumOfWeights, format(weights[row].reduce((a, b) => a + b, 0), 3));
  };
  return { node, update };
}

function meanStep(figure) {
  const { t, tokens, value } = figure;
  const groups = columns(value[0].length);
  const heads = groups.map((group) => heading(headingFor(t, group) ?? h("span", { class: "attn-w-math attn-w-value" },
    "v", h("sub", {}, String(group[0] + 1)))));
  const weightCells = tokens.map((_, j) => figureCell("weight", { "data-col": j }));
  const terms = tokens.map(() => groups.map((group) => termCell("attn-w-value", group)));
  const totals = groups.map((group) => figureCell("output", { "data-dim": group.join(" ") }));
  const { node, explain, shade } = panel(figure, 4, [heading(t.token), heading(t.weight), heads],
    (j) => [weightCells[j], terms[j].map((term) => term.node)],
    [h("th", { scope: "row", class: "attn-w-value" }, t.output), h("td", {}), totals]);
  node.dataset.terms = groups.length;
  const update = (state) => {
    const { row, weights, output } = state;
    shade(state);
    explain(fill(t.explain[3], { query: tokens[row] }));
    tokens.forEach((_, j) => {
      put(weightCells[j], format(weights[row][j]));
      terms[j].forEach((term, g) => {
        const product = weights[row][j] * value[j][groups[g][0]];
        term.show(value[j], groups[g].length > 1 ? "…" : j ? signed(product) : format(product));
      });
    });
    groups.forEach((group, g) => {
      put(totals[g], group.length > 1 ? "…" : format(output[row][group[0]]));
      totals[g].setAttribute("data-value", group.map((d) => output[row][d]).join(" "));
    });
  };
  return { node, update };
}

export default { render };
