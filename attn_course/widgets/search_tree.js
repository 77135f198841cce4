// The tree of a beam search: a column for each step, its hypotheses from the best to the worst.
// The columns keep their natural size, and a tree that is wider than the page scrolls in its box.
import { fill, format, h, rich, scroller, visible } from "./shared.js";

const MARGIN = 40; // The newest step stands this far from the edge, so that the fade does not cover it.

/** Draw the `tree` of `beamSearch`. `winner` is the winner's index in it, and `tokens` names the ids, in the language `spoken`. */
export function searchTree({ t, spoken, tree, winner, width, tokens }) {
  const path = pathTo(tree, winner);
  const won = new Set(path);
  const steps = tree.map((_, place) => pathTo(tree, place).length - 1);
  const nodes = tree.map(({ token, logProbability, total, kept, parent }, place) => {
    const before = place && pathTo(tree, parent).slice(1).map((other) => tokens[tree[other].token]).join(" ");
    const told = [before && fill(t.after, { words: before }), won.has(place) ? t.won : kept ? t.kept : t.dropped];
    return h("li", {
      class: "attn-live-node", "data-attn": "node", "data-place": place, "data-kept": kept, "data-won": won.has(place),
      "data-parent": parent, "data-log-probability": logProbability, "data-total": total,
    }, h("b", { lang: spoken }, place ? visible(tokens[token]) : "<sos>"),
    place ? [
      h("span", { class: "attn-w-number" }, share(Math.exp(logProbability))),
      h("span", { class: "attn-w-number" }, format(total)),
      h("span", { class: "attn-w-hidden" }, ` (${told.filter(Boolean).join("; ")})`),
    ] : null);
  });
  const columns = Array.from({ length: Math.max(...steps) + 1 }, (_, step) => {
    const places = [...tree.keys()].filter((place) => steps[place] === step).sort((a, b) => tree[b].total - tree[a].total);
    return h("li", {},
      h("span", { class: "attn-w-label" }, step ? fill(t.treeStep, { step }) : t.treeStart),
      h("ul", {}, places.map((place) => nodes[place])));
  });
  // The lines to dropped hypotheses lie under the lines to kept ones, which lie under those to the winner.
  const order = [...tree.keys()].slice(1).sort((a, b) => rank(a) - rank(b));
  function rank(place) { return won.has(place) ? 2 : Number(tree[place].kept); }
  const edges = order.map((place) => h("path", { fill: "none", "data-kept": tree[place].kept, "data-won": won.has(place) }));
  const plane = h("div", { class: "attn-live-plane" },
    h("svg", { class: "attn-live-edges", "aria-hidden": "true" }, edges), h("ol", {}, columns));
  const box = scroller(t.tree, plane);
  const node = h("section", { class: "attn-live-tree", "data-attn": "tree" },
    h("p", { class: "attn-w-label" }, h("b", {}, t.tree), ". ", ...rich(fill(t.treeText, { width }))), box);

  const observer = new ResizeObserver(() => {
    const corner = plane.getBoundingClientRect();
    const boxes = nodes.map((node) => node.getBoundingClientRect());
    edges.forEach((edge, i) => {
      const [from, to] = [boxes[tree[order[i]].parent], boxes[order[i]]];
      const [x, y] = [from.right - corner.left, (from.top + from.bottom) / 2 - corner.top];
      const [u, v] = [to.left - corner.left, (to.top + to.bottom) / 2 - corner.top];
      edge.setAttribute("d", `M${x} ${y}C${(x + u) / 2} ${y} ${(x + u) / 2} ${v} ${u} ${v}`);
    });
  });
  observer.observe(plane);
  const last = columns.length - 1;

  /** Show the first `count` steps. The winner is marked only when the whole tree is shown. */
  function reveal(count) {
    columns.forEach((column, step) => column.toggleAttribute("data-later", step > count));
    nodes.forEach((one, place) => one.toggleAttribute("data-won", count === last && won.has(place)));
    edges.forEach((edge, i) => {
      edge.toggleAttribute("data-later", steps[order[i]] > count);
      edge.toggleAttribute("data-won", count === last && won.has(order[i]));
    });
    const [left, right] = [columns[count].offsetLeft, columns[count].offsetLeft + columns[count].offsetWidth + MARGIN];
    if (right > box.scrollLeft + box.clientWidth || left < box.scrollLeft) box.scrollLeft = right - box.clientWidth;
  }
  /** The hypotheses in the beam after `count` steps, the best first: those just kept, and those that ended before. */
  function beam(count) {
    const isParent = new Set(tree.filter((_, place) => place && steps[place] <= count).map(({ parent }) => parent));
    const alive = [...tree.keys()].filter((place) => tree[place].kept && steps[place] <= count && !isParent.has(place));
    return alive.sort((a, b) => tree[b].total - tree[a].total)
      .map((place) => ({ tokens: pathTo(tree, place).slice(1).map((other) => tokens[tree[other].token]), total: tree[place].total }));
  }
  return { node, last, reveal, beam, stop: () => observer.disconnect() };
}

/** Write a probability. A small probability must not look like zero. */
const share = (p) => (p < 0.005 ? "<\u20090.01" : format(p));

/** The places from the root of a tree to one of its nodes. */
function pathTo(tree, place) {
  return place === null ? [] : [...pathTo(tree, tree[place].parent), place];
}
