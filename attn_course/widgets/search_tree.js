// The tree of a beam search: a column for each step, its hypotheses from the best to the worst.
import { fill, format, h, rich, scroller, visible } from "./shared.js";

/** Draw the `tree` that `beamSearch` returns. `winner` is the place of the winner in it, and `tokens` names the ids. */
export function searchTree({ t, tree, winner, width, tokens }) {
  const path = pathTo(tree, winner);
  const won = new Set(path);
  const steps = tree.map((_, place) => pathTo(tree, place).length - 1);
  const nodes = tree.map(({ token, logProbability, total, kept, parent }, place) => {
    const before = place && pathTo(tree, parent).slice(1).map((other) => tokens[tree[other].token]).join(" ");
    const told = [before && fill(t.after, { words: before }), won.has(place) ? t.won : kept ? t.kept : t.dropped];
    return h("li", {
      class: "attn-live-node", "data-attn": "node", "data-place": place, "data-kept": kept, "data-won": won.has(place),
      "data-parent": parent, "data-log-probability": logProbability, "data-total": total,
    }, h("b", { lang: "es" }, place ? visible(tokens[token]) : "<sos>"),
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
  return { node, stop: () => observer.disconnect() };
}

/** Write a probability. A small probability must not look like zero. */
const share = (p) => (p < 0.005 ? "<\u20090.01" : format(p));

/** The places from the root of a tree to one of its nodes. */
function pathTo(tree, place) {
  return place === null ? [] : [...pathTo(tree, tree[place].parent), place];
}
