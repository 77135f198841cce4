// Shared by the widgets: mathematics, numbers as text, and a few functions for the DOM.

// Mathematics ----------------------------------------------------------------

export const sum = (list) => list.reduce((total, x) => total + x, 0);

export function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

/** The mean of vectors, each with its weight. */
function mean(weights, vectors) {
  const out = vectors[0].slice();
  for (let d = 0; d < out.length; d++) {
    let total = 0;
    for (let j = 0; j < weights.length; j++) total += weights[j] * vectors[j][d];
    out[d] = total;
  }
  return out;
}

/** Softmax of one row. An entry of −∞ becomes 0, and a row of nothing but −∞ becomes zeros. */
export function softmax(row) {
  const top = row.reduce((a, b) => Math.max(a, b), -Infinity);
  if (top === -Infinity) return row.map(() => 0);
  const powers = row.map((x) => Math.exp(x - top));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

/** Entropy in bits. */
export const entropy = (row) => Math.abs(sum(row.map((p) => (p > 0 ? -p * Math.log2(p) : 0))));

/** An n × n mask by name. As everywhere in attn, true = may attend. */
export function maskMatrix(name, n, padding = null) {
  const row = (i) =>
    Array.from({ length: n }, (_, j) =>
      name === "causal" ? j <= i : name === "padding" && padding ? padding[j] : true);
  return Array.from({ length: n }, (_, i) => row(i));
}

/**
 * Scaled dot-product attention with every intermediate result. `scores` are the plain dot products;
 * `maskedScores` are scaled, have −∞ where the mask is false, and are the input of the softmax.
 */
export function attention(query, key, value, { mask = null, scaled = true, temperature = 1 } = {}) {
  const root = scaled ? Math.sqrt(query[0].length) : 1;
  const scores = query.map((q) => key.map((k) => dot(q, k)));
  const maskedScores = scores.map((row, i) =>
    row.map((score, j) => (mask && !mask[i][j] ? -Infinity : score / root / temperature)));
  const weights = maskedScores.map(softmax);
  const output = weights.map((row) => mean(row, value));
  return { root, scores, maskedScores, weights, output };
}

// Numbers as text --------------------------------------------------------------

/** A number with a true minus sign; very large ones as 2.9×10¹³. */
export function format(x, digits = 2) {
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const size = Math.abs(x);
  let text = size.toFixed(digits);
  if (size >= 1e5) {
    const [mantissa, power] = size.toExponential(1).split("e+");
    text = `${mantissa}×10${[...power].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("")}`;
  } else if (size >= 1000) text = size.toFixed(0);
  return x < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** A weight, as `format` shows it, without the zero before the point. */
export const formatBrief = (weight) => format(weight).replace(/^0/, "");

export const signed = (x, digits = 2) => (format(x, digits).startsWith("−") ? "" : "+") + format(x, digits);

/** Write a temperature, which may be below a hundredth. */
export const formatTemperature = (x) => (x < 0.1 ? x.toPrecision(2) : x.toFixed(2));

/** Return the indices of the largest number of a row: more than one if they tie. */
export function largest(row) {
  const top = Math.max(...row);
  return [...row.keys()].filter((i) => top - row[i] <= 1e-9);
}

/** "a", "a and b", "a, b and c". */
export const list = (words, and) =>
  [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(` ${and} `);

/** Fill the {holes} of a sentence. */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** The error for one bad argument, in the one form that errors have in attn. */
export const wrong = (name, expected, got) => new Error(`${name}: expected ${expected}, got ${got}`);

// DOM ----------------------------------------------------------------------------

/** Return an id that no other widget on the page has, not even one loaded from another module. */
export function uid() {
  globalThis.attnWidgetIds = (globalThis.attnWidgetIds ?? 0) + 1;
  return `attn-w-${globalThis.attnWidgetIds}`;
}

// JupyterLab would take the arrows and x, which cuts a cell, as its own shortcuts, so `h` marks every control
// to suppress them. Shortcuts with Ctrl, Cmd or Alt stay JupyterLab's: otherwise Ctrl+S would silently save nothing.
const SUPPRESS = "data-lm-suppress-shortcuts";
globalThis.addEventListener?.("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey || event.altKey) || !event.target.closest?.(".attn-w")) return;
  const held = [];
  for (let node = event.target; node; node = node.parentElement) {
    if (node.hasAttribute(SUPPRESS) && node.closest(".attn-w")) held.push(node);
  }
  for (const node of held) node.removeAttribute(SUPPRESS); // JupyterLab reads the attribute while it handles this event.
  setTimeout(() => { for (const node of held) node.setAttribute(SUPPRESS, "true"); });
}, true);

/** h("button", {class: "x", onclick: f}, "text", node): an element. */
export function h(tag, attributes = {}, ...children) {
  const node = /^(svg|path)$/.test(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, x] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), x);
    else if (x !== false && x != null) node.setAttribute(name, x === true ? "" : x);
  }
  if (/^(button|input)$/.test(tag) || "tabindex" in attributes) node.setAttribute(SUPPRESS, "true");
  node.append(...children.flat(Infinity).filter((child) => child != null));
  return node;
}

