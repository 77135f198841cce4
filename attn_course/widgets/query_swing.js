// A query that turns among the keys of a plane: the weights follow it, and so does the mean of the values.
import { announcer, attention, dot, fill, format, h, largest, list, put, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Una query entre las keys", plane: "Las keys, y la query de *{word}*", outputs: "Los values, y lo que recibe *{word}*",
    query: "Query de {word}", hint: "Arrastra el círculo, o llega a él con el tabulador: ← y → giran la query, ↑ y ↓ la alargan y la acortan.",
    at: "{angle}°, longitud {length}. {weights}", weight: "{label}: {percent} %",
    word: "key", product: "q · k", share: "peso",
    leads: "*{word}* pregunta con ({query}) y mira sobre todo a {labels}: {percent} % del peso.",
    tied: "*{word}* pregunta con ({query}) y mira por igual a {labels}: {percent} % del peso a cada una.",
    output: "Recibe ({output}).", and: "y", quoted: "*{label}*",
  },
  en: {
    title: "A query among the keys", plane: "The keys, and the query of *{word}*", outputs: "The values, and what *{word}* receives",
    query: "Query of {word}", hint: "Drag the circle, or reach it with Tab: ← and → turn the query, ↑ and ↓ make it longer and shorter.",
    at: "{angle}°, length {length}. {weights}", weight: "{label}: {percent}%",
    word: "key", product: "q · k", share: "weight",
    leads: "*{word}* asks with ({query}) and looks most at {labels}: {percent}% of the weight.",
    tied: "*{word}* asks with ({query}) and looks alike at {labels}: {percent}% of the weight each.",
    output: "It receives ({output}).", and: "and", quoted: "*{label}*",
  },
};

const HANDLE = 3; // its radius in the plane of 100: the arrow ends at its edge
const DEGREES = 5; // one press of an arrow
const LENGTH = 0.1;

/** A vector rotated by degrees and lengthened, but not beyond `most`. */
export function swing([x, y], degrees, longer, most) {
  const length = Math.min(most, Math.max(0, Math.hypot(x, y) + longer));
  const angle = Math.atan2(y, x) + (degrees * Math.PI) / 180;
  return [Math.cos, Math.sin].map((f) => Math.round(1000 * length * f(angle)) / 1000);
}

/** How far the plane reaches: whole units, with room for every vector. */
export const reachOf = (vectors) => Math.max(2, Math.ceil(Math.max(...vectors.flat().map(Math.abs)) + 0.25));

/** The path of an arrow from the middle of the plane, with the point at its end or so many units before it. */
export function arrow([x, y], reach, before = 0) {
  const full = (50 / reach) * Math.hypot(x, y);
  if (full < 2 + before) return "";
  const [ax, ay] = [((50 / reach) * x) / full, ((-50 / reach) * y) / full];
  const [dx, dy] = [ax * (full - before), ay * (full - before)];
  const at = (back, aside) => `${(50 + dx - back * ax - aside * ay).toFixed(2)} ${(50 + dy - back * ay + aside * ax).toFixed(2)}`;
  return `M50 50L${at(0, 0)}M${at(3.4, 2.2)}L${at(0, 0)}L${at(3.4, -2.2)}`;
}

