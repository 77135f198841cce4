// A softmax that reads its scores tile by tile, and keeps three numbers: the largest score, a sum and an output.
import { announcer, fill, format, h, put, radios, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Una softmax por losetas", scores: "Puntajes", values: "Values", tile: "Loseta", base: "Base", next: "Siguiente", back: "Atrás", play: "Hasta el final", again: "Desde el principio",
    chart: "Puntajes, su máximo hasta ahora y sus potencias", head: ["antes", "se corrige", "loseta", "ahora"],
    rows: { peak: "máximo *m*", total: "suma *l*", output: "salida *o*" }, start: "Aún no se ha leído nada. La primera loseta tiene {n} puntajes.",
    kept: "El máximo sigue en {peak}: lo guardado se queda como está.", raised: "El máximo sube de {old} a {peak}: lo guardado se multiplica por {factor}.", first: "Es la primera loseta: el máximo es {peak}.",
    left: "Faltan {n} puntajes por leer, y solo hay guardados 3 números.", one: "Falta 1 puntaje por leer, y solo hay guardados 3 números.",
    end: "Se acabó: *o/l* = {result}, lo mismo que da la softmax de la fila entera, {whole}.", few: "Escribe de 2 a 8 números entre −20 y 20, separados por espacios o comas, y la misma cantidad en las dos líneas.",
  },
  en: {
    title: "A softmax by tiles", scores: "Scores", values: "Values", tile: "Tile", base: "Base", next: "Next", back: "Back", play: "To the end", again: "From the start",
    chart: "Scores, the largest so far and their powers", head: ["before", "corrected", "tile", "now"],
    rows: { peak: "largest *m*", total: "sum *l*", output: "output *o*" }, start: "Nothing has been read yet. The first tile has {n} scores.",
    kept: "The largest is still {peak}: what was kept holds as it is.", raised: "The largest rises from {old} to {peak}: what was kept is multiplied by {factor}.", first: "This is the first tile: its largest score is {peak}.",
    left: "There are {n} scores still to read, and only 3 numbers are kept.", one: "There is 1 score still to read, and only 3 numbers are kept.",
    end: "Done: *o/l* = {result}, the same as the softmax of the whole row gives, {whole}.", few: "Write from 2 to 8 numbers, with spaces or commas between them; as many on both lines, and from −20 to 20.",
  },
};

export const TILES = [1, 2, 4];
export const BASES = ["2", "e"];
const MOST = 8;
export const LARGEST = 20;
const NAMES = ["scores", "values", "tile", "base", "step"]; // The parameters of the URL's query string.
const POWER = { 2: (x) => 2 ** x, e: Math.exp };

/** The state after each tile, first the empty one: its peak, total and output; and how it was computed. */
export function walk(scores, values, tile, base) {
  const power = POWER[base];
  const kept = [{ peak: -Infinity, total: 0, output: 0 }];
  for (let from = 0; from < scores.length; from += tile) {
    const old = kept.at(-1);
    const own = scores.slice(from, from + tile);
    const peak = Math.max(old.peak, ...own);
    const factor = old.peak === -Infinity ? 0 : power(old.peak - peak);
    const powers = own.map((s) => power(s - peak));
    const added = { total: powers.reduce((a, b) => a + b, 0), output: powers.reduce((a, p, i) => a + p * values[from + i], 0) };
    kept.push({
      peak, factor, powers, from, added, corrected: { total: old.total * factor, output: old.output * factor },
      total: old.total * factor + added.total, output: old.output * factor + added.output,
    });
  }
  return kept;
}

/** The mean of the values with the softmax of all scores at once. */
export function whole(scores, values, base) {
  const top = Math.max(...scores);
  const powers = scores.map((s) => POWER[base](s - top));
  return powers.reduce((a, p, i) => a + p * values[i], 0) / powers.reduce((a, b) => a + b, 0);
}

/** The numbers of a line; null if they are not from two to eight, or one is out of bounds. */
export function numbersIn(line) {
  const words = line.replaceAll("−", "-").split(/[\s,;|]+/).filter(Boolean);
  const found = words.map(Number);
  return words.length >= 2 && words.length <= MOST && found.every((x) => Math.abs(x) <= LARGEST) ? found : null;
}

