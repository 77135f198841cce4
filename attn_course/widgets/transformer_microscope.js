// Follows one sentence through the whole trained model: every stage, every number, and its computation.
import { anatomy, contributions, dissect, explain, inHeads, kindOf, numbers, rowsOf, total } from "./anatomy.js";
import { directions } from "./direction.js";
import { progressBar } from "./loading.js";
import { CODE, EQUATIONS, STRINGS } from "./microscope_text.js";
import { announcer, examples, fill, format, formatBrief, h, put, rich, roving, scroller, uid, visible } from "./shared.js";
import { textOf } from "./tokenizer.js";
import { encodeSource } from "./trained.js";

const SIGNS = { x: "x", w: "w", q: "q", k: "k", a: "α", v: "v", h: "h", f: "f", turn: "cos, sin" };
const N_CANDIDATES = 10;
const FEW = 6; // At first, this many terms of a sum are shown.

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const example = model.get("example");
  const { tokenizer: kind, megabytes } = model.get("pretrained");
  const sentenceOf = (tokens) => (kind === "bpe" ? textOf(tokens, kind) : tokens.join(" "));
  const first = sentenceOf(example.source);
  const way = directions(model, null, first);
  let trace = preview(example, kind);
  let parts = anatomy(trace.model?.config ?? { nLayers: example.encoder.length, norm: "pre", positions: "rotary" });
  const at = { part: parts.findLastIndex(({ part }) => part === "crossAttention"), step: 0, head: 0, rows: { encoder: 0, decoder: 0 }, cell: null, all: false };
  at.step = parts[at.part].steps.indexOf("weights");
  let peeked = null; // The number under the mouse, or null.
  let translator = null;
  let busy = false;

  // The sentence -----------------------------------------------------------------
  const live = announcer();
  const id = uid();
  const text = h("input", { type: "text", id, class: "attn-live-input", value: first, lang: way.from, autocomplete: "off", spellcheck: "false", "data-attn": "sentence" });
  const complaint = h("p", { class: "attn-micro-complaint", role: "alert", "data-attn": "complaint" });
  const said = h("p", { class: "attn-micro-said", "data-attn": "said" });
  const opener = h("button", { type: "button", class: "attn-w-button attn-micro-main", "data-attn": "open", onclick: () => run() }, t.open);
  const news = h("p", { "data-attn": "news" });
  const bar = progressBar(t, megabytes, (text) => put(news, text));
  put(news, bar.told(t.precomputed));
  const preface = h("div", { class: "attn-micro-preface" }, news, opener, bar.node);
  const picker = examples(t, way.options(), (sentence) => {
    text.value = sentence;
    run();
  });
  const form = h("form", {
    class: "attn-live-form", onsubmit: (event) => {
      event.preventDefault();
      run();
    },
  }, h("label", { for: id, class: "attn-w-label" }, way.told(t.sentence)), text,
  h("button", { type: "submit", class: "attn-w-button", "data-attn": "translate" }, t.translate),
  picker[1].length > 2 ? picker : null); // One option is the prompt to choose, and one is the example.

  async function run({ quiet = false } = {}) {
    if (busy) return;
    busy = true;
    const pressed = document.activeElement === opener;
    put(complaint, "");
    put(opener, t.opening);
    try {
      translator ??= await way.load(bar.show);
      const fault = read();
      put(complaint, fault);
      if (!fault && !quiet) live.say(fill(t.opened, { said: said.textContent }));
    } catch (error) {
      put(complaint, `${bar.told(t.failed)} ${error.message}`);
    }
    bar.hide();
    put(news, bar.told(t.precomputed));
    put(opener, t.open);
    busy = false;
    draw();
    if (pressed && !opener.isConnected) { // The pressed button is gone, so the focus moves to the controls that replaced it.
      [tabs.querySelector("[aria-selected=true]"), select].find((node) => node.offsetParent).focus();
    }
  }

  /** Trace the sentence through the model; return a message if it cannot be translated. */
  function read() {
    if (!text.value.trim()) return t.empty;
    const { ids, unknown, tooLong } = encodeSource(translator, text.value);
    if (unknown.length) return fill(t.unknown, { words: [...new Set(unknown.map(({ word }) => word))].join(", ") });
    if (!ids.length) return t.empty;
    if (tooLong) return fill(t.tooLong, { count: ids.length, most: translator.maxLen });
    const { part, side, layer, steps } = parts[at.part];
    const step = steps[at.step];
    trace = dissect(translator, ids);
    parts = anatomy(trace.model.config);
    at.part = Math.max(0, parts.findIndex((one) => one.part === part && one.side === side && one.layer === layer));
    at.step = Math.max(0, parts[at.part].steps.indexOf(step));
    at.head = Math.min(at.head, trace.model.config.nHeads - 1);
    for (const name of ["encoder", "decoder"]) at.rows[name] = Math.min(at.rows[name], trace.tokens[name].length - 1);
    Object.assign(at, { cell: null, all: false });
    preface.remove();
    return "";
  }

  // Where the reader is ------------------------------------------------------------
  const nameOf = (step) => t[`${step}Step`][0];
  const partName = ({ part, layer }) => (layer === undefined ? t[part] : `${fill(t.layer, { layer: layer + 1 })} · ${t[part]}`);
  const quoted = (side, i) => visible(trace.tokens[side][i]);
  const place = () => {
    const block = parts[at.part];
    const step = block.steps[at.step];
    const side = rowsOf(block, step);
    return { block, step, side, row: at.rows[side] };
  };

  function go(part, step) {
    Object.assign(at, { part, step, cell: null, all: false });
    draw();
    const { block } = place();
    live.say(`${t[block.side]}. ${partName(block)}: ${nameOf(block.steps[step])}.`);
    if (!trace.model && place().step !== "weights") run();
  }
  function turn(by) {
    let [part, step] = [at.part, at.step + by];
    if (step < 0) step = parts[--part]?.steps.length - 1;
    else if (step === parts[part].steps.length) [part, step] = [part + 1, 0];
    if (parts[part]) go(part, step);
  }
  function chooseRow(row) {
    at.rows[place().side] = row;
    if (kindOf(place().step) !== "vector") at.cell = null; // In a vector, the same component of the new row stays chosen.
    draw();
  }

  // The map, the stepper, the panel ---------------------------------------------------
  const map = h("nav", { class: "attn-micro-map", "aria-label": t.machine });
  const select = h("select", { "aria-label": t.stage, "data-attn": "stage", "data-lm-suppress-shortcuts": "true", onchange: () => go(...select.value.split(" ").map(Number)) });
  const arrow = (by, name, sign) => h("button", { type: "button", class: "attn-w-button", "aria-label": name, title: name, "data-attn": by < 0 ? "previous" : "next", onclick: () => turn(by) },
    h("span", { "aria-hidden": "true" }, sign));
  const [back, forth] = [arrow(-1, t.previous, "←"), arrow(1, t.next, "→")];
  const where = h("p", { class: "attn-micro-where" });
  const stepper = h("div", { class: "attn-micro-stepper" }, back, where, select, forth);
  const tabs = h("div", { class: "attn-micro-tabs", role: "tablist", "aria-label": t.steps });
  const panel = h("div", { class: "attn-micro-panel", role: "tabpanel", id: uid(), "data-attn": "panel" });
  const inspector = h("div", { class: "attn-micro-inspector", "data-attn": "inspector" });

  function drawMap() {
    const group = (side) => {
      const own = parts.map((part, i) => ({ ...part, i })).filter((part) => part.side === side);
      const layers = [...new Set(own.map(({ layer, part }) => layer ?? part))].map((name) => own.filter(({ layer, part }) => (layer ?? part) === name));
      return h("div", { class: "attn-micro-side", "data-side": side }, h("b", {}, t[side]),
        layers.map((some) => h("div", { class: "attn-micro-layer" },
          some[0].layer === undefined ? null : h("span", { class: "attn-w-label" }, fill(t.layer, { layer: some[0].layer + 1 })),
          some.map(({ part, i }) => h("button", {
            type: "button", "aria-current": i === at.part ? "step" : null, "aria-label": partName(parts[i]), "data-attn": "part", "data-key": `part ${i}`, "data-part": part,
            onclick: () => go(i, 0),
          }, t[part])))));
    };
    map.replaceChildren(group("encoder"), group("decoder"));
    const buttons = [...map.querySelectorAll("button")];
    roving(buttons, (i) => go(i, 0))(at.part);
  }

  function drawStepper() {
    const { block } = place();
    select.replaceChildren(...parts.map((part, i) => h("optgroup", { label: `${t[part.side].split(":")[0]} · ${partName(part)}` },
      part.steps.map((step, j) => h("option", { value: `${i} ${j}`, selected: i === at.part && j === at.step }, nameOf(step))))));
    where.replaceChildren(h("span", { class: "attn-w-label" }, t[block.side].split(":")[0]), " ", h("b", {}, partName(block)));
    back.setAttribute("aria-disabled", at.part === 0 && at.step === 0);
    forth.setAttribute("aria-disabled", at.part === parts.length - 1 && at.step === block.steps.length - 1);
    const buttons = block.steps.map((step, j) => h("button", {
      type: "button", role: "tab", id: `${panel.id}-${j}`, "aria-selected": String(j === at.step), "aria-controls": panel.id, "data-attn": "step", "data-step": step, "data-key": `step ${j}`,
      onclick: () => go(at.part, j),
    }, rich(nameOf(step))));
    roving(buttons, (j) => go(at.part, j))(at.step);
    tabs.replaceChildren(...buttons);
    panel.setAttribute("aria-labelledby", `${panel.id}-${at.step}`);
  }

  function draw() {
    const focused = root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    peeked = null;
    drawMap();
    drawStepper();
    put(said, fill(t.said, { source: sentenceOf(trace.tokens.encoder), target: trace.text }));
    const { block, step } = place();
    const rows = numbers(trace, block, step, at.head);
    panel.replaceChildren(...lesson(block, step), ...(rows
      ? [...pickers(step), ...VIEWS[kindOf(step)](rows)]
      : [h("p", { class: "attn-micro-closed" }, busy ? t.opening : t.closed)]));
    if (rows && kindOf(step) !== "tokens") panel.append(inspector);
    inspect();
    const box = panel.querySelector("[data-size=many]"); // The box scrolls, and the chosen row must be visible.
    if (box) box.scrollTop = box.querySelector("[aria-pressed=true]").offsetTop - box.clientHeight / 2;
    if (focused) root.querySelector(`[data-key="${focused}"]`)?.focus();
  }

  /** Explain the stage: a sentence, the equation, the line of code. */
  function lesson(block, step) {
    const config = trace.model?.config;
    const rotary = step === "position" && config?.positions === "rotary";
    const special = {
      position: rotary && "rotaryPosition", norm: config?.norm === "post" && "postNorm", scaled: isCausal(block) && "masked",
    }[step];
    const [file, line] = CODE[special || step];
    return [
      h("p", { class: "attn-micro-what" }, rich([rotary ? t.noPosition : t[`${step}Step`][1], step === "scaled" && isCausal(block) ? t.isMasked : ""].join(" ").trim())),
      h("div", { class: "attn-micro-source" },
        h("p", { class: "attn-micro-equation", "data-attn": "equation" }, rich(EQUATIONS[special] ?? EQUATIONS[step])),
        scroller(t.code, h("p", { class: "attn-micro-code", "data-attn": "code", lang: "en", translate: "no" }, h("small", {}, file), h("code", {}, line)))),
    ];
  }

  /** Offer the choice of a head where the stage has heads. */
  function pickers(step) {
    if (!inHeads(step)) return [];
    const count = trace.model?.config.nHeads ?? example.cross[0].length;
    return [choices(t.head, "head", Array.from({ length: count }, (_, i) => String(i + 1)), at.head, (i) => {
      at.head = i;
      draw();
    })];
  }

  function choices(label, key, names, chosen, choose, extra = () => null) {
    const buttons = names.map((name, i) => h("button", {
      type: "button", role: "radio", "aria-checked": String(i === chosen), "data-attn": key, "data-key": `${key} ${i}`, onclick: () => choose(i),
    }, h("span", {}, name), extra(i)));
    roving(buttons, choose)(chosen);
    const title = h("span", { class: "attn-w-label", id: uid() }, label);
    return h("div", { class: `attn-micro-choices attn-micro-${key}` }, title,
      h("div", { role: "radiogroup", "aria-labelledby": title.id }, buttons));
  }

  /** Show the input tokens. Each token of the decoder stands with the token that it predicts. */
  const rowNames = (side) => trace.tokens[side].map((_, i) =>
    (side === "encoder" ? quoted(side, i) : [h("span", { class: "attn-w-reads" }, `${quoted(side, i)} →`), ` ${visible(trace.next[i])}`]));
  function tokenChoices(extra) {
    const { side, row } = place();
    return choices(side === "encoder" ? t.chooseToken : t.chooseWriting, extra ? "row" : "token", rowNames(side), row, chooseRow, extra);
  }

  const VIEWS = {
    tokens() {
      const { side } = place();
      return [scroller(nameOf("tokens"), h("table", { class: "attn-w-table attn-micro-ids" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t.token), h("th", { scope: "col" }, t.identifier))),
        h("tbody", {}, trace.ids[side].map((number, i) =>
          h("tr", {}, h("th", { scope: "row" }, quoted(side, i)), h("td", { class: "attn-w-number", "data-attn": "number", "data-value": number }, String(number)))))))];
    },
    vector(rows) {
      const { side, row } = place();
      const top = Math.max(1e-9, ...rows.flatMap((vector) => Array.from(vector, Math.abs)));
      at.cell ??= biggest(rows[row]);
      at.cell = Math.min(at.cell, rows[row].length - 1);
      return [
        tokenChoices((i) => h("i", { class: "attn-micro-strip", style: `background-image:${strip(rows[i], top)}` })),
        h("p", { class: "attn-w-label" }, fill(t.vector, { token: quoted(side, row), count: rows[row].length }), " ", legend(top)),
        cells(Array.from(rows[row], (x, c) => ({ x, key: c, share: x / top, label: fill(t.component, { index: c + 1 }) })), rows[row].length > 64 ? "many" : "few"),
      ];
    },
    matrix(rows) {
      const { block, side, row, step } = place();
      const keySide = block.part === "crossAttention" ? "encoder" : side;
      const top = step === "weights" ? 1 : Math.max(1e-9, ...rows.flat().filter(Number.isFinite).map(Math.abs));
      at.cell ??= biggest(rows[row]);
      const show = step === "weights" ? formatBrief : brief;
      const buttons = rows.map((numbers, i) => numbers.map((x, j) => cell({
        x, key: `${i} ${j}`, share: x / top, weight: step === "weights", label: `${quoted(side, i)}, ${quoted(keySide, j)}`, shown: show(x), masked: isCausal(block) && j > i && step !== "scores", pressed: i === row && j === at.cell,
        choose: () => {
          at.rows[side] = i;
          at.cell = j;
          mark();
        },
        peek: { row: i, cell: j },
      })));
      const names = rowNames(side).map((name) => h("th", { scope: "row", class: "attn-w-query" }, name));
      const table = h("table", { class: "attn-w-table attn-micro-matrix", "data-attn": "matrix", "data-many": rows[0].length > 6 },
        h("thead", {}, h("tr", {}, h("td", {}), trace.tokens[keySide].map((_, j) => h("th", { scope: "col", class: "attn-w-key" }, h("span", {}, quoted(keySide, j)))))),
        h("tbody", {}, rows.map((_, i) => h("tr", {}, names[i], buttons[i].map((button) => h("td", {}, button))))));
      walkGrid(table, buttons.flat(), () => rows[0].length);
      return [h("p", { class: "attn-w-label" }, side === "decoder" ? t.writingMatrix : t.matrix, " ", step === "weights" ? null : legend(top)), scroller(nameOf(step), table)];
    },
    vocabulary(rows) {
      const { row, step } = place();
      const best = order(rows[row]).slice(0, N_CANDIDATES);
      at.cell ??= best[0];
      const top = step === "softmax" ? 1 : Math.max(...rows[row].map(Math.abs));
      const others = rows[row].length - best.length;
      return [
        tokenChoices(),
        h("p", { class: "attn-w-label" }, fill(t.candidates, { token: quoted("decoder", row), count: best.length, all: rows[row].length })),
        bars(best.map((token) => ({ x: rows[row][token], key: token, share: rows[row][token] / top, name: visible(trace.vocabulary[token]) }))),
        step === "softmax" ? h("p", { class: "attn-w-label" }, `${fill(t.others, { count: others })}: ${format(1 - best.reduce((sum, token) => sum + rows[row][token], 0), 4)}`) : null,
      ].filter(Boolean);
    },
    stream(rows) {
      const { side, row } = place();
      const parts = contributions(trace, side);
      const after = parts.map(({ after }) => Math.hypot(...after[row]));
      const top = Math.max(...after, ...rows.map((lengths) => lengths[row]));
      at.cell ??= 0;
      return [tokenChoices(), h("p", { class: "attn-w-label" }, h("i", { class: "attn-micro-swatch", "data-sort": "adds" }), ` ${t.contribution}  `, h("i", { class: "attn-micro-swatch", "data-sort": "after" }), ` ${t.after}`),
        bars(rows.map((lengths, i) => ({ x: lengths[row], key: i, share: lengths[row] / top, name: partName(parts[i]), after: after[i], afterShare: after[i] / top })))];
    },
    lens(depths) {
      const { row } = place();
      at.cell ??= [depths.length - 1, order(depths.at(-1)[row])[0]];
      return [tokenChoices(), h("div", { class: "attn-micro-depths" }, depths.map((rows, depth) => h("div", {},
        h("p", { class: "attn-w-label" }, depth ? fill(t.depth, { layer: depth }) : t.depthStart),
        bars(order(rows[row]).slice(0, 3).map((token) => ({ x: rows[row][token], key: [depth, token], share: rows[row][token], name: visible(trace.vocabulary[token]) }))))))];
    },
  };

  // Numbers that can be chosen ----------------------------------------------------------
  function cell({ x, key, share, weight = false, label, shown = brief(x), masked = x === -Infinity, pressed, choose, peek }) {
    const button = h("button", {
      type: "button", class: "attn-micro-cell", "aria-pressed": String(pressed), "aria-label": `${label}: ${masked ? t.masked : shown}`,
      "data-attn": "number", "data-key": `cell ${key}`, "data-value": x, "data-negative": x < 0, "data-masked": masked,
      "data-weight": weight, "data-deep": weight && x > 0.757, // as in attention_explorer.js
      style: weight ? `background-color: rgb(var(--attn-heat) / ${x.toFixed(3)})` : `--share: ${Number.isFinite(share) ? Math.abs(share).toFixed(3) : 0}`,
      onclick: choose,
      onpointerenter: mouse(() => { peeked = peek; inspect(); }), onpointerleave: mouse(() => { peeked = null; inspect(); }),
      onfocus: () => { if (button.matches(":focus-visible") && button.getAttribute("aria-pressed") !== "true") choose(); },
    }, h("span", {}, shown));
    button.peek = peek;
    return button;
  }
  const same = (a, b) => String(a) === String(b);
  const pick = (key) => ({
    key, pressed: same(key, at.cell), peek: { row: place().row, cell: key },
    choose: () => {
      at.cell = key;
      mark();
    },
  });
  /** Mark the chosen number in the table and show its computation below. */
  function mark() {
    at.all = false;
    const { row } = place();
    const buttons = [...panel.querySelectorAll("[data-attn=number][data-key]")];
    buttons.forEach((button) => {
      const chosen = button.peek.row === row && same(button.peek.cell, at.cell);
      button.setAttribute("aria-pressed", chosen);
      button.tabIndex = chosen ? 0 : -1;
    });
    inspect();
    live.say(inspector.querySelector("[data-attn=title]")?.textContent ?? "");
  }
  function cells(list, size) {
    const buttons = list.map(({ key, ...one }) => cell({ ...one, ...pick(key) }));
    const box = h("div", { class: "attn-micro-cells", role: "group", "aria-label": nameOf(place().step), "data-size": size, "data-count": buttons.length }, buttons);
    walkGrid(box, buttons, () => getComputedStyle(box).gridTemplateColumns.split(" ").length);
    return box;
  }
  function bars(list) {
    const buttons = list.map(({ x, key, share, name, after, afterShare }) => {
      const button = cell({ x, share, label: name, ...pick(key), shown: "" });
      button.className = "attn-micro-bar";
      button.removeAttribute("aria-label"); // The text of the button is its name.
      button.replaceChildren(h("span", {}, name), h("span", { class: "attn-micro-track" }, h("b", {}), after === undefined ? null : h("i", { style: `--share: ${afterShare.toFixed(3)}` })),
        h("span", { class: "attn-w-number" }, format(x, 3), after === undefined ? null : h("small", {}, format(after))));
      return button;
    });
    const box = h("div", { class: "attn-micro-bars", "data-tall": list[0].after !== undefined, role: "group", "aria-label": nameOf(place().step) }, buttons);
    walkGrid(box, buttons, () => 1);
    return box;
  }
  /** Give the table one tab stop. Arrows move in two directions. */
  function walkGrid(box, buttons, columns) {
    buttons.forEach((button) => { button.tabIndex = button.getAttribute("aria-pressed") === "true" ? 0 : -1; });
    if (!buttons.some((button) => button.tabIndex === 0)) buttons[0].tabIndex = 0;
    box.addEventListener("keydown", (event) => {
      const i = buttons.indexOf(event.target);
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns(), Home: -i, End: buttons.length - 1 - i }[event.key];
      if (i < 0 || by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const button = buttons[i + by];
      if (!button) return;
      button.focus();
      if (button.getAttribute("aria-pressed") !== "true") button.click();
    });
  }

  // Where a number comes from ------------------------------------------------------------
  function inspect() {
    const { block, step, side } = place();
    inspector.toggleAttribute("data-open", Boolean(trace.model));
    const { row, cell } = peeked ?? { row: at.rows[side], cell: at.cell };
    const rows = numbers(trace, block, step, at.head);
    if (!rows || cell === null || kindOf(step) === "tokens") return;
    const kind = kindOf(step);
    const value = kind === "lens" ? rows[cell[0]][row][cell[1]] : kind === "stream" ? rows[cell][row] : rows[row][cell];
    const names = {
      vector: () => `${fill(t.ofToken, { what: fill(t.component, { index: cell + 1 }), token: quoted(side, row) })}`,
      matrix: () => fill(t.toToken, { token: quoted(side, row), key: quoted(block.part === "crossAttention" ? "encoder" : side, cell) }),
      vocabulary: () => fill(t.quoted, { token: visible(trace.vocabulary[cell]) }),
      stream: () => partName(contributions(trace, side)[cell]),
      lens: () => fill(t.quoted, { token: visible(trace.vocabulary[cell[1]]) }),
    };
    const inThisHead = inHeads(step) ? `, ${fill(t.inHead, { head: at.head + 1 })}` : "";
    const title = h("p", { class: "attn-micro-title", "data-attn": "title" }, h("span", {}, rich(nameOf(step)), `: ${names[kind]()}${inThisHead} `),
      h("b", { class: "attn-w-number", title: t.exact, "data-attn": "value", "data-value": value }, `= ${exact(value)}`));
    inspector.replaceChildren(title, ...(trace.model ? arithmetic(explain(trace, block, step, at.head, row, cell)) : [h("p", { class: "attn-w-label" }, t.locked)]));
  }

  function arithmetic(found) {
    const { terms = [], signs = [], bias, steps = [] } = found;
    const many = terms.length > FEW + 2;
    const some = many && !at.all ? order(terms.map(({ value }) => Math.abs(value))).slice(0, FEW).map((i) => terms[i]) : terms;
    const hidden = terms.filter((one) => !some.includes(one));
    const [left, right] = signs;
    const wordFor = (name) => (typeof name === "number" ? String(name) : t[`${name}_`] ?? t[name] ?? visible(name));
    const line = (kind, name, x, ...factors) => h("tr", { "data-attn": kind, "data-value": x },
      h("th", { scope: "row", colspan: factors.length ? null : 2 }, name),
      factors.length ? h("td", { class: "attn-w-number attn-micro-factors" }, factors) : null, h("td", { class: "attn-w-number" }, format(x, 3)));
    const factors = (one) => {
      if (one.left === undefined) return [];
      return right ? [format(one.left, 3), h("span", {}, " × "), format(one.right, 3)] : [format(one.left, 3)];
    };
    const body = [
      ...some.map((one) => line("term", wordFor(one.name), one.value, ...factors(one))),
      hidden.length ? line("rest", fill(t.rest, { count: hidden.length }), total({ terms: hidden })) : null,
      bias === undefined ? null : line("bias", t.bias, bias),
      terms.length ? line("sum", t.sum, total(found)) : null,
      ...steps.map(([name, x]) => line("then", rich(t[`${name}_`] ?? t[name]), x)),
    ].filter(Boolean);
    const column = (name, ...content) => h("th", { scope: "col", class: name }, content);
    const head = left ? h("thead", {}, h("tr", {}, column(null, typeof terms[0].name === "number" ? "#" : t.token),
      column("attn-micro-factors", right ? rich(`*${SIGNS[left]}* × *${SIGNS[right]}*`) : t[left]), column(null, right ? t.product : t.exponential))) : null;
    const more = many ? h("button", {
      type: "button", class: "attn-micro-more", "aria-expanded": String(at.all), "data-attn": "all", "data-key": "all",
      onclick: () => {
        at.all = !at.all;
        inspect();
        inspector.querySelector("[data-attn=all]").focus();
      },
    }, at.all ? t.fewer : fill(t.all, { count: terms.length })) : null;
    return [scroller(t.whence, h("table", { class: "attn-w-table attn-micro-terms", "aria-label": t.whence }, head, h("tbody", {}, body))), more].filter(Boolean);
  }

  function legend(top) {
    return h("span", { class: "attn-micro-legend", role: "img", "aria-label": `${t.negative} ${brief(-top)}, ${t.positive} ${brief(top)}` }, brief(-top), h("i", {}), brief(top));
  }

  const root = h("div", { class: "attn-w attn-micro", lang: language, role: "group", "aria-label": t.title, "data-attn": "microscope" },
    form, complaint, said, preface,
    h("div", { class: "attn-micro-bench" }, map, h("div", { class: "attn-micro-main-part" }, stepper, tabs, panel)), live.node);
  el.append(root);
  draw();
  if (model.get("trained")?.weights) run({ quiet: true }); // A kernel has already sent the model.
}