/** Change a text only if it is another one: untouched text costs the browser no layout. */
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** d_k with its subscript; √d_k with the bar of the root over it. */
export function symbol(text) {
  const [, root, letter, subscript] = /^(√?)(.)_(.+)$/.exec(text);
  const name = [letter, h("sub", {}, subscript)];
  return h("span", { class: "attn-w-math" }, root
    ? [h("span", { class: "attn-w-surd" }, root), h("span", { class: "attn-w-radicand" }, name)] : name);
}

/** `code`, *emphasis*, d_k and √d_k as the course sets them; everything else as plain text. */
export function rich(text) {
  return text.split(/(`[^`]+`|\*[^*\s][^*]*\*|√?\b[a-zA-Z]_\w+)/).map((part, i) => {
    if (i % 2 === 0) return part;
    if (part[0] === "`") return h("code", {}, part.slice(1, -1));
    if (part[0] === "*") return h("em", {}, part.slice(1, -1));
    return symbol(part);
  });
}

/** Show a token so that a leading space, or a space alone, is visible. */
export const visible = (token) => (token.trim() ? token.replace(/^ /, "␣") : "␣");

/** Give a group of elements one tab stop, with `n` elements to a row. Arrows, Home and End move inside it. */
export function roving(nodes, move, across = () => 1) {
  nodes.forEach((node, i) =>
    node.addEventListener("keydown", (event) => {
      const last = nodes.length - 1;
      const n = across();
      const to = {
        ArrowRight: i < last ? i + 1 : 0, ArrowDown: i + n <= last ? i + n : i % n,
        ArrowLeft: i > 0 ? i - 1 : last, ArrowUp: i >= n ? i - n : i + n * Math.floor((last - i) / n),
        Home: 0, End: last,
      }[event.key];
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      nodes[to].focus();
      move(to);
    }));
  return (current) => nodes.forEach((node, i) => { node.tabIndex = i === current ? 0 : -1; });
}

/** A box that scrolls when its content is too wide or too long, by keyboard too. */
export function scroller(label, ...children) {
  const box = h("div", { class: "attn-w-scroll", role: "group", "aria-label": label, tabindex: -1 }, ...children);
  // The site marks its own boxes in the same way: content that continues to the right fades there.
  const fade = () => box.classList.toggle("attn-goes-on", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  const check = () => {
    const overflows = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    fade();
    if (overflows) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };
  box.addEventListener("scroll", fade, { passive: true });
  const observer = new ResizeObserver(check);
  [box, ...box.children].forEach((node) => observer.observe(node));
  return box;
}

/** A live region for screen readers, which is updated when the reader has stopped changing the figure. */
export function announcer() {
  const node = h("p", { class: "attn-w-hidden", role: "status", "data-attn": "status" });
  let timer;
  const say = (text) => {
    clearTimeout(timer);
    timer = setTimeout(() => { node.textContent = text; }, 350);
  };
  return { node, say };
}

/** Radio buttons for a few options: [value, text] each. */
export function radios(label, hook, options, chosen, choose) {
  const name = uid();
  return h("fieldset", { class: "attn-w-inline" }, h("legend", {}, label), options.map(([value, text]) =>
    h("label", { class: "attn-w-choice" }, h("input", {
      type: "radio", name, value: String(value), checked: value === chosen, "data-attn": hook, onchange: () => choose(value),
    }), text)));
}

/** The temperature slider: logarithmic, so that 1 lies in the middle of 0.1 and 10. */
export function temperatureSlider(label, model) {
  const start = Math.log10(model.get("temperature"));
  const id = uid();
  const shown = h("span", { class: "attn-w-number", "aria-hidden": "true", "data-attn": "temperature-value" });
  const input = h("input", {
    type: "range", id, step: 0.02, min: Math.min(-1, Math.floor(start)), max: Math.max(1, Math.ceil(start)),
    "data-attn": "temperature",
    oninput: () => {
      model.set("temperature", Number((10 ** input.value).toFixed(2)));
      model.save_changes();
    },
  });
  const node = h("div", { class: "attn-w-slider" }, h("label", { for: id }, label), input, shown);
  const update = () => {
    const temperature = model.get("temperature");
    const text = formatTemperature(temperature);
    if (Math.abs(10 ** input.value / temperature - 1) > 0.05) input.value = Math.log10(temperature);
    input.setAttribute("aria-valuetext", text);
    put(shown, text);
  };
  return { node, update };
}

/** A list for choosing an example, and its label. */
export function examples(t, options, choose) {
  const pick = h("select", {
    id: uid(), class: "attn-live-input", "data-attn": "pick", onchange: () => { if (pick.value) choose(pick.value); },
  }, h("option", { value: "" }, t.pickOne), options);
  return [h("label", { for: pick.id, class: "attn-w-label" }, t.pick), pick];
}

/** Call `listener` when one of the traits changes; return how to stop. */
export function watch(model, names, listener) {
  names.forEach((name) => model.on(`change:${name}`, listener));
  return () => names.forEach((name) => model.off(`change:${name}`, listener));
}