/** The settings that the URL's query string holds, over those of the page; invalid ones are left out. */
export function settingsIn(search, start) {
  const said = new URLSearchParams(search);
  const found = { ...start };
  const [scores, values] = ["scores", "values"].map((name) => numbersIn(said.get(name) ?? "") ?? start[name]);
  if (scores.length === values.length) Object.assign(found, { scores, values });
  if (TILES.includes(Number(said.get("tile")))) found.tile = Number(said.get("tile"));
  if (BASES.includes(said.get("base"))) found.base = said.get("base");
  const step = Number(said.get("step") ?? start.step);
  if (Number.isInteger(step) && step >= 0) found.step = Math.min(step, Math.ceil(found.scores.length / found.tile));
  return found;
}

/** The URL that restores the settings; without a query string if they are those of the page. */
export function addressOf(href, settings, start) {
  const url = new URL(href);
  for (const name of NAMES) {
    const [x, first] = [settings, start].map((all) => [all[name]].flat().join(" "));
    if (x !== first) url.searchParams.set(name, x);
    else url.searchParams.delete(name);
  }
  return url.href;
}

function render({ model, el, fallback }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const live = announcer();
  const read = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const start = read();
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
  };
  const set = (changed) => {
    for (const [name, x] of Object.entries(changed)) model.set(name, x);
    model.save_changes();
  };
  const rich = (text) => text.split(/\*([^*]+)\*/).map((part, i) => (i % 2 ? h("em", {}, part) : part));
  const number = (x) => (x === -Infinity ? "−∞" : format(Math.round(1000 * x) / 1000, Number.isInteger(Math.round(1000 * x) / 1000) ? 0 : 3).replace(/(\.\d*?)0+$/, "$1"));

  // Controls ------------------------------------------------------------------------------------
  const lines = ["scores", "values"].map((name) => {
    const id = uid();
    const input = h("input", { type: "text", id, class: "attn-live-input", inputmode: "text", autocomplete: "off", spellcheck: "false", "data-attn": name, onchange: () => taken(), oninput: () => taken() });
    return { name, input, node: h("div", {}, h("label", { for: id, class: "attn-w-label" }, t[name]), input) };
  });
  const shown = (name) => model.get(name).map((x) => String(x).replace("-", "−")).join(" ");
  function taken() {
    stop();
    const [scores, values] = lines.map(({ input }) => numbersIn(input.value));
    const fits = scores && values && scores.length === values.length;
    lines.forEach(({ input }, i) => input.setAttribute("aria-invalid", ![scores, values][i] || Boolean(scores && values && !fits)));
    if (fits) {
      set({ scores, values, step: 0 });
      soon();
    } else {
      put(summary, t.few);
      live.say(t.few);
    }
  }
  const tile = radios(t.tile, "tile", TILES.map((n) => [n, String(n)]), model.get("tile"), (n) => { stop(); set({ tile: Number(n), step: 0 }); });
  const base = radios(t.base, "base", BASES.map((n) => [n, n]), model.get("base"), (n) => set({ base: n }));
  const steps = () => Math.ceil(model.get("scores").length / model.get("tile"));
  const move = (by) => set({ step: Math.max(0, Math.min(steps(), model.get("step") + by)) });
  const play = () => {
    stop();
    if (model.get("step") >= steps()) set({ step: 0 });
    if (globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches) return set({ step: steps() });
    move(1);
    timer = setInterval(() => {
      move(1);
      if (!el.isConnected || model.get("step") >= steps()) stop();
    }, 900);
  };
  const buttons = [[t.next, "next", () => { stop(); move(1); }], [t.back, "back", () => { stop(); move(-1); }], [t.play, "play", play]]
    .map(([text, hook, act]) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: (event) => {
      if (event.currentTarget.getAttribute("aria-disabled") !== "true") act();
    } }, text));

  // The scores ----------------------------------------------------------------------------------
  const columns = Array.from({ length: MOST }, () => {
    const [bar, power, peak] = [h("b", {}), h("u", {}), h("i", {})];
    const [score, weight] = [h("span", {}), h("span", { class: "attn-tile-power" })];
    return { bar, power, peak, score, weight, node: h("div", { class: "attn-tile-column" }, h("span", { class: "attn-tile-bar" }, bar, power, peak), score, weight) };
  });
  const chart = h("div", { class: "attn-tile-chart", role: "img", "aria-label": t.chart }, columns.map(({ node }) => node));
  const cells = Object.fromEntries(Object.keys(t.rows).map((name) => [name, t.head.map((_, i) => h("td", { "data-attn": `${name}-${["before", "corrected", "tile", "now"][i]}` }))]));
  const table = h("table", { class: "attn-w-table attn-tile-table" },
    h("thead", {}, h("tr", {}, h("td", {}), t.head.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, Object.entries(t.rows).map(([name, text]) => h("tr", {}, h("th", { scope: "row" }, rich(text)), cells[name]))));
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function update() {
    const { scores, values, tile: size, base: kind, step } = read();
    const kept = walk(scores, values, size, kind);
    const [now, before] = [kept[step], kept[step - 1]];
    for (const { name, input } of lines) {
      input.setAttribute("aria-invalid", false);
      if (document.activeElement !== input) input.value = shown(name);
    }
    [[tile, size], [base, kind]].forEach(([group, x]) => group.querySelectorAll("input").forEach((input) => { input.checked = input.value === String(x); }));
    const [least, most] = [Math.min(0, ...scores), Math.max(...scores)];
    const height = (x) => (100 * (x - least + 0.6)) / (most - least + 0.6 || 1);
    columns.forEach(({ bar, power, peak, score, weight, node }, i) => {
      node.hidden = i >= scores.length;
      if (node.hidden) return;
      const tiled = Math.floor(i / size);
      node.dataset.tile = tiled < step - 1 ? "done" : tiled === step - 1 ? "now" : "ahead";
      node.toggleAttribute("data-first", i > 0 && i % size === 0);
      bar.style.height = `${height(scores[i])}%`;
      // The power of a score that has been read, relative to the largest so far.
      const p = tiled < step ? POWER[kind](scores[i] - now.peak) : 0;
      power.style.height = `${height(scores[i]) * p}%`;
      peak.hidden = !step;
      if (step) peak.style.bottom = `${height(now.peak)}%`;
      put(peak, i === scores.length - 1 ? "m" : "");
      put(score, number(scores[i]));
      put(weight, tiled < step ? number(p) : "\u00a0");
    });
    const told = (name) => (step ? [number(before[name]), name === "peak" ? `×${number(now.factor)}` : number(now.corrected[name]),
      name === "peak" ? number(Math.max(...scores.slice(now.from, now.from + size))) : `+${number(now.added[name])}`.replace("+−", "−"), number(now[name])] : ["", "", "", name === "peak" ? "−∞" : "0"]);
    for (const [name, row] of Object.entries(cells)) row.forEach((cell, i) => put(cell, told(name)[i]));
    buttons[0].setAttribute("aria-disabled", step >= steps());
    buttons[1].setAttribute("aria-disabled", step === 0);
    put(buttons[2], step >= steps() ? t.again : t.play);
    summary.replaceChildren(...rich(words(scores, values, size, kind, step, kept)));
    model.set("output", step ? now.output / now.total : 0);
    if (own()) try { history.replaceState(history.state, "", addressOf(location.href, read(), start)); } catch { /* The address stays as it was. */ }
  }

  function words(scores, values, size, kind, step, kept) {
    if (!step) return fill(t.start, { n: Math.min(size, scores.length) });
    const [now, before] = [kept[step], kept[step - 1]];
    const how = step === 1 ? fill(t.first, { peak: number(now.peak) }) : now.peak === before.peak ? fill(t.kept, { peak: number(now.peak) })
      : fill(t.raised, { old: number(before.peak), peak: number(now.peak), factor: number(now.factor) });
    const n = scores.length - now.from - now.powers.length;
    return `${how} ${n > 0 ? fill(n > 1 ? t.left : t.one, { n }) : fill(t.end, { result: number(now.output / now.total), whole: number(whole(scores, values, kind)) })}`;
  }

  // Only the first tile figure of a page reads and writes the URL, and none does in a notebook.
  const own = () => fallback && document.querySelector("[data-anywidget=tile_explorer]") === fallback.parentElement;
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
  el.append(h("div", { class: "attn-w attn-tiles", lang: language, role: "group", "aria-label": t.title, "data-attn": "tiles" },
    h("div", { class: "attn-tile-controls" }, lines.map(({ node }) => node), h("div", {}, tile, base)),
    h("div", { class: "attn-tile-stage" }, h("div", {}, chart, h("div", { class: "attn-state-buttons" }, buttons)), h("div", {}, table, summary)), live.node));
  if (own()) set(settingsIn(location.search, start));
  update();
  const unwatch = watch(model, NAMES, soon);
  return () => {
    stop();
    unwatch();
  };
}

export default { render };
