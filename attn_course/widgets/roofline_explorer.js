// The cost of a token: prefill and decoding of a model on the roofline of an accelerator, and the
// least time of each.
import { announcer, fill, h, put, radios, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Lo que cuesta un token: cómputo y memoria", model: "Modelo", card: "Máquina", bits: "Bits por peso", batch: "Lote", context: "Contexto",
    chart: "Operaciones por segundo, frente a operaciones por byte, en escala logarítmica", across: "FLOP por byte", up: "FLOP/s",
    slope: "espera a la memoria", flat: "calcula sin parar", prefill: "lectura", decode: "escritura", head: ["leer el texto", "escribir un token"],
    rows: { flops: "calcula", bytes: "mueve", intensity: "FLOP por byte", seconds: "tarda", million: "10⁶ tokens", cost: "cuestan" },
    memory: "Pesos y caché ocupan {used} de {room}.", out: "No cabe: pesos y caché ocupan {used}, y la memoria es de {room}.",
    bound: "Al escribir se usa el {share} del cómputo: la máquina espera a la memoria.", computes: "Al escribir, la máquina ya calcula sin parar: un lote mayor ya no abarata el token.",
    cache: "La mayor parte de lo que se trae es caché.", weights: "Casi todo lo que se trae son pesos.", mixed: "Se traen sobre todo pesos, y también caché.", minutes: "min", hours: "h", days: "d", percent: "{n} %",
  },
  en: {
    title: "What a token costs: arithmetic and memory", model: "Model", card: "Machine", bits: "Bits per weight", batch: "Batch", context: "Context",
    chart: "Operations per second against operations per byte, on logarithmic scales", across: "FLOP per byte", up: "FLOP/s",
    slope: "waits for memory", flat: "computes without pause", prefill: "reading", decode: "writing", head: ["read the prompt", "write a token"],
    rows: { flops: "computes", bytes: "moves", intensity: "FLOP per byte", seconds: "takes", million: "10⁶ tokens", cost: "cost" },
    memory: "Weights and cache take {used} of {room}.", out: "It does not fit: weights and cache take {used}, and there are {room}.",
    bound: "Writing uses {share} of the arithmetic: the machine waits for its memory.", computes: "In writing the machine now computes without pause: a larger batch makes no token cheaper.",
    cache: "Most of what is read is cache.", weights: "Nearly all that is read is weights.", mixed: "Weights and cache are read.", minutes: "min", hours: "h", days: "d", percent: "{n}%",
  },
};

export const BITS = [16, 8, 4];
export const BATCHES = Array.from({ length: 9 }, (_, i) => 2 ** i);
export const CONTEXTS = Array.from({ length: 11 }, (_, i) => 2 ** (i + 7));
const CACHE = 2; // bytes of a number in the cache
const NAMES = ["model", "card", "batch", "context", "bits"]; // The parameters of the URL's query string.
const [LEFT, RIGHT] = [-0.5, 5.2]; // The ends of the axis, as powers of ten.

/** The FLOPs and the bytes moved for the prefill of one prompt, and for one decoding step, which writes a token for each sequence. */
export function counts([, parameters, layers, width, kvWidth], batch, context, bits) {
  const weights = (parameters * bits) / 8;
  const cache = 2 * layers * kvWidth * CACHE * context;
  return {
    weights, cache: batch * cache,
    prefill: { flops: 2 * parameters * context + 2 * layers * context * (context + 1) * width, bytes: weights + cache, tokens: context },
    decode: { flops: batch * (2 * parameters + 4 * layers * context * width), bytes: weights + batch * cache, tokens: batch },
  };
}

/** The attainable speed of an accelerator, in FLOP/s. */
export const roof = (intensity, peak, bandwidth) => Math.min(peak, bandwidth * intensity);

/** Intensity, speed and time of some work on an accelerator. */
export function at({ flops, bytes, tokens }, [, peak, bandwidth]) {
  const intensity = flops / bytes;
  const seconds = flops / roof(intensity, peak, bandwidth);
  return { flops, bytes, intensity, seconds, speed: flops / seconds, million: (1e6 * seconds) / tokens };
}

/** Three digits and a unit: 16.1 GB. */
export function measure(x, unit) {
  const power = Math.max(0, Math.min(7, Math.floor(Math.log10(Math.max(1, x * 1.0005)) / 3)));
  const mantissa = x / 1000 ** power;
  const text = mantissa >= 1000 ? `${Math.round(mantissa)}` : Number(mantissa.toPrecision(3)).toString();
  return `${text}\u202f${["", "k", "M", "G", "T", "P", "E", "Z"][power]}${unit}`.trim();
}

