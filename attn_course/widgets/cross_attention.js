// Shows the cross-attention of a translation as lines, as a matrix with the gold alignment, and as a sentence.
import { chosenWeights, joinWords, words } from "./joined.js";
import { searchTree } from "./search_tree.js";
import { fill, format, formatBrief, h, largest, list, put, radios, roving, scroller, uid, visible } from "./shared.js";
import { textOf } from "./tokenizer.js";

/** Keep the sub-word tokens as they are, each with the space that it begins with. */
const asParts = ({ source, target, ...rest }) =>
  ({ ...rest, source: source.map(visible), target: target.map(visible), written: target.map((_, i) => i + 1) });

/** Show one translation between the two languages that are `spoken`: its tokens, its weights, and the tree of its beam search if it has one. */
export function crossAttention({ t, result: whole, kind, links, spoken, hasGold, choice, live, output, sure, again }) {
  const result = choice.joined ? joinWords(whole) : asParts(whole);
  const { source, target, cross, search } = result;
  const link = (name, i, j) => Boolean(links?.[name].some(([s, u]) => s === j && u === i));
  const gold = target.map((_, i) => source.map((_, j) => (link("sure", i, j) ? "sure" : link("possible", i, j) ? "possible" : null)));
  const certain = sure ? sure.ofWords(whole.target, whole.probabilities, spoken[0]) : [];
  let weights;
  let written = 0;
  let chosen = 0;
  let picked = false; // A row that the reader has picked stays chosen.
  let peeked = null; // The row under the mouse, or null.

  const data = { t, spoken, ...result, gold, choose, peek };
  const lines = linkView(data);
  const heat = matrixView({ ...data, known: Boolean(links) });
  const tree = search && searchTree({ t, spoken: spoken[1], ...search });
  const found = h("b", {});
  const verdict = h("span", {});
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" }, found, " ", verdict);
  const numbered = (all) => [[null, t.all], ...all.map((_, i) => [i, String(i + 1)])];
  const pick = (name) => (value) => {
    choice[name] = value;
    compute();
    live.say(sentence(chosen));
  };
  /** Show words or sub-word tokens, and keep the focus on the control that chooses between them. */
  function join(joined) {
    choice.joined = joined;
    again();
  }
  const within = (name, all) => { if (choice[name] >= all.length) choice[name] = null; };
  within("layer", cross);
  within("head", cross[0]);
  const node = h("div", { class: "attn-live-attention" },
    h("div", { class: "attn-w-controls attn-live-where" },
      kind === "bpe" ? radios(t.unit, "joined", [[false, t.tokens], [true, t.whole]], choice.joined, join) : null,
      radios(t.layer, "layer", numbered(cross), choice.layer, pick("layer")),
      radios(t.head, "head", numbered(cross[0]), choice.head, pick("head"))),
    choice.joined ? h("p", { class: "attn-w-label" }, t.joined) : null, lines.node, summary, heat.node, tree?.node);

  const named = (places) => list(places.map((j) => fill(t.quoted, { token: source[j] })), t.and);
  function most(i) {
    const places = largest(weights[i]);
    return fill(places.length < 4 ? t.most : t.many, {
      word: target[i], before: target[i - 1] ?? "<sos>", keys: named(places),
      count: places.length, weight: format(weights[i][places[0]]),
    });
  }
  /** Return how the largest weight of a row compares with the gold alignment. */
  function judged(i) {
    if (target[i] === "<eos>") return t.end;
    if (!links) return hasGold ? t.noGold : "";
    const places = largest(weights[i]);
    const [sure, possible] = ["sure", "possible"].map((kind) => [...source.keys()].filter((j) => gold[i][j] === kind));
    if (places.length === 1 && sure.includes(places[0])) return t.right;
    if (places.length === 1 && possible.includes(places[0])) return t.maybe;
    if (sure.length + possible.length === 0) return t.unlinked;
    return fill(t.elsewhere, { keys: named(sure.length ? sure : possible) });
  }
  const sentence = (i) => `${most(i)} ${judged(i)}`;
  function compute() {
    weights = chosenWeights(cross, choice.layer, choice.head);
    draw();
  }
  function draw() {
    const row = peeked ?? chosen;
    const state = { row, chosen, weights, written };
    lines.update(state);
    heat.update(state);
    put(found, written ? most(row) : "");
    put(verdict, written ? judged(row) : "");
  }
  function choose(row) {
    chosen = row;
    picked = true;
    draw();
    live.say(sentence(row));
  }
  function peek(row) {
    peeked = row;
    draw();
  }
  /** Show the first `count` words and the attention of the last of them. */
  function reveal(count, row = Math.max(0, Math.min(count, words(target).length) - 1)) {
    written = count;
    if (!picked) chosen = row;
    const text = textOf(whole.target, kind);
    const begun = textOf(whole.target.slice(0, result.written[count - 1] ?? 0), kind);
    const now = text.startsWith(begun) ? begun : begun.replace(/\ufffd+$/, ""); // The bytes of the last character may be incomplete.
    if (sure) sure.write(output, now, certain);
    else output.replaceChildren(now);
    output.append(h("span", { style: "visibility: hidden" }, text.slice(now.length)));
    draw();
  }
  const tell = () => live.say(`${textOf(whole.target, kind)}. ${sentence(Math.max(0, words(target).length - 1))}`);
  compute();
  const stop = () => {
    [lines, heat, tree].forEach((view) => view?.stop());
  };
  return { node, reveal, tell, stop, length: target.length };
}

