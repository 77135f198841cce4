// VisualAsker: a scene to paint, a question, and the trained model's answer and attention.
import { COLOURS, GROUND, N_COLUMNS, N_ROWS, SHAPES, agree, allQuestions, pixelPaths, questionText, rightAnswer } from "./scenes.js";
import { announcer, examples, fill, format, formatBrief, h, largest, list, put, radios, roving, uid } from "./shared.js";
import { loadVisual, look } from "./visual_model.js";

export const STRINGS = {
  es: {
    title: "Pregunta a la imagen",
    scene: "Imagen", sceneHelp: "Elige qué pones y pulsa una celda; si la pulsas otra vez, lo quitas.",
    shape: "Poner", colour: "Color", nothing: "nada", clear: "Vaciar",
    shapes: { ball: "balón", box: "caja", star: "estrella", tree: "árbol" },
    colourNames: { red: "rojo", green: "verde", blue: "azul", yellow: "amarillo", purple: "morado" },
    question: "Pregunta", ask: "Preguntar", pick: "O elige una", pickOne: "preguntas",
    kinds: { colour: "¿De qué color?", count: "¿Cuántos?", where: "¿Dónde?", exists: "¿Hay?", left: "¿A la izquierda?" },
    without: "El modelo", whole: "entero", places: "sin posiciones", choice: "con pesos iguales", mask: "sin máscara de relleno",
    layer: "Capa", head: "Cabeza", all: "media", query: "Query",
    cell: "fila {row}, columna {column}: {thing}; peso {weight}", empty: "vacía", thing: "{shape}, {colour}",
    ready: "Calculado de antemano: el modelo se carga al preguntar.",
    loading: "El modelo se está cargando…", failed: "El modelo no llegó: sus archivos no están junto a esta página.",
    unknown: "Fuera del vocabulario: {words}. Cuentan las tildes; o elige una de la lista.", noWords: "Escribe una pregunta.",
    right: "Correcto.", wrong: "La respuesta correcta es «{right}».",
    odd: "La pregunta supone otra imagen: al entrenar no hubo ninguna así.", free: "Pregunta fuera de la lista: no hay con qué comparar.",
    most: "La query «{token}» atiende sobre todo a {cell}: {weight}.", even: "La query «{token}» reparte su peso por igual entre las 36 celdas.",
    mass: "A lo preguntado le da {mass}; si repartiera por igual, le daría {chance}.",
    place: "la fila {row}, columna {column}", and: "y", probability: "probabilidad",
    nouns: { ball: ["balón", "balones", "del balón", 0], box: ["caja", "cajas", "de la caja", 1], star: ["estrella", "estrellas", "de la estrella", 1], tree: ["árbol", "árboles", "del árbol", 0] },
    colours: { red: "rojo/roja", green: "verde", blue: "azul", yellow: "amarillo/amarilla", purple: "morado/morada" },
    asks: { colour: "¿De qué color es el/la {one}?", count: "¿Cuántos/Cuántas {many} hay?", where: "¿Dónde está el/la {one}?", exists: "¿Hay un/una {one} {colour}?", left: "¿Está el/la {one} a la izquierda {of_other}?" },
    numbers: ["ninguno/ninguna", "uno/una", "dos", "tres", "cuatro"],
    places4: ["arriba a la izquierda", "arriba a la derecha", "abajo a la izquierda", "abajo a la derecha"],
    truth: ["no", "sí"],
  },
  en: {
    title: "Ask the image",
    scene: "Image", sceneHelp: "Choose what to put and press a cell; press again to take it away.",
    shape: "Put", colour: "Colour", nothing: "nothing", clear: "Clear",
    shapes: { ball: "ball", box: "box", star: "star", tree: "tree" },
    colourNames: { red: "red", green: "green", blue: "blue", yellow: "yellow", purple: "purple" },
    question: "Question", ask: "Ask", pick: "Or pick one", pickOne: "questions",
    kinds: { colour: "What colour?", count: "How many?", where: "Where?", exists: "Is there?", left: "To the left?" },
    without: "The model", whole: "whole", places: "no positions", choice: "even weights", mask: "no padding mask",
    layer: "Layer", head: "Head", all: "mean", query: "Query",
    cell: "row {row}, column {column}: {thing}; weight {weight}", empty: "empty", thing: "{colour} {shape}",
    ready: "Computed beforehand: the model loads when you ask.",
    loading: "The model is loading…", failed: "The model did not arrive: its files are not beside this page.",
    unknown: "Outside the vocabulary: {words}. Try one from the list.", noWords: "Write a question.",
    right: "Right.", wrong: "The right answer is “{right}”.",
    odd: "The question supposes another image: training had none like this.", free: "A question outside the list: there is nothing to compare with.",
    most: "The query “{token}” attends most to {cell}: {weight}.", even: "The query “{token}” spreads its weight evenly over the 36 cells.",
    mass: "What is asked about gets {mass}; with equal weights it would get {chance}.",
    place: "row {row}, column {column}", and: "and", probability: "probability",
    nouns: { ball: ["ball", "balls", "of the ball", 0], box: ["box", "boxes", "of the box", 0], star: ["star", "stars", "of the star", 0], tree: ["tree", "trees", "of the tree", 0] },
    colours: { red: "red", green: "green", blue: "blue", yellow: "yellow", purple: "purple" },
    asks: { colour: "What colour is the {one}?", count: "How many {many} are there?", where: "Where is the {one}?", exists: "Is there a {colour} {one}?", left: "Is the {one} to the left {of_other}?" },
    numbers: ["none", "one", "two", "three", "four"],
    places4: ["top left", "top right", "bottom left", "bottom right"],
    truth: ["no", "yes"],
  },
};