/** A time, from microseconds to days. */
export function duration(seconds, { minutes, hours, days }) {
  const [, size, unit] = [[1e-3, 1e-6, "µs"], [1, 1e-3, "ms"], [120, 1, "s"], [7200, 60, minutes], [172800, 3600, hours], [Infinity, 86400, days]]
    .find(([below]) => seconds < below);
  const x = seconds / size;
  return `${x >= 1000 ? Math.round(x) : Number(x.toPrecision(3))}\u202f${unit}`;
}

/** The settings that the URL's query string holds, over those of the page; invalid ones are left out. */
export function settingsIn(search, start, nModels, nCards) {
  const said = new URLSearchParams(search);
  const upTo = (n) => Array.from({ length: n }, (_, i) => i);
  const choices = { model: upTo(nModels), card: upTo(nCards), batch: BATCHES, context: CONTEXTS, bits: BITS };
  return { ...start, ...Object.fromEntries(NAMES.filter((name) => /^\d+$/.test(said.get(name) ?? "") && choices[name].includes(Number(said.get(name))))
    .map((name) => [name, Number(said.get(name))])) };
}

/** The URL that restores the settings; without a query string if they are those of the page. */
export function addressOf(href, settings, start) {
  const url = new URL(href);
  for (const name of NAMES) {
    if (settings[name] !== start[name]) url.searchParams.set(name, settings[name]);
    else url.searchParams.delete(name);
  }
  return url.href;
}