/** Make a trace from the example, which holds only the tokens and the weights. */
function preview({ source, target, encoder, decoder, cross }, kind) {
  const layers = (own, others) => own.map((weights, l) => ({ selfAttention: { weights }, ...(others && { crossAttention: { weights: others[l] } }) }));
  return {
    encoder: { layers: layers(encoder) }, decoder: { layers: layers(decoder, cross) },
    tokens: { encoder: source, decoder: ["<sos>", ...target.slice(0, -1)] }, next: target,
    text: kind === "bpe" ? textOf(target, kind) : target.filter((token) => token !== "<eos>").join(" "),
  };
}

/** Write a number in a cell with two decimals, or with one from ten on. */
const brief = (x) => format(x, Math.abs(x) >= 9.995 ? 1 : 2);

/** Write a number to six significant digits. */
export function exact(x) {
  if (!Number.isFinite(x) || x === 0) return x === 0 ? "0" : format(x);
  const [mantissa, power] = Math.abs(x).toPrecision(6).split("e");
  const raised = power ? `×10${[...power.replace("+", "")].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}` : "";
  return `${x < 0 ? "−" : ""}${mantissa}${raised}`;
}

/** Return the places of a row's numbers, the largest first. */
const order = (row) => [...row.keys()].sort((a, b) => row[b] - row[a]);
const isCausal = ({ side, part }) => side === "decoder" && part === "selfAttention";
const biggest = (row) => order(Array.from(row, (x) => (Number.isFinite(x) ? Math.abs(x) : -1)))[0];

/** Draw a vector as a background with a stripe for each number. */
function strip(vector, top) {
  const stripes = Array.from(vector, (x, i) => {
    const share = (100 * Math.abs(x)) / top;
    const colour = `color-mix(in srgb, var(--attn-${x < 0 ? "key" : "weight"}) ${share.toFixed(0)}%, var(--attn-surface))`;
    return `${colour} ${((100 * i) / vector.length).toFixed(2)}% ${((100 * (i + 1)) / vector.length).toFixed(2)}%`;
  });
  return `linear-gradient(90deg, ${stripes.join(", ")})`;
}

function mouse(listener) {
  return (event) => { if (event.pointerType === "mouse") listener(); };
}

export default { render };