const SHOWN = 3; // This many answers are shown, each with its probability.
const ERASER = "nothing";
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/[¿?\s]+/g, " ").trim();

/** The parts of a language's lexicon that `rightAnswer` and `questionText` need. */
export const lexicon = (language) => ({ ...STRINGS[language], places: STRINGS[language].places4 });

/** Find the listed question that matches a text, in either language, ignoring case and punctuation: { question, words }. */
export function findQuestion(text) {
  const found = Object.keys(STRINGS).flatMap((language) => {
    const words = lexicon(language);
    return allQuestions().filter((question) => plain(questionText(question, words)) === plain(text)).map((question) => ({ question, words }));
  });
  return found[0] ?? null;
}

/**
 * Give the answers in the language of the question. The model learned two languages, and mixes them when
 * a question is unlike those of its training. An answer and its translation therefore count as one answer,
 * whose probability is the sum of both.
 */
export function inOneLanguage(answers, { words, question }) {
  const said = ({ colours, numbers, places4, truth }) => [...Object.values(colours), ...numbers, ...places4, ...truth];
  const place = (text, list) => list.findIndex((word) => word.split("/").includes(text));
  const own = said(words);
  const sums = new Map();
  for (const { text, probability } of answers) {
    const i = Math.max(...Object.values(STRINGS).map((language) => place(text, said(language))));
    const shown = i < 0 || place(text, own) >= 0 ? text : agree(own[i], question ? words.nouns[question.shape][3] : 0);
    sums.set(shown, (sums.get(shown) ?? 0) + probability);
  }
  return [...sums].map(([text, probability]) => ({ text, probability })).sort((a, b) => b.probability - a.probability);
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const words = lexicon(language);
  const live = announcer();
  const example = model.get("example");
  let things = model.get("things").map((thing) => ({ ...thing }));
  let brush = { shape: "ball", colour: "red" };
  let without = null;
  const choice = { layer: null, head: null, row: 0 };
  let result = example;
  let asked = 0; // Counts the questions, so that a late answer to an old question is not shown.

  const at = (i) => things.find(({ row, column }) => row * N_COLUMNS + column === i);
  const place = (i) => ({ row: 1 + Math.floor(i / N_COLUMNS), column: 1 + (i % N_COLUMNS) });
  const named = ({ shape, colour }) => fill(t.thing, { shape: t.shapes[shape], colour: t.colourNames[colour] });

  // The image.
  const cells = Array.from({ length: N_ROWS * N_COLUMNS }, (_, i) => {
    const art = h("svg", { viewBox: "0 0 8 8", "aria-hidden": "true", "shape-rendering": "crispEdges" });
    const number = h("span", { class: "attn-w-number", "aria-hidden": "true" });
    const node = h("button", { type: "button", "data-attn": "cell", "data-cell": i, onclick: () => paint(i) }, art, number);
    return { node, art, number };
  });
  const focusCell = roving(cells.map(({ node }) => node), (i) => focusCell(i), () => N_COLUMNS);
  focusCell(0);
  const grid = h("div", {
    class: "attn-visual-grid", role: "group", "aria-label": t.scene, style: `--ground: rgb(${GROUND.join(" ")})`,
  }, cells.map(({ node }) => node));
  const shapes = radios(t.shape, "shape", [...Object.keys(SHAPES).map((shape) => [shape, t.shapes[shape]]), [ERASER, t.nothing]], brush.shape,
    (shape) => { brush = { ...brush, shape }; });
  const colours = radios(t.colour, "colour", Object.keys(COLOURS).map((colour) => [colour, t.colourNames[colour]]), brush.colour,
    (colour) => { brush = { ...brush, colour }; });
  const clear = h("button", { type: "button", class: "attn-w-button", "data-attn": "clear", onclick: () => { things = []; wish(); } }, t.clear);

  // The question.
  const input = h("input", {
    type: "text", id: uid(), class: "attn-live-input", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    value: model.get("question"), "data-attn": "question", onfocus: () => loadVisual(model).catch(() => {}),
  });
  const kinds = Object.entries(t.kinds).map(([kind, label]) => h("optgroup", { label },
    allQuestions().filter((question) => question.kind === kind).map((question) => h("option", {}, questionText(question, words)))));
  const picker = examples(t, kinds, (question) => {
    input.value = question;
    wish();
  });
  const form = h("form", { class: "attn-live-form", novalidate: true, onsubmit: (event) => { event.preventDefault(); wish(); } },
    h("label", { for: input.id, class: "attn-w-label" }, t.question), input,
    h("button", { class: "attn-w-button", "data-attn": "ask" }, t.ask),
    picker);
  const parts = radios(t.without, "without", [["", t.whole], ...["places", "choice", "mask"].map((part) => [part, t[part]])], "", (part) => {
    without = part || null;
    wish();
  });

  // The answer.
  const answers = h("ol", { class: "attn-visual-answers", "data-attn": "answers" });
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });
  const tokens = h("div", { class: "attn-visual-tokens", role: "radiogroup", "aria-label": t.query });
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const numbered = (n) => [[null, t.all], ...Array.from({ length: n }, (_, i) => [i, String(i + 1)])];
  const where = h("div", { class: "attn-w-controls attn-live-where" }, ["layer", "head"].map((name, depth) =>
    radios(t[name], name, numbered(depth ? example.weights[0].length : example.weights.length), null, (value) => {
      choice[name] = value;
      draw();
      live.say(summary.textContent);
    })));

  /** Return the weights of the chosen query over the cells, averaged over layers and heads that are not fixed by the reader. */
  function weights() {
    const layers = result.weights.filter((_, l) => choice.layer === null || l === choice.layer);
    const rows = layers.flatMap((heads) => heads.filter((_, k) => choice.head === null || k === choice.head)).map((head) => head[choice.row]);
    return rows[0].map((_, j) => rows.reduce((total, row) => total + row[j], 0) / rows.length);
  }
  function drawScene(row) {
    cells.forEach(({ node, art, number }, i) => {
      const thing = at(i);
      const key = thing ? `${thing.shape} ${thing.colour}` : "";
      if (art.dataset.thing !== key) {
        art.dataset.thing = key;
        art.replaceChildren(...(thing ? pixelPaths(thing) : []));
      }
      const weight = row ? row[i] : null;
      put(number, weight >= 0.005 ? formatBrief(weight) : "");
      number.style.backgroundColor = `rgb(var(--attn-heat) / ${weight ? Math.round(100 * weight) / 100 : 0})`;
      number.toggleAttribute("data-deep", weight > 0.757);
      node.setAttribute("data-value", weight ?? "");
      node.setAttribute("aria-label", fill(t.cell, {
        ...place(i), thing: thing ? named(thing) : t.empty, weight: weight === null ? "—" : format(weight),
      }));
    });
  }
  function draw() {
    if (!result) return drawScene(null);
    const row = weights();
    drawScene(row);
    [...tokens.children].forEach((node, i) => {
      node.setAttribute("aria-checked", String(i === choice.row));
      node.tabIndex = i === choice.row ? 0 : -1;
    });
    const token = result.tokens[choice.row];
    const tops = largest(row);
    const most = tops.length > 3 ? fill(t.even, { token }) : fill(t.most, {
      token, weight: format(row[tops[0]]),
      cell: list(tops.map((i) => fill(t.place, place(i)) + (at(i) ? ` (${named(at(i))})` : "")), t.and),
    });
    const about = aboutWhat();
    const mass = about.reduce((total, i) => total + row[i], 0);
    put(summary, about.length ? `${most} ${fill(t.mass, { mass: format(mass), chance: format(about.length / row.length) })}` : most);
  }
  /** The cells of the things that the question is about. */
  function aboutWhat() {
    const found = findQuestion(input.value);
    if (!found) return [];
    const { question } = found;
    return things.filter(({ shape, colour }) => (question.kind === "exists"
      ? shape === question.shape && colour === question.colour : shape === question.shape || shape === question.other))
      .map(({ row, column }) => row * N_COLUMNS + column);
  }
  function verdict(answer) {
    const found = findQuestion(input.value);
    if (!found) return [t.free, false];
    const right = rightAnswer(found.question, things, found.words);
    if (right === null) return [t.odd, false];
    return right === answer ? [t.right, false] : [fill(t.wrong, { right }), true];
  }
  function show(found, preface = "") {
    result = found;
    choice.row = Math.min(choice.row, found.tokens.length - 1);
    answers.replaceChildren(...found.answers.slice(0, SHOWN).map(({ text, probability }, i) =>
      h("li", { "data-attn": "answer", "data-value": probability },
        h("span", {}, text), h("i", { "aria-hidden": "true" }, h("b", { style: `width: ${100 * probability}%` })),
        h("span", { class: "attn-w-number" }, h("span", { class: "attn-w-hidden" }, `${t.probability} `), format(probability, i ? 3 : 2)))));
    tokens.replaceChildren(...found.tokens.map((token, i) => h("button", {
      type: "button", role: "radio", "data-attn": "token", "data-row": i,
      onclick: () => { choice.row = i; draw(); live.say(summary.textContent); },
    }, token)));
    roving([...tokens.children], (i) => tokens.children[i].click());
    const [text, bad] = verdict(found.answers[0].text);
    put(note, [text, preface].filter(Boolean).join(" "));
    note.toggleAttribute("data-bad", bad);
    draw();
  }
  function refuse(text) {
    result = null;
    answers.replaceChildren();
    tokens.replaceChildren();
    put(summary, "");
    put(note, text);
    note.toggleAttribute("data-bad", true);
    live.say(text);
    draw();
  }
  async function wish() {
    const turn = ++asked;
    drawScene(result && weights());
    const waiting = setTimeout(() => put(note, t.loading), 200);
    let trained;
    try {
      trained = await loadVisual(model);
    } catch (error) {
      console.warn(error.message);
    }
    clearTimeout(waiting);
    if (turn !== asked) return;
    if (!trained) return refuse(t.failed);
    const found = findQuestion(input.value);
    const text = found ? questionText(found.question, found.words) : input.value; // A known question is written with its accents.
    const ids = trained.tokenizer.encode(text, { sos: true });
    if (ids.length === 1) return refuse(t.noWords);
    const unknown = trained.tokenizer.unknown(text);
    if (unknown.length) return refuse(fill(t.unknown, { words: list(unknown.map(({ word }) => word), t.and) }));
    const { layers, probabilities } = look(trained, things, ids, without);
    show({
      tokens: ids.map((id) => trained.tokenizer.tokens[id]),
      weights: layers.map(({ crossAttention }) => crossAttention.weights),
      answers: inOneLanguage(trained.answers.map((answer, i) => ({ text: answer, probability: probabilities[i] })), found ?? { words }),
    });
    live.say(`${result.answers[0].text}. ${note.textContent}`);
  }
  function paint(i) {
    const old = at(i);
    const same = old && old.shape === brush.shape && old.colour === brush.colour;
    things = things.filter((thing) => thing !== old);
    if (!same && brush.shape !== ERASER) things.push({ ...brush, row: Math.floor(i / N_COLUMNS), column: i % N_COLUMNS });
    focusCell(i);
    wish();
  }

  el.append(h("div", { class: "attn-w attn-visual", lang: language, role: "group", "aria-label": t.title, "data-attn": "visual-asker" },
    h("div", { class: "attn-visual-stage" },
      h("div", { class: "attn-visual-scene" }, grid, h("p", { class: "attn-w-label" }, t.sceneHelp), shapes, colours, clear),
      h("div", { class: "attn-visual-side" }, form, parts, answers, note, where, tokens, summary)),
    live.node));
  show(example, t.ready);
}

export default { render };
