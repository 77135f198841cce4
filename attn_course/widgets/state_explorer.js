// Positions of things: facts that are written into a memory, and what it recalls under each rule.
import { announcer, attention, dot, fill, format, h, list, put, radios, rich, roving, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Una memoria de dónde están las cosas", rule: "Regla", thing: "Qué dejas",
    rules: { softmax: "softmax", linear: "suma", retention: "decaimiento", delta: "delta", gated: "delta con decaimiento" },
    room: "La habitación", put: "Toca un lugar para dejar ahí lo elegido; con las flechas y Entrar, también.",
    square: "Dejar *{thing}* en ({x}, {y})",
    state: "Estado *S*", kept: "Keys y values guardados", key: "key", is: "está en", recalled: "recuerda", nowhere: "—", nothing: "nada todavía",
    bytes: { 1: "{n} número, {bytes} bytes", many: "{n} números, {bytes} bytes" },
    undo: "Deshacer", again: "Empezar de nuevo", full: "No caben más hechos en la figura.",
    added: "Se suma *k vᵀ*.", faded: "Lo anterior se multiplica por {decay} y se suma *k vᵀ*.", listed: "Se guardan la key y el value.",
    corrected: "Con esa key recordaba ({old}); se corrige en ({error}).",
    right: { 1: "Recuerda bien dónde está la única cosa.", many: "Recuerda bien dónde está cada cosa." },
    wrong: "Se equivoca: recuerda {things}.", one: "*{thing}* en ({place})", empty: "Aún no sabe nada.", and: "y",
  },
  en: {
    title: "A memory of where things are", rule: "Rule", thing: "What you put down",
    rules: { softmax: "softmax", linear: "sum", retention: "decay", delta: "delta", gated: "delta with decay" },
    room: "The room", put: "Touch a place to put down there what you have chosen; arrows and Enter do the same.",
    square: "Put *{thing}* at ({x}, {y})",
    state: "State *S*", kept: "Keys and values kept", key: "key", is: "is at", recalled: "recalls", nowhere: "—", nothing: "nothing yet",
    bytes: { 1: "{n} number, {bytes} bytes", many: "{n} numbers, {bytes} bytes" },
    undo: "Undo", again: "Start again", full: "The figure has no room for more facts.",
    added: "*k vᵀ* is added.", faded: "What was there is multiplied by {decay}, and *k vᵀ* is added.", listed: "The key and the value are kept.",
    corrected: "For that key it recalled ({old}); it is corrected by ({error}).",
    right: { 1: "It recalls rightly where the only thing is.", many: "It recalls rightly where each thing is." },
    wrong: "It is wrong: it recalls {things}.", one: "*{thing}* at ({place})", empty: "It knows nothing yet.", and: "and",
  },
};

export const RULES = ["softmax", "linear", "retention", "delta", "gated"];
const REACH = 3; // The room goes from −3 to 3 in both directions.
const MOST = 9; // facts

const FADES = { retention: true, gated: true };
const CORRECTS = { delta: true, gated: true };

/** S^T key: the answer of a state of shape (d_k, d_v). */
export const read = (state, key) => state[0].map((_, j) => dot(key, state.map((row) => row[j])));

/** One step of a rule with a state: the new state, its previous answer to the key, and what was written. */
export function step(rule, state, key, value, decay) {
  const left = state.map((row) => row.map((x) => (FADES[rule] ? decay * x : x)));
  const old = read(left, key);
  const written = CORRECTS[rule] ? value.map((x, j) => x - old[j]) : value;
  return { state: left.map((row, i) => row.map((x, j) => x + key[i] * written[j])), old, written };
}

/** The state after facts [thing, x, y], and the last step. */
export function after(rule, facts, keys, decay) {
  const start = { state: keys[0].map(() => [0, 0]), old: [0, 0], written: [0, 0] };
  return facts.reduce((last, [thing, ...value]) => step(rule, last.state, keys[thing], value, decay), start);
}

/** Where a rule recalls each thing; null before anything was written. */
export function recall(rule, facts, keys, { decay, sharpness }) {
  if (!facts.length) return keys.map(() => null);
  if (rule !== "softmax") {
    const { state } = after(rule, facts, keys, decay);
    return keys.map((key) => read(state, key));
  }
  const kept = facts.map(([thing]) => keys[thing]);
  return attention(keys.map((key) => key.map((x) => sharpness * x)), kept, facts.map(([, ...value]) => value)).output;
}

