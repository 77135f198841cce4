// The drawing of the machine at work: a sentence passes through it step by step, and the active
// parts are lit.
import { directions, otherLanguage } from "./direction.js";
import { ACTING, around, journey, named, namedAll, stepsOf } from "./journey.js";
import { STRINGS } from "./live_machine_text.js";
import { progressBar } from "./loading.js";
import { announcer, examples, fill, format, h, put, uid } from "./shared.js";
import { textOf } from "./tokenizer.js";
import { encodeSource } from "./trained.js";

const PACES = { slow: 4500, normal: 2200, fast: 800 }; // A step lasts this many milliseconds.
const ROWS = 5;
const SHOWN = 3; // This many components of a vector are shown.
const TEXTS = { query: "query_", mean: "mean_" }; // Two steps have the names of other texts of the figure, so their texts have other keys.

function render({ model, el, fallback }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const { tokenizer: kind, megabytes } = model.get("pretrained");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const way = directions(model, turned);
  let numbers = model.get("journey");
  let said = { text: textOf(numbers.source, kind), from: way.from, isOther: false }; // What is shown, and whether it seems to be of another language.
  let steps = stepsOf(numbers);
  let at = 0;
  let timer;
  let pace = still.matches ? "slow" : "normal";
  let wishes = 0;

  // The sentence -----------------------------------------------------------------
  const live = announcer();
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const bar = progressBar(t, megabytes, (text) => put(note, text));
  put(note, bar.told(t.ready));
  const input = h("input", {
    type: "text", id: uid(), class: "attn-live-input", lang: way.from, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    value: said.text, "data-attn": "sentence",
  });
  const [label, picker] = examples(t, way.options(), (text) => {
    input.value = text;
    wish();
  });
  const asked = h("label", { for: input.id, class: "attn-w-label" }, way.told(t.sentence));
  label.className = "attn-w-hidden";
  const form = h("form", {
    class: "attn-tour-form", novalidate: true,
    onsubmit: (event) => {
      event.preventDefault();
      wish();
    },
  }, h("div", { class: "attn-w-asked" }, asked, way.node), input,
  h("button", { class: "attn-w-button", "data-attn": "translate" }, t.translate), label, picker);

  /** After a change of direction, replace the shown sentence by its translation; keep what the reader has typed since. */
  function turned(keep) {
    way.swap(input, said, textOf(numbers.target, kind), keep);
    input.lang = way.from;
    put(asked, way.told(t.sentence));
    way.refill(picker);
    wish(keep.isPlayed);
  }
  async function wish(isPlayed = true) {
    const turn = ++wishes;
    stop();
    note.removeAttribute("data-bad");
    let translator;
    try {
      translator = await way.load(bar.show);
    } catch (error) {
      console.warn(error.message);
    }
    bar.hide();
    if (turn !== wishes) return; // A newer sentence has been submitted meanwhile.
    if (!translator) return refuse(bar.told(t.failed));
    const { ids, tooLong } = encodeSource(translator, input.value);
    if (!ids.length) return refuse(way.told(t.empty));
    if (tooLong) return refuse(fill(t.tooLong, { count: ids.length, most: translator.maxLen }));
    numbers = journey(translator, ids);
    steps = stepsOf(numbers);
    slider.max = steps.length;
    const { isOther, parts } = way.remark(input.value, translator);
    said = { text: input.value, from: way.from, isOther };
    note.replaceChildren(way.told(t.here, { count: ids.length, written: numbers.target.length }), ...parts);
    go(0, true);
    if (isPlayed && !still.matches) play();
  }
  function refuse(text) {
    note.setAttribute("data-bad", "");
    put(note, text);
    live.say(text);
  }

  // The way through it -------------------------------------------------------------
  const button = (name, sign, act) => h("button", { type: "button", class: "attn-w-button", "aria-label": t[name], title: t[name], "data-attn": name, onclick: act },
    h("span", { "aria-hidden": "true" }, sign));
  const by = (distance) => () => {
    stop();
    go(at + distance);
  };
  const back = button("back", "←", by(-1));
  const forward = button("forward", "→", by(1));
  const toggle = h("button", { type: "button", class: "attn-w-button attn-tour-play", "data-attn": "play", onclick: () => (timer ? stop() : play()) });
  const skip = button("skip", "⇥", () => {
    stop();
    const next = steps.findIndex(({ kind }, i) => i > at && ["word", "stop"].includes(kind));
    if (next > 0) go(next);
  });
  skip.prepend(h("span", { class: "attn-tour-long", "aria-hidden": "true" }, t.skip, " "));
  const slider = h("input", {
    type: "range", min: 1, max: steps.length, value: 1, "aria-label": t.step, "data-attn": "step",
    oninput: () => {
      stop();
      go(slider.value - 1);
    },
  });
  const count = h("span", { class: "attn-w-number attn-w-label", "aria-hidden": "true", "data-attn": "count" });
  const paces = h("select", {
    class: "attn-live-input", "aria-label": t.speed, "data-attn": "pace", "data-lm-suppress-shortcuts": "true",
    onchange: () => {
      pace = paces.value;
      if (timer) play();
    },
  }, Object.keys(PACES).map((name) => h("option", { value: name, selected: name === pace }, t[name])));

  function play() {
    clearInterval(timer);
    if (at === steps.length - 1) go(0);
    timer = setInterval(() => {
      go(at + 1, steps[at + 1]?.kind !== "word"); // A screen reader is told each new word, not each step.
      if (at === steps.length - 1) stop();
    }, PACES[pace]);
    root.toggleAttribute("data-playing", true);
    put(toggle, t.pause);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    root.removeAttribute("data-playing");
    put(toggle, t.play);
  }
  function go(to, quiet = false) {
    at = Math.max(0, Math.min(steps.length - 1, to));
    draw();
    if (!quiet) live.say(told());
  }

  // Drawing -------------------------------------------------------------------
  const title = h("b", { "data-attn": "step-title" });
  const text = h("span", { "data-attn": "step-text" });
  const chapter = h("a", { "data-attn": "chapter" });
  const caption = h("p", { class: "attn-tour-caption" }, title, " ", text, " ", chapter);
  const unit = h("p", { class: "attn-w-label", "data-attn": "unit" });
  const list = h("ol", { "data-attn": "rows" });
  const panel = h("div", { class: "attn-tour-panel", role: "group", "aria-label": t.numbers, "data-attn": "panel" }, unit, list);
  const output = h("p", { class: "attn-tour-output", lang: way.to, "data-attn": "output" });
  const soFar = h("div", { class: "attn-tour-said" }, h("p", { class: "attn-w-label" }, t.written), output);
  const stage = h("div", { class: "attn-tour-stage", "data-attn": "stage" }, drawing(fallback, model));
  const bounds = new Map(Object.values(ACTING).flat().map((name) => [name, [...stage.querySelectorAll(`.at-${name}`)]]));

  function draw() {
    const step = steps[at];
    const shown = show(numbers, step, t);
    put(title, `${fill(shown.title, shown.values)}.`);
    put(text, way.told(shown.text, shown.values, said.from));
    put(unit, shown.unit);
    list.replaceChildren(...shown.rows.map(rowOf));
    slider.value = at + 1;
    slider.setAttribute("aria-valuetext", `${fill(t.of, { step: at + 1, count: steps.length })}: ${title.textContent}`);
    put(count, fill(t.of, { step: at + 1, count: steps.length }));
    back.setAttribute("aria-disabled", at === 0);
    for (const one of [forward, skip]) one.setAttribute("aria-disabled", at === steps.length - 1);
    light(step);
    write(step);
  }
  function light(step) {
    for (const nodes of bounds.values()) nodes.forEach((node) => node.classList.remove("lit"));
    for (const name of ACTING[step.kind]) bounds.get(name).forEach((node) => node.classList.add("lit"));
    const link = bounds.get(ACTING[step.kind][0]).map((node) => node.closest("a")).find(Boolean);
    if (link.hasAttribute("href")) chapter.href = link.getAttribute("href");
    put(chapter, link.querySelector("title").textContent);
    reveal(ACTING[step.kind].flatMap((name) => bounds.get(name)).filter((node) => node.getClientRects().length));
    const { source, target, focus, embeddings, memory } = numbers;
    const written = step.word ?? 0;
    const read = ["<sos>", ...target.slice(0, written)];
    const [near, late] = [around(focus, 3, source.length), around(written, 3, read.length)];
    chips("encoder-source", near.map((i) => namedAll(source)[i]));
    chips("decoder-target", late.map((i) => namedAll(read)[i]));
    chips("decoder-next_word", [["word", "stop"].includes(step.kind) ? named(target[written], target[written - 1]) : "?"]);
    strips("encoder-embeddings", near.map((i) => embeddings.source[i]));
    strips("encoder-memory", near.map((i) => memory[i]));
    strips("decoder-embeddings", late.map((i) => embeddings.target[i]));
    const weights = "word" in step ? numbers.own : numbers.encoder[step.layer ?? 0].weights;
    const places = "word" in step ? late : near;
    const matrix = places.flatMap((i) => places.map((j) => weights[i][j]));
    for (const [name, strength] of [["weights", (w) => 0.06 + 0.94 * w], ["mask", (w) => (w > 0 ? 0.4 : 0.06)]]) {
      icons(name).forEach((cell, i) => cell.setAttribute("opacity", places.length < 3 ? 0.4 : strength(matrix[i % 9]).toFixed(2)));
    }
  }
  /** Scroll the drawing, which on a phone is taller than its box, until the lit parts are in the middle. */
  function reveal(nodes) {
    const node = nodes.find((one) => one.matches(".box")) ?? nodes[0];
    if (!node || stage.scrollHeight <= stage.clientHeight) return;
    const [box, part] = [stage, node].map((one) => one.getBoundingClientRect());
    stage.scrollTo({ top: stage.scrollTop + part.top + part.height / 2 - box.top - box.height / 2, behavior: still.matches ? "auto" : "smooth" });
  }
  const icons = (name) => [...stage.querySelectorAll(`.icon.at-inside-${name}`)];
  /** Write the words into the chips of a part, in both layouts. A chip without a word is faint. */
  function chips(part, words) {
    for (const svg of stage.querySelectorAll("svg")) {
      [...svg.querySelectorAll(`rect.at-${part} + text`)].forEach((node, i) => {
        put(node, fitted(words[i] ?? "", node.previousSibling.getAttribute("width") - 7, node));
        node.previousSibling.setAttribute("opacity", words[i] ? 1 : 0.35);
      });
    }
  }
  function strips(part, rows) {
    for (const svg of stage.querySelectorAll("svg")) {
      const cells = [...svg.querySelectorAll(`.cell.at-${part}`)];
      const length = cells.length / 3;
      cells.forEach((cell, i) => {
        const row = rows[Math.floor(i / length)];
        const share = row ? Math.abs(row[i % length]) / Math.max(...row.map(Math.abs)) : 0;
        cell.setAttribute("opacity", row ? (0.12 + 0.88 * share).toFixed(2) : 0.06);
      });
    }
  }
  /** Show the translation so far, with the newest token marked. */
  function write(step) {
    const done = ["word", "stop"].includes(step.kind) ? step.word + 1 : step.word ?? 0;
    const before = textOf(numbers.target.slice(0, Math.max(0, done - 1)), kind);
    const all = textOf(numbers.target.slice(0, done), kind);
    output.toggleAttribute("data-nothing", done === 0);
    output.lang = done ? otherLanguage(said.from) : language;
    output.replaceChildren(...(done ? [before, h("mark", {}, all.slice(before.length))] : [t.nothing]));
  }
  function told() {
    const rows = [...list.children].slice(0, 3).map((row) => row.textContent.trim()).join("; ");
    return `${title.textContent} ${text.textContent} ${unit.textContent}: ${rows}.`;
  }

  const root = h("div", {
    class: "attn-w attn-tour", lang: language, role: "group", "aria-label": t.title, "data-attn": "live-machine",
  }, h("div", { class: "attn-tour-body" },
    h("div", { class: "attn-tour-controls" }, back, toggle, forward, skip, slider, count, paces), caption, panel, stage, soFar), form, note, bar.node, live.node);
  el.append(root);
  stop();
  draw();
  /** Take the sentence of another figure of the page, when its reader requests it or comes here. */
  let waiting = null;
  let isNear = false;
  function follow() {
    const { text: asked_, from } = waiting;
    waiting = null;
    if (asked_ === said.text && from === said.from) return;
    input.value = asked_;
    if (!way.turn(from, { isPlayed: false })) wish(false);
  }
  function heard({ detail }) {
    waiting = detail;
    if (detail.isAsked) {
      root.scrollIntoView({ behavior: still.matches ? "auto" : "smooth", block: "start" });
      toggle.focus({ preventScroll: true });
    }
    if (detail.isAsked || isNear) follow();
  }
  const watcher = new IntersectionObserver((entries) => {
    isNear = entries.at(-1).isIntersecting;
    if (isNear && waiting) follow();
  }, { rootMargin: "50%" });
  watcher.observe(root);
  document.addEventListener("attn-sentence", heard);
  return () => {
    stop();
    watcher.disconnect();
    document.removeEventListener("attn-sentence", heard);
  };
}

