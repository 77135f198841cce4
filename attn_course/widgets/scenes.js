// Small scenes as attn.applications.visual_question draws them, and questions about them.
import { h } from "./shared.js";

export const [N_ROWS, N_COLUMNS, PATCH_SIZE] = [6, 6, 8];
export const GROUND = [238, 236, 228];
export const COLOURS = {
  red: [206, 44, 38], green: [46, 150, 62], blue: [38, 92, 200], yellow: [240, 190, 20], purple: [140, 60, 160],
};

// A mark is a pixel: # of the thing's colour, + lighter, - darker, and a dot shows the ground.
export const SHAPES = {
  ball: ["..###..", ".#++##.", "##+####", "#######", "######-", ".####-.", "..#--.."],
  box: ["+++++++", "#######", "-------", "#######", "###-###", "#######", "#######"],
  star: ["...#...", "...#...", "#######", ".#####.", "..###..", ".##.##.", "##...##"],
  tree: ["...#...", "..###..", ".#####.", "..###..", ".#####.", "#######", "...-..."],
};
const SHADES = { "#": [1, 0], "+": [0.5, 127], "-": [0.5, 0] }; // A shade is the colour times the first number plus the second.

/** Round as NumPy does: a half goes to the even neighbour. */
function nearest(x) {
  const up = Math.round(x);
  return up - x === 0.5 && up % 2 ? up - 1 : up;
}

/** Red, green and blue of a mark. */
export const shade = (mark, colour) => COLOURS[colour].map((x) => nearest(SHADES[mark][0] * x + SHADES[mark][1]));

/** Draw the pixels of a thing as the model sees them, with a path for each of its shades. */
export function pixelPaths({ shape, colour }) {
  const marks = SHAPES[shape].flatMap((line, row) => [...line].map((mark, column) => [mark, row, column]));
  return ["#", "+", "-"].map((mark) => h("path", {
    fill: `rgb(${shade(mark, colour).join(" ")})`,
    d: marks.filter(([m]) => m === mark).map(([, row, column]) => `M${column} ${row}h1v1h-1z`).join(""),
  }));
}

/** Return the 8 × 8 × 3 numbers of a patch that shows a thing, or an empty one. */
export function patchPixels(thing) {
  const pixels = [];
  for (let row = 0; row < PATCH_SIZE; row++) {
    for (let column = 0; column < PATCH_SIZE; column++) {
      const mark = thing ? SHAPES[thing.shape][row]?.[column] ?? "." : ".";
      pixels.push(...(mark === "." ? GROUND : shade(mark, thing.colour)));
    }
  }
  return pixels;
}

/** Every question that can be asked: { kind, shape, colour, other }. */
export function allQuestions() {
  const shapes = Object.keys(SHAPES);
  return [
    ...["colour", "count", "where"].flatMap((kind) => shapes.map((shape) => ({ kind, shape }))),
    ...shapes.flatMap((shape) => Object.keys(COLOURS).map((colour) => ({ kind: "exists", shape, colour }))),
    ...shapes.flatMap((shape) => shapes.filter((other) => other !== shape).map((other) => ({ kind: "left", shape, other }))),
  ];
}

/** Choose one of every two forms with a slash between them, by gender: 0 or 1. */
export const agree = (text, gender) => text.replace(/([\p{L}]+)\/([\p{L}]+)/gu, (_, ...forms) => forms[gender]);

/** The words of a question, with the lexicon of a language. */
export function questionText({ kind, shape, colour, other }, { nouns, colours, asks }) {
  const [one, many, , gender] = nouns[shape];
  const parts = { one, many, colour: colours[colour], of_other: other && nouns[other][2] };
  return agree(asks[kind].replace(/\{(\w+)\}/g, (_, name) => parts[name]), gender);
}

/**
 * Return the right answer, or null where the scene does not meet the assumptions of the question:
 * a question for a colour or a place assumes one thing of that shape, a comparison assumes two
 * different columns, and a count assumes at most four things.
 */
export function rightAnswer({ kind, shape, colour, other }, things, { nouns, colours, numbers, places, truth }) {
  const all = (shape) => things.filter((thing) => thing.shape === shape);
  const [mine, theirs] = [all(shape), all(other)];
  const say = (text) => agree(text, nouns[shape][3]);
  if (kind === "exists") return truth[Number(mine.some((thing) => thing.colour === colour))];
  if (kind === "count") return mine.length < numbers.length ? say(numbers[mine.length]) : null;
  if (mine.length !== 1) return null;
  const [{ row, column, colour: found }] = mine;
  if (kind === "colour") return say(colours[found]);
  if (kind === "where") return places[2 * Number(row >= N_ROWS / 2) + Number(column >= N_COLUMNS / 2)];
  if (theirs.length !== 1 || column === theirs[0].column) return null;
  return truth[Number(column < theirs[0].column)];
}