/** Write a share as briefly as possible. */
const brief = (share) => formatBrief(share).replace("1.00", "1");

/** Preview a row only under a mouse: the tap of a finger is a click. */
const mouse = (listener) => (event) => { if (event.pointerType === "mouse") listener(); };

/** Draw the source words above, the target words below, and a line from the chosen word to each word that it attends to. */
function linkView({ t, spoken, source, target, probabilities, gold, choose, peek }) {
  const numbers = source.map((_, j) => h("span", { class: "attn-w-number", "data-attn": "link-weight", "data-col": j }));
  const keys = source.map((token, j) => h("li", {}, h("span", {}, token), numbers[j]));
  const shares = target.map((_, i) => h("span", { class: "attn-w-number", "data-attn": "probability", "data-value": probabilities?.[i] }));
  const queries = target.map((token, i) => h("button", {
    type: "button", role: "radio", "data-attn": "target-token", "data-row": i,
    onclick: () => choose(i), onpointerenter: mouse(() => peek(i)), onpointerleave: mouse(() => peek(null)),
  }, h("span", {}, token), shares[i]));
  const paths = source.map((_, j) => h("path", { fill: "none", "data-attn": "link", "data-col": j }));
  const svg = h("svg", { class: "attn-live-links", "aria-hidden": "true" }, paths);
  const query = probabilities ? t.queryProbability : t.query;
  const box = scroller(t.attention, h("div", { class: "attn-live-wide" },
    h("div", { class: "attn-w-label attn-w-key", "aria-hidden": "true" }, t.key),
    h("ol", { class: "attn-live-words attn-live-keys", "aria-label": t.key, lang: spoken[0] }, keys),
    svg,
    h("div", { class: "attn-live-words attn-live-queries", role: "radiogroup", "aria-label": query, lang: spoken[1] }, queries),
    h("div", { class: "attn-w-label attn-w-query", "aria-hidden": "true" }, query)));
  const focusQuery = roving(queries, choose);

  let state = null;
  let room = 0;
  let tight = false; // The words are written vertically when the columns are too narrow.
  const fit = () => {
    box.removeAttribute("data-tight");
    tight = box.scrollWidth > box.clientWidth;
    box.toggleAttribute("data-tight", tight);
    room = box.clientWidth;
  };
  const place = () => {
    const corner = svg.getBoundingClientRect();
    const centre = (node) => {
      const { left, width } = node.getBoundingClientRect();
      return left + width / 2 - corner.left;
    };
    const height = svg.clientHeight;
    const from = centre(queries[state.row]);
    paths.forEach((path, j) => {
      const to = centre(keys[j]);
      path.setAttribute("d", `M${from} ${height}C${from} ${height * 0.45} ${to} ${height * 0.55} ${to} 0`);
    });
  };
  const update = (now) => {
    const moved = state?.row !== now.row;
    state = now;
    const { row, chosen, weights, written } = now;
    const show = tight && source.length > 8 ? brief : format;
    focusQuery(chosen);
    queries.forEach((button, i) => {
      button.setAttribute("aria-checked", i === chosen);
      button.toggleAttribute("data-peek", i === row && row !== chosen);
      button.toggleAttribute("data-later", i >= written);
      put(shares[i], probabilities ? show(probabilities[i]) : "\u00a0");
    });
    weights[row].forEach((weight, j) => {
      paths[j].style.strokeWidth = written ? 1 + 11 * weight : 0;
      paths[j].style.strokeOpacity = 0.35 + 0.65 * weight;
      paths[j].setAttribute("data-weight", weight);
      put(numbers[j], written ? show(weight) : "\u00a0");
      numbers[j].setAttribute("data-weight", weight);
      keys[j].setAttribute("data-gold", (written && gold[row][j]) || "none");
    });
    if (moved && room) place();
  };
  const observer = new ResizeObserver(() => {
    if (box.clientWidth !== room) {
      fit();
      update(state);
    }
    place();
  });
  [box, svg, ...keys, ...queries].forEach((node) => observer.observe(node));
  return { node: box, update, stop: () => observer.disconnect() };
}