/** Return the drawing that the page shows without a script, or the one that a kernel has sent. */
function drawing(fallback, model) {
  const found = fallback?.querySelector(".attn-machine")?.cloneNode(true);
  if (found) {
    found.querySelectorAll("[id]").forEach((node) => node.removeAttribute("id")); // The original in the fallback keeps its ids.
    return found;
  }
  const box = document.createElement("template");
  box.innerHTML = model.get("drawing");
  box.content.querySelectorAll("a").forEach((link) => link.removeAttribute("href")); // The linked pages exist on the site alone.
  return box.content;
}

let ruler; // A canvas, which can measure a text that is not shown.
function fitted(word, width, node) {
  ruler ??= document.createElement("canvas").getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(node);
  ruler.font = `650 ${fontSize || "13px"} ${fontFamily || "sans-serif"}`;
  let letters = [...word];
  while (letters.length > 1 && ruler.measureText(letters.join("")).width > width) letters = [...letters.slice(0, -2), "…"];
  return letters.join("");
}

// The numbers of a step ------------------------------------------------------------

/** { title, text, values, unit, rows }; a row is { name, numbers } or { name, text, share }, perhaps with a hue. */
export function show(all, step, t) {
  const { source, target, sizes, focus, other, head, inside } = all;
  const { kind, layer = 0, word = 0 } = step;
  const names = namedAll(source);
  const read = ["<sos>", ...target.slice(0, word)];
  const said = namedAll(read);
  const near = around(focus, ROWS, source.length);
  const late = around(word, ROWS, read.length);
  const [top] = all.best[word];
  const values = {
    count: "word" in step ? word + 1 : source.length, vocab: sizes.vocab_size, d: sizes.d_model, layer: layer + 1, layers: sizes.n_layers, heads: sizes.n_heads,
    head: head + 1, dk: sizes.d_model / sizes.n_heads, focus: source[focus].trim(), other: source[other].trim(), share: format(inside.weights[other]),
    before: read.at(-1).trim(), word: target[word].trim(), chance: format(all.best[word][0][2]),
  };
  const vectors = (places, labels, from) => places.map((i) => ({ name: labels[i], numbers: from[i] }));
  const best = (row, labels) => [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, ROWS)
    .map((i) => ({ name: labels[i], share: row[i], text: format(row[i]) }));
  const candidates = (column) => all.best[word].map(([token, logit, share]) =>
    ({ name: named(token, target[word - 1]), text: format([logit, share][column]), share: column ? share : null, chosen: token === top[0] }));
  const lines = {
    tokens: () => [t.ids, near.map((i) => ({ name: names[i], text: String(all.source_ids[i]) }))],
    embeddings: () => [t.moreNumbers, vectors(near, names, all.embeddings.source)],
    positions: () => [t.angles, near.map((i) => ({ name: names[i], numbers: turnsOf(i, sizes.d_model / sizes.n_heads), degrees: true }))],
    attention: () => [t.share, best(all.encoder[layer].weights[focus], names)],
    thought: () => {
      const [before, after] = [all.encoder[layer].attention[focus], all.encoder[layer].feed_forward[focus]];
      return [t.moreNumbers, [{ name: t.before, numbers: before }, { name: t.added, numbers: after.map((x, i) => x - before[i]) }, { name: t.after, numbers: after }]];
    },
    query: () => [t.moreNumbers, [
      { name: t.query, numbers: inside.query, hue: "query" }, { name: t.key, numbers: inside.key[other], hue: "key" }, { name: t.value, numbers: inside.value[other], hue: "value" }]],
    scores: () => [t.score, best(inside.scores, names).map((row) => ({ ...row, share: null }))],
    weights: () => [t.share, best(inside.weights, names)],
    mean: () => [t.moreNumbers, [
      { name: t.mean, numbers: inside.mean, hue: "value" }, { name: t.projected, numbers: inside.output }, { name: t.stream, numbers: all.encoder[layer].attention[focus] }]],
    memory: () => [t.moreNumbers, vectors(near, names, all.memory)],
    start: () => [t.moreNumbers, vectors(late, said, all.embeddings.target)],
    loop: () => [t.moreNumbers, vectors(late, said, all.embeddings.target)],
    causal: () => [t.share, best(all.own[word].slice(0, word + 1), said)],
    cross: () => [t.share, best(all.cross[word], names)],
    last: () => [t.moreNumbers, [{ name: said.at(-1), numbers: all.x[word] }]],
    logits: () => [t.logit, candidates(0)],
    softmax: () => [t.probability, candidates(1)],
    word: () => [t.probability, candidates(1)],
    stop: () => [t.probability, candidates(1)],
  };
  const [unit, rows] = lines[kind]();
  const [title, text] = t[TEXTS[kind] ?? kind];
  return { title, text, values, unit: fill(unit, { count: sizes.d_model }), rows };
}

/** Return by how many degrees rotary positions turn the first pairs of a query or a key. */
const turnsOf = (position, d) => Array.from({ length: SHOWN }, (_, i) => ((position / 10000 ** ((2 * i) / d)) * 180) / Math.PI % 360);

function rowOf({ name, numbers, text, share = null, hue, chosen, degrees }) {
  const label = h("span", { class: `attn-tour-name${hue ? ` attn-w-${hue}` : ""}` }, name);
  if (numbers) {
    return h("li", {}, label, " ", h("span", { class: "attn-tour-vector" }, numbers.slice(0, SHOWN).map((x) =>
      [h("span", { class: "attn-w-number" }, degrees ? `${Math.round(x)}°` : format(x, Math.abs(x) < 10 ? 2 : 1)), " "])));
  }
  return h("li", { "data-chosen": Boolean(chosen) }, label, " ",
    h("span", { class: "attn-tour-share", "aria-hidden": "true" }, share === null ? null : h("i", { style: `width: ${(100 * share).toFixed(1)}%` })),
    " ", h("span", { class: "attn-w-number", "data-value": share ?? "" }, text));
}

export default { render };
