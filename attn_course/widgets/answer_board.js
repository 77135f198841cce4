// What several systems answer: a board marks each answer as right or wrong, and the chosen case is shown with its question.
import { GROUND, N_COLUMNS, N_ROWS, PATCH_SIZE, pixelPaths } from "./scenes.js";
import { announcer, fill, h, put, roving, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Qué aciertan los sistemas", score: "{right} de {n}", hit: "acierta", miss: "falla", cell: "{system}, {group}, caso {i}: {verdict}",
    said: "Dice", right: "Lo correcto", silence: "(sin respuesta)", image: "Imagen con {things}.", empty: "una imagen vacía", and: "y",
    shapes: { ball: "balón", box: "caja", star: "estrella", tree: "árbol" }, thing: "{shape} ({colour})",
    colours: { red: "rojo", green: "verde", blue: "azul", yellow: "amarillo", purple: "morado" },
  },
  en: {
    title: "What the systems get right", score: "{right} of {n}", hit: "right", miss: "wrong", cell: "{system}, {group}, case {i}: {verdict}",
    said: "It says", right: "Right would be", silence: "(no answer)", image: "An image with {things}.", empty: "nothing in it", and: "and",
    shapes: { ball: "ball", box: "box", star: "star", tree: "tree" }, thing: "{shape} ({colour})",
    colours: { red: "red", green: "green", blue: "blue", yellow: "yellow", purple: "purple" },
  },
};

/** Whether a system is right about a case. */
export const isRight = ({ said, right }) => said === right;

/** Every case of a board, from the first system to the last, with its indices: of the system, of the group, and within the group. */
export const all = (cases) => cases.flatMap((groups, s) =>
  groups.flatMap((group, g) => group.map((found, i) => ({ places: [s, g, i], found }))));

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const [groups, names, cases] = ["groups", "names", "cases"].map((name) => model.get(name));
  const live = announcer();
  const entries = all(cases);
  const choose = (i) => {
    model.set("chosen", entries[i].places);
    model.save_changes();
  };

  const marks = entries.map(({ places: [s, g, i], found }, at) => {
    const verdict = isRight(found) ? "hit" : "miss";
    return h("button", {
      type: "button", "data-attn": "case", "data-verdict": verdict, onclick: () => choose(at),
      "aria-label": fill(t.cell, { system: names[s], group: groups[g], i: i + 1, verdict: t[verdict] }),
    }, isRight(found) ? "✓" : "✗");
  });
  const focus = roving(marks, choose);
  const under = (s, g) => marks.filter((_, at) => entries[at].places[0] === s && entries[at].places[1] === g);
  const board = h("table", { class: "attn-board-marks" },
    h("thead", {}, h("tr", {}, h("td", {}), groups.map((group) => h("th", { scope: "col" }, group)))),
    h("tbody", {}, names.map((name, s) => h("tr", {}, h("th", { scope: "row" }, name), groups.map((_, g) => {
      const right = cases[s][g].filter(isRight).length;
      return h("td", {}, h("span", { class: "attn-board-row" }, under(s, g)),
        h("small", { "data-attn": "score" }, fill(t.score, { right, n: cases[s][g].length })));
    })))));

  const about = h("p", { class: "attn-w-label", "data-attn": "about" });
  const picture = h("svg", { class: "attn-board-picture", viewBox: `0 0 ${N_COLUMNS * PATCH_SIZE} ${N_ROWS * PATCH_SIZE}`, "shape-rendering": "crispEdges", role: "img" });
  const text = h("p", { class: "attn-board-text", "data-attn": "text" });
  const asked = h("p", { class: "attn-board-asked", "data-attn": "asked" });
  const answer = h("p", { class: "attn-board-answer", "data-attn": "said" });
  const right = h("p", { "data-attn": "right" });
  const note = h("p", { class: "attn-w-label", "data-attn": "remark" });

  function draw(things) {
    picture.replaceChildren(...things.map((thing) => {
      const patch = h("svg", { x: thing.column * PATCH_SIZE, y: thing.row * PATCH_SIZE, width: PATCH_SIZE, height: PATCH_SIZE });
      patch.append(...pixelPaths(thing));
      return patch;
    }));
    const list = things.map(({ shape, colour }) => fill(t.thing, { shape: t.shapes[shape], colour: t.colours[colour] })).join(", ");
    picture.setAttribute("aria-label", fill(t.image, { things: list || t.empty }));
  }
  function update() {
    const [s, g, i] = model.get("chosen");
    const found = cases[s][g][i];
    const hit = isRight(found);
    marks.forEach((mark, at) => mark.setAttribute("aria-pressed", String(entries[at].found === found)));
    focus(entries.findIndex((entry) => entry.found === found));
    put(about, `${names[s]} · ${groups[g]}`);
    picture.toggleAttribute("hidden", !found.things);
    if (found.things) draw(found.things);
    for (const [node, words] of [[text, found.text], [asked, found.asked], [note, found.note]]) {
      put(node, words);
      node.hidden = !words;
    }
    answer.replaceChildren(h("b", { "aria-hidden": "true" }, hit ? "✓" : "✗"), h("span", { class: "attn-w-label" }, t.said), h("span", {}, found.said || t.silence));
    answer.setAttribute("data-verdict", hit ? "hit" : "miss");
    right.hidden = hit;
    right.replaceChildren(h("span", { class: "attn-w-label" }, t.right), " ", h("span", {}, found.right || t.silence));
  }
  const stops = [
    watch(model, ["chosen"], update),
    watch(model, ["chosen"], () => live.say([text, asked, answer, right].filter((node) => !node.hidden).map((node) => node.textContent).join(" "))),
  ];
  el.append(h("div", { class: "attn-w attn-board", lang: language, role: "group", "aria-label": t.title, "data-attn": "answer-board" },
    board, h("div", { class: "attn-board-case", style: `--ground: rgb(${GROUND.join(" ")})` }, about,
      h("div", { class: "attn-board-given" }, picture, h("div", {}, text, asked)), answer, right, note), live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