/** A text whose *words* are set in italics. */
const italics = (node, text) => {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren(...text.split(/(\*[^*]+\*)/).map((part) => (part[0] === "*" ? h("em", {}, part.slice(1, -1)) : part)));
};

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const [labels, keys, values, word] = ["labels", "key", "value", "word"].map((name) => model.get(name));
  const live = announcer();
  const reach = reachOf([...keys, model.get("query")]);
  const place = (node, [x, y], far) => {
    node.style.left = `${50 + (50 * x) / far}%`;
    node.style.top = `${50 - (50 * y) / far}%`;
  };
  const move = (query) => {
    model.set("query", query);
    model.save_changes();
  };

  // The plane of keys -----------------------------------------------------------------------
  const arrows = keys.map((key) => h("path", { class: "attn-swing-key", d: arrow(key, reach) }));
  const hand = h("path", { class: "attn-swing-query" });
  const names = labels.map((label, j) => name(label, keys[j], reach, "attn-swing-key"));
  const handle = h("button", {
    type: "button", class: "attn-swing-handle", role: "slider", "data-attn": "query", "aria-label": fill(t.query, { word }),
    "aria-valuemin": -180, "aria-valuemax": 180,
    onkeydown: (event) => {
      const [degrees, longer] = { ArrowLeft: [DEGREES, 0], ArrowRight: [-DEGREES, 0], ArrowUp: [0, LENGTH], ArrowDown: [0, -LENGTH] }[event.key] ?? [];
      if (degrees === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      // A query of length 0 would lose its direction.
      const query = swing(model.get("query"), degrees, longer, reach);
      if (Math.hypot(...query) > LENGTH / 2) move(query);
    },
    onpointerdown: (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.dataset.held = "true";
    },
    onpointermove: (event) => {
      if (!handle.dataset.held) return;
      const box = plane.getBoundingClientRect();
      const to = [reach * (2 * (event.clientX - box.left) / box.width - 1), reach * (1 - 2 * (event.clientY - box.top) / box.height)];
      if (Math.hypot(...to) > LENGTH / 2) move(swing(to, 0, 0, reach));
    },
    onpointerup: () => delete handle.dataset.held,
    onpointercancel: () => delete handle.dataset.held,
  }, h("i", {}));
  const plane = h("div", { class: "attn-swing-plane", "data-attn": "keys" },
    h("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, grid(reach), arrows, hand), names, handle);

  // The plane of values ---------------------------------------------------------------------
  const far = values.length ? reachOf(values) : 1;
  const at = ([x, y]) => `${50 + (50 * x) / far} ${50 - (50 * y) / far}`;
  const hull = values.length ? h("path", { class: "attn-swing-hull", d: `M${values.map(at).join("L")}Z` }) : null;
  const output = h("i", { class: "attn-swing-output", "data-attn": "output" });
  const received = values.length ? h("div", { class: "attn-swing-plane", "data-attn": "values" },
    h("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, grid(far), hull,
      values.map((value) => h("path", { class: "attn-swing-value", d: `M${at(value)}h0` }))),
    labels.map((label, j) => name(label, values[j], far, "attn-swing-value")), output) : null;

  // The weights -----------------------------------------------------------------------------
  const rows = labels.map((label) => {
    const [product, bar, share] = [h("td", { "data-attn": "product" }), h("b", {}), h("td", { "data-attn": "weight" })];
    return { product, bar, share, node: h("tr", {}, h("th", { scope: "row" }, label), product, h("td", { class: "attn-swing-bar", "aria-hidden": "true" }, bar), share) };
  });
  const weights = h("table", { class: "attn-w-table attn-swing-weights" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t.word), h("th", { scope: "col" }, t.product), h("td", {}), h("th", { scope: "col" }, t.share))),
    h("tbody", {}, rows.map((row) => row.node)));
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const titles = [t.plane, t.outputs].map((text) => {
    const node = h("p", { class: "attn-w-label" });
    italics(node, fill(text, { word }));
    return node;
  });

  function update() {
    const query = model.get("query");
    const result = attention([query], keys, values.length ? values : keys);
    const [row] = result.weights;
    const percent = (weight) => format(100 * weight, 0);
    hand.setAttribute("d", arrow(query, reach, HANDLE));
    place(handle, query, reach);
    handle.setAttribute("aria-valuenow", Math.round((Math.atan2(query[1], query[0]) * 180) / Math.PI));
    handle.setAttribute("aria-valuetext", fill(t.at, {
      angle: format(Number(handle.getAttribute("aria-valuenow")), 0), length: format(Math.hypot(...query), 1),
      weights: labels.map((label, j) => fill(t.weight, { label, percent: percent(row[j]) })).join(", "),
    }));
    rows.forEach(({ product, bar, share }, j) => {
      arrows[j].style.strokeWidth = `${(2 + 7 * row[j]).toFixed(2)}px`;
      put(product, format(dot(query, keys[j])));
      put(share, format(row[j]));
      share.setAttribute("data-value", row[j]);
      bar.style.width = `${(100 * row[j]).toFixed(2)}%`;
    });
    const top = largest(row);
    const said = fill(top.length > 1 ? t.tied : t.leads, {
      word, query: query.map((x) => format(x)).join(", "), percent: percent(row[top[0]]),
      labels: list(top.map((j) => fill(t.quoted, { label: labels[j] })), t.and),
    });
    const [mean] = result.output;
    if (values.length) {
      place(output, mean, far);
      output.setAttribute("data-value", mean.join(" "));
    }
    italics(summary, values.length ? `${said} ${fill(t.output, { output: mean.map((x) => format(x)).join(", ") })}` : said);
    model.set("weights", row);
    model.set("output", values.length ? mean : []);
  }
  const stops = [watch(model, ["query"], update), watch(model, ["query"], () => live.say(summary.textContent))];

  el.append(h("div", {
    class: `attn-w attn-swing${received ? " attn-swing-both" : ""}`, lang: language, role: "group", "aria-label": t.title, "data-attn": "swing",
  },
  h("div", { class: "attn-swing-stage" },
    h("div", {}, titles[0], plane), received ? h("div", {}, titles[1], received) : null,
    h("div", { class: "attn-swing-side" }, weights, summary, h("p", { class: "attn-w-label" }, t.hint))), live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

/** The lines of whole units, and the two axes. */
function grid(reach) {
  const lines = Array.from({ length: 2 * reach - 1 }, (_, k) => 50 + (50 * (k + 1 - reach)) / reach);
  return [h("path", { class: "attn-swing-grid", d: lines.map((v) => `M${v} 0V100M0 ${v}H100`).join("") }),
    h("path", { class: "attn-swing-axes", d: "M0 50H100M50 0V100" })];
}

/** A name at the end of a vector, on the side away from the middle. */
function name(label, [x, y], reach, kind) {
  const node = h("span", { class: `attn-swing-name ${kind}`, "aria-hidden": "true" }, label);
  node.style.left = `${50 + (50 * x) / reach}%`;
  node.style.top = `${50 - (50 * y) / reach}%`;
  node.toggleAttribute("data-left", x > 0.6 * reach);
  node.toggleAttribute("data-below", y < 0);
  return node;
}

export default { render };