/** How many numbers a rule keeps. */
export const numbers = (rule, n, d = 2) => (rule === "softmax" ? 2 * n * d : d * d);

const near = (a, b) => a.every((x, i) => Math.abs(x - b[i]) < 0.05);
const pair = (vector, digits = 2) => vector.map((x) => format(x, Number.isInteger(x) ? 0 : digits)).join(", ");

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const [names, keys, start] = ["names", "key", "facts"].map((name) => model.get(name));
  const options = { decay: model.get("decay"), sharpness: model.get("sharpness") };
  const live = announcer();
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const said = (node, text) => {
    if (node.dataset.text === text) return;
    node.dataset.text = text;
    node.replaceChildren(...rich(text));
  };
  const at = (x) => 50 + (100 * x) / (2 * REACH + 1);
  const place = (node, [x, y]) => {
    const most = REACH + 0.45;
    const [cx, cy] = [x, y].map((c) => Math.min(most, Math.max(-most, c)));
    node.toggleAttribute("data-out", cx !== x || cy !== y);
    node.style.left = `${at(cx).toFixed(2)}%`;
    node.style.top = `${(100 - at(cy)).toFixed(2)}%`;
  };

  const rules = radios(t.rule, "rule", RULES.map((rule) => [rule, t.rules[rule]]), model.get("rule"), (rule) => set("rule", rule));
  const things = radios(t.thing, "thing", names.map((name, i) => [i, name]), model.get("thing"), (thing) => set("thing", thing));
  things.querySelectorAll("label").forEach((label, i) => { label.dataset.thing = i; });

  // The room ------------------------------------------------------------------------------------
  const side = Array.from({ length: 2 * REACH + 1 }, (_, i) => i - REACH);
  const squares = side.slice().reverse().flatMap((y) => side.map((x) => ({ x, y, node: h("button", {
    type: "button", class: "attn-state-square", "data-attn": "square", "data-x": x, "data-y": y,
    onclick: () => {
      const facts = model.get("facts");
      tab(squares.findIndex((one) => one.x === x && one.y === y));
      if (facts.length < MOST) set("facts", [...facts, [model.get("thing"), x, y]]);
    },
  }) })));
  const tab = roving(squares.map((one) => one.node), (to) => tab(to), () => side.length);
  const marks = names.map((name, i) => ({
    is: h("i", { class: "attn-state-is", "data-thing": i }),
    name: h("span", { class: "attn-state-name", "data-thing": i, "aria-hidden": "true" }, name),
    recalled: h("i", { class: "attn-state-recalled", "data-thing": i }),
    line: h("path", { "data-thing": i }),
  }));
  const room = h("div", { class: "attn-state-room", role: "group", "aria-label": t.room },
    h("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, h("path", { class: "attn-state-axes", d: "M0 50H100M50 0V100" }), marks.map((mark) => mark.line)),
    squares.map((one) => one.node), marks.map((mark) => [mark.is, mark.name, mark.recalled]));

  // The memory ----------------------------------------------------------------------------------
  const memory = h("div", { class: "attn-state-memory", "data-attn": "memory" });
  const heading = h("p", { class: "attn-w-label" });
  const cells = h("span", { class: "attn-state-cells", "aria-hidden": "true" });
  const size = h("span", { "data-attn": "bytes" });
  const rows = names.map((name, i) => {
    const [is, recalled] = [h("td", { "data-attn": "is" }), h("td", { "data-attn": "recalled" })];
    return { is, recalled, node: h("tr", {}, h("th", { scope: "row", "data-thing": i }, name), h("td", {}, `(${pair(keys[i], 1)})`), is, recalled) };
  });
  const table = h("table", { class: "attn-w-table attn-state-things" },
    h("thead", {}, h("tr", {}, h("td", {}), [t.key, t.is, t.recalled].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows.map((row) => row.node)));
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const [undo, again] = [
    [t.undo, "undo", () => set("facts", model.get("facts").slice(0, -1))],
    [t.again, "again", () => set("facts", start)],
  ].map(([text, hook, act]) => h("button", {
    type: "button", class: "attn-w-button", "data-attn": hook,
    onclick: (event) => { if (event.currentTarget.getAttribute("aria-disabled") !== "true") act(); },
  }, text));

  function update() {
    const [facts, rule, thing] = ["facts", "rule", "thing"].map((name) => model.get(name));
    const recalled = recall(rule, facts, keys, options);
    const where = names.map((_, i) => facts.findLast(([one]) => one === i)?.slice(1) ?? null);
    const last = after(rule, facts, keys, options.decay);
    [[rules, rule], [things, String(thing)]].forEach(([group, value]) =>
      group.querySelectorAll("input").forEach((input) => { input.checked = input.value === value; }));
    squares.forEach(({ x, y, node }) => node.setAttribute("aria-label", fill(t.square, { thing: names[thing], x: format(x, 0), y: format(y, 0) }).replaceAll("*", "")));
    room.dataset.thing = thing;
    marks.forEach(({ is, name, recalled: dot_, line }, i) => {
      [is, name, dot_].forEach((node) => { node.hidden = !where[i]; });
      line.setAttribute("d", "");
      if (!where[i]) return;
      place(is, where[i]);
      place(name, where[i]);
      place(dot_, recalled[i]);
      const most = REACH + 0.45;
      const [x, y] = recalled[i].map((c) => at(Math.min(most, Math.max(-most, c))));
      line.setAttribute("d", `M${at(where[i][0])} ${100 - at(where[i][1])}L${x.toFixed(2)} ${(100 - y).toFixed(2)}`);
      dot_.toggleAttribute("data-wrong", !near(recalled[i], where[i]));
    });
    rows.forEach(({ is, recalled: cell }, i) => {
      put(is, where[i] ? `(${pair(where[i])})` : t.nowhere);
      put(cell, where[i] ? `(${pair(recalled[i].map((x) => Math.round(100 * x) / 100))})` : t.nowhere);
      cell.setAttribute("data-value", where[i] ? recalled[i].join(" ") : "");
      cell.toggleAttribute("data-wrong", Boolean(where[i]) && !near(recalled[i], where[i]));
    });
    said(heading, rule === "softmax" ? t.kept : t.state);
    memory.toggleAttribute("data-kept", rule === "softmax");
    memory.replaceChildren(...(rule === "softmax"
      ? facts.map(([i, ...value]) => h("span", { "data-thing": i }, `(${pair(keys[i], 1)}) → (${pair(value)})`))
      : last.state.flat().map((x) => h("span", {}, format(Math.round(100 * x) / 100)))));
    if (!memory.childElementCount) memory.append(h("span", {}, t.nothing));
    const n = numbers(rule, facts.length);
    cells.replaceChildren(...Array.from({ length: n }, () => h("i", {})));
    put(size, fill(t.bytes[n === 1 ? 1 : "many"], { n, bytes: 4 * n }));
    undo.setAttribute("aria-disabled", facts.length === 0);
    again.setAttribute("aria-disabled", JSON.stringify(facts) === JSON.stringify(start));
    said(summary, words(facts, rule, recalled, where, last));
    model.set("recalled", recalled.map((one) => one ?? []));
  }

  function words(facts, rule, recalled, where, last) {
    if (!facts.length) return t.empty;
    const how = rule === "softmax" ? t.listed : CORRECTS[rule] ? fill(t.corrected, { old: pair(tidy(last.old)), error: pair(tidy(last.written)) })
      : FADES[rule] ? fill(t.faded, { decay: options.decay }) : t.added;
    const known = names.flatMap((_, i) => (where[i] ? [i] : []));
    const wrong = known.filter((i) => !near(recalled[i], where[i]));
    const verdict = wrong.length
      ? fill(t.wrong, { things: list(wrong.map((i) => fill(t.one, { thing: names[i], place: pair(tidy(recalled[i])) })), t.and) })
      : t.right[known.length > 1 ? "many" : 1];
    return [how, verdict, ...(facts.length === MOST ? [t.full] : [])].join(" ");
  }
  const tidy = (vector) => vector.map((x) => Math.round(100 * x) / 100 + 0);
  const stops = [watch(model, ["facts", "rule", "thing"], update), watch(model, ["facts", "rule"], () => live.say(summary.textContent))];

  el.append(h("div", { class: "attn-w attn-state", lang: language, role: "group", "aria-label": t.title, "data-attn": "state" },
    h("div", { class: "attn-w-controls" }, rules, things),
    h("div", { class: "attn-state-stage" },
      h("div", {}, room, h("p", { class: "attn-w-label attn-state-hint" }, t.put)),
      h("div", { class: "attn-state-side" }, table, h("div", { class: "attn-state-kept" }, heading, memory, h("p", { class: "attn-state-size" }, size, cells)),
        summary, h("div", { class: "attn-state-buttons" }, undo, again))), live.node));
  tab(squares.findIndex(({ x, y }) => x === 0 && y === 0));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