/** Show the whole matrix as a table with a row for each written word. Frames mark the gold alignment. */
function matrixView({ t, spoken, source, target, gold, known, choose, peek }) {
  const show = source.length > 6 ? brief : format;
  const heads = source.map((token) => h("th", { scope: "col", class: "attn-w-key", lang: spoken[0] }, h("span", {}, token)));
  const cells = target.map((_, i) => source.map((_, j) => h("td", {
    "data-attn": "heat-cell", "data-row": i, "data-col": j, "data-gold": gold[i][j],
  }, h("span", {}), gold[i][j] ? h("span", { class: "attn-w-hidden" }, `, ${t[gold[i][j]]}`) : null)));
  const rows = target.map((token, i) => h("tr", {
    onclick: () => choose(i), onpointerenter: mouse(() => peek(i)), onpointerleave: mouse(() => peek(null)),
  }, h("th", { scope: "row", class: "attn-w-query", lang: spoken[1] }, h("span", { class: "attn-w-reads" }, `${target[i - 1] ?? "<sos>"} →`), ` ${token}`), cells[i]));
  const title = h("b", { id: uid() }, t.heat);
  const table = h("table", {
    class: "attn-w-table attn-explorer-heat attn-live-heat", "aria-labelledby": title.id, "data-size": source.length > 8 ? "small" : "medium",
  }, h("thead", {}, h("tr", {}, h("td", {}), heads)), h("tbody", {}, rows));
  const mark = (kind) => h("span", { class: "attn-live-mark" }, h("i", { "data-gold": kind, "aria-hidden": "true" }), ` ${t[kind]}`);
  const node = h("div", { class: "attn-explorer-matrix" }, scroller(t.heat, table),
    h("p", { class: "attn-w-label" }, title, ". ", t.rows, " ", known ? [mark("sure"), " ", mark("possible")] : null));
  let room = 0;
  const observer = new ResizeObserver(() => { // A name that is wider than its column is written vertically.
    if (node.clientWidth === room) return;
    room = node.clientWidth;
    table.removeAttribute("data-upright");
    table.toggleAttribute("data-upright", heads.some((head) => head.firstChild.scrollWidth > head.clientWidth));
  });
  observer.observe(node);
  const update = ({ row, weights, written }) => rows.forEach((tr, i) => {
    tr.toggleAttribute("data-shown", i === row && written > 0);
    tr.toggleAttribute("data-later", i >= written);
    cells[i].forEach((cell, j) => {
      const weight = weights[i][j];
      cell.toggleAttribute("data-deep", weight > 0.757); // On a darker colour, white text has more contrast than black.
      cell.setAttribute("data-weight", weight);
      cell.style.backgroundColor = `rgb(var(--attn-heat) / ${weight.toFixed(3)})`;
      put(cell.firstChild, show(weight));
    });
  });
  return { node, update, stop: () => observer.disconnect() };
}