function render({ model, el, fallback }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const [models, cards] = ["models", "cards"].map((name) => model.get(name));
  const live = announcer();
  const read = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const start = read();
  const set = (changed) => {
    for (const [name, x] of Object.entries(changed)) model.set(name, x);
    model.save_changes();
  };

  // Controls ------------------------------------------------------------------------------------
  const picks = [["model", models], ["card", cards]].map(([name, all]) => {
    const pick = h("select", { id: uid(), class: "attn-live-input", "data-attn": name, onchange: () => set({ [name]: Number(pick.value) }) },
      all.map(([text], i) => h("option", { value: i }, text)));
    return { name, pick, node: h("div", {}, h("label", { for: pick.id, class: "attn-w-label" }, t[name]), pick) };
  });
  const bits = radios(t.bits, "bits", BITS.map((n) => [n, String(n)]), model.get("bits"), (x) => set({ bits: Number(x) }));
  const sliders = [["batch", BATCHES], ["context", CONTEXTS]].map(([name, steps]) => {
    const id = uid();
    const input = h("input", { type: "range", id, min: 0, max: steps.length - 1, step: 1, "data-attn": name, oninput: () => set({ [name]: steps[input.value] }) });
    const shown = h("span", { class: "attn-w-number", "aria-hidden": "true" });
    return { name, steps, input, shown, node: h("div", { class: "attn-w-slider" }, h("label", { for: id }, t[name]), input, shown) };
  });

  // The roof ------------------------------------------------------------------------------------
  const line = h("path", { class: "attn-roof-line" });
  const grid = h("path", { class: "attn-roof-grid" });
  const label = (name, text = "") => h("span", { class: `attn-roof-${name}`, "aria-hidden": "true" }, text);
  const [peak, slope, flat] = [label("peak"), label("slope", t.slope), label("flat", t.flat)];
  const others = BATCHES.map(() => h("i", { class: "attn-roof-other" }));
  const points = ["prefill", "decode"].map((name) => ({
    name, point: h("i", { class: "attn-roof-point", "data-attn": `point-${name}`, "data-phase": name }),
    text: h("span", { class: "attn-roof-name", "data-phase": name }, t[name]),
  }));
  const ticks = [0, 1, 2, 3, 4, 5].map((power) => h("span", { style: `left: ${across(power)}%` }, power < 4 ? String(10 ** power) : `10${"⁴⁵"[power - 4]}`));
  const chart = h("div", { class: "attn-roof-chart", role: "img", "aria-label": t.chart },
    h("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, grid, line), slope, flat, others, points.map((one) => [one.point, one.text]), peak,
    h("div", { class: "attn-roof-ticks" }, ticks), label("across", t.across), label("up", t.up));

  function across(power) {
    return ((100 * (Math.min(RIGHT, Math.max(LEFT, power)) - LEFT)) / (RIGHT - LEFT)).toFixed(2);
  }

  // The numbers ---------------------------------------------------------------------------------
  const rows = Object.entries(t.rows).map(([name, text]) => {
    const cells = ["prefill", "decode"].map((phase) => h("td", { "data-attn": `${phase}-${name}` }));
    return { name, cells, node: h("tr", {}, h("th", { scope: "row" }, text), cells) };
  });
  const table = h("table", { class: "attn-w-table attn-roof-table" },
    h("thead", {}, h("tr", {}, h("td", {}), t.head.map((text, i) => h("th", { scope: "col", "data-phase": ["prefill", "decode"][i] }, text)))),
    h("tbody", {}, rows.map(({ node }) => node)));
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function update() {
    const settings = read();
    const [made, card] = [models[settings.model], cards[settings.card]];
    const [, top, bandwidth, room, price] = card;
    const counted = counts(made, settings.batch, settings.context, settings.bits);
    const found = { prefill: at(counted.prefill, card), decode: at(counted.decode, card) };
    for (const { name, pick } of picks) pick.value = settings[name];
    bits.querySelectorAll("input").forEach((input) => { input.checked = input.value === String(settings.bits); });
    for (const { name, steps, input, shown } of sliders) {
      input.value = steps.indexOf(settings[name]);
      input.setAttribute("aria-valuetext", settings[name]);
      put(shown, grouped(settings[name]));
    }
    // The peak is at 12 of 100, and the floor, at 98, is 3.4 decades below it.
    const high = (speed) => Math.min(98, 12 + (86 * Math.log10(top / speed)) / 3.4);
    const ridge = Math.log10(top / bandwidth);
    line.setAttribute("d", `M${across(ridge - 3.6)} ${12 + (86 * Math.min(3.6, ridge - LEFT)) / 3.4}L${across(ridge)} 12H100`);
    grid.setAttribute("d", [0, 1, 2, 3, 4, 5].map((power) => `M${across(power)} 0V100`).join("") + "M0 100H100");
    const place = (node, { intensity, speed }) => {
      node.style.left = `${across(Math.log10(intensity))}%`;
      node.style.top = `${high(speed).toFixed(2)}%`;
    };
    others.forEach((node, i) => place(node, at(counts(made, BATCHES[i], settings.context, settings.bits).decode, card)));
    const used = counted.weights + counted.cache;
    const fits = used <= room;
    points.forEach(({ name, point, text }) => {
      [point, text].forEach((node) => place(node, found[name]));
      point.toggleAttribute("data-out", !fits);
      text.toggleAttribute("data-left", Number(across(Math.log10(found[name].intensity))) > 60);
    });
    put(peak, measure(top, "FLOP/s"));
    slope.style.width = flat.style.left = `${across(ridge)}%`;
    const say = {
      flops: (x) => measure(x, "FLOP"), bytes: (x) => measure(x, "B"), intensity: (x) => grouped(x >= 100 ? Math.round(x) : Number(x.toPrecision(3))),
      seconds: (x) => duration(x, t), million: (x) => duration(x, t), cost: (x) => (price ? `$${money(x)}` : "—"),
    };
    for (const one of Object.values(found)) one.cost = (one.million * price) / 3600;
    for (const { name, cells } of rows) cells.forEach((cell, i) => put(cell, say[name](Object.values(found)[i][name])));
    put(summary, words(counted, found.decode, { top, used, room, fits }));
    model.set("seconds", [found.prefill.seconds, found.decode.seconds]);
    if (own()) try { history.replaceState(history.state, "", addressOf(location.href, settings, start)); } catch { /* The address stays as it was. */ }
  }

  const grouped = (x) => (x >= 10000 ? String(x).replace(/\B(?=(\d{3})+$)/g, "\u202f") : String(x));
  const money = (x) => (x >= 100 ? x.toFixed(0) : x >= 0.1 ? x.toFixed(2) : Number(x.toPrecision(2)).toFixed(x < 0.01 ? 4 : 3));
  function words({ weights, cache }, decode, { top, used, room, fits }) {
    const share = (100 * decode.speed) / top;
    const idle = fill(t.bound, { share: fill(t.percent, { n: share < 9.5 ? Number(share.toPrecision(1)) : Math.min(99, Math.round(share)) }) });
    return [fill(fits ? t.memory : t.out, { used: measure(used, "B"), room: measure(room, "B") }), share > 99.9 ? t.computes : idle,
      cache > weights ? t.cache : cache < weights / 10 ? t.weights : t.mixed].join(" ");
  }

  // Only the first roofline figure of a page reads and writes the URL, and none does in a notebook.
  const own = () => fallback && document.querySelector("[data-anywidget=roofline_explorer]") === fallback.parentElement;
  let due = false;
  const soon = () => { // A touch may change several traits, and the figure is drawn once.
    if (due) return;
    due = true;
    queueMicrotask(() => {
      due = false;
      update();
      live.say(summary.textContent);
    });
  };
  el.append(h("div", { class: "attn-w attn-roof", lang: language, role: "group", "aria-label": t.title, "data-attn": "roofline" },
    h("div", { class: "attn-roof-controls" }, picks.map(({ node }) => node), bits, sliders.map(({ node }) => node)),
    h("div", { class: "attn-roof-stage" }, chart, h("div", {}, table, summary)), live.node));
  if (own()) set(settingsIn(location.search, start, models.length, cards.length));
  update();
  return watch(model, NAMES, soon);
}

export default { render };
