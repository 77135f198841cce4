// Cuts a text into the sentences that a translator reads one by one, and puts them together again: attn.applications.translation.cutting.
import { wrong } from "./shared.js";
import { SPACE } from "./tokenizer.js";

const CLOSERS = "[\"'”’»)\\]]*";
// No border begins within white space, so that a long run of it is read once.
const OUTSIDE = `(?<![${SPACE}])`;
const LINE_BREAK = new RegExp(`${OUTSIDE}[${SPACE}]*[\\n\\r\\u2028\\u2029][${SPACE}]*`, "gu");
// A full stop after a title or an initial ends no sentence, and neither does one before a
// lower-case letter.
const SENTENCE_END = new RegExp(`${OUTSIDE}(?=[${SPACE}])(?:(?<=[!?…]${CLOSERS})`
  + `|(?<=\\.${CLOSERS})(?<!(?:^|[^\\p{L}\\p{N}])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Sra|Srta|Dra|Ud|Uds|\\p{Lu})\\.)`
  + `(?=[${SPACE}]+[^${SPACE}\\p{Ll}]))[${SPACE}]+`, "gu");
// A mark goes with the white space around it; a conjunction of either language begins the next piece.
const HALF_END = new RegExp(`[;:]${CLOSERS}[${SPACE}]+|${OUTSIDE}(?:[${SPACE}]*—[${SPACE}]*|[${SPACE}]+[–-][${SPACE}]+)`, "gu");
const CLAUSE_END = new RegExp(`[.,]${CLOSERS}[${SPACE}]+|${OUTSIDE}[${SPACE}]+(?=(?:`
  + `and|but|or|so|because|although|though|while|when|if|unless|until|since|before|after|that|which|who|where`
  + `|y|pero|o|ni|sino|porque|aunque|mientras|cuando|si|hasta|desde|antes|después|que|quien|donde)[${SPACE}])`, "gu");
const WORD_END = new RegExp(`[${SPACE}]+`, "gu");
const AROUND = new RegExp(`^[${SPACE}]+|${OUTSIDE}[${SPACE}]+$`, "gu");

/**
 * Cut a text at its line breaks and the ends of its sentences, and a long sentence into pieces that fit, { text, after, begins, ends }:
 * what stands between a piece and the next, and whether the piece has the first and the last word of its sentence.
 * The error for a word that does not fit has that `word`.
 */
export function cutText(text, fits) {
  const found = [];
  for (const [line, breakAfter] of splitAt(text.replace(AROUND, ""), LINE_BREAK)) {
    for (const [sentence, space] of splitAt(line, SENTENCE_END)) {
      const parts = fitting(sentence, fits, [HALF_END, CLAUSE_END, WORD_END]);
      parts.forEach(([part, after], i) => found.push({ text: part, after, begins: i === 0, ends: i === parts.length - 1 }));
      found.at(-1).after = space;
    }
    found.at(-1).after = breakAfter;
  }
  return found;
}

/** The parts of a text, none of which is empty, each with the border after it. */
function splitAt(text, border) {
  const parts = [];
  let begin = 0;
  for (const { index, 0: between } of text.matchAll(border)) {
    if (index <= begin || index + between.length >= text.length) continue;
    parts.push([text.slice(begin, index), between]);
    begin = index + between.length;
  }
  return [...parts, [text.slice(begin), ""]];
}

/** The largest parts that fit, divided at the first kind of border that suffices. */
function fitting(text, fits, [border, ...others]) {
  if (fits(text)) return [[text, ""]];
  if (!border) throw Object.assign(wrong("text", "words that are short enough to translate", `one of ${text.length} characters`), { word: text });
  const [[first, afterFirst], ...rest] = splitAt(text, border);
  const found = [];
  let [held, after] = [first, afterFirst];
  for (const [part, afterPart] of [...rest, ["", ""]]) {
    if (part && fits(held + after + part)) {
      held += after + part;
    } else {
      found.push(...fitting(held, fits, others));
      found.at(-1)[1] = after;
      held = part;
    }
    after = afterPart;
  }
  return found;
}

/** The translation of a text, joined from those of its pieces with the punctuation and the white space between them. */
export const putTogether = (pieces, translations) => pieces.map((piece, i) => joinedPiece(piece, translations[i])).join("");

/** Within a sentence, a piece ends without a stop of its own and begins with a small letter, except with a word of the original or the English I. */
function joinedPiece({ text, after, begins, ends }, translation) {
  const said = ends ? translation : translation.replace(/\.$/, "");
  const first = begins ? null : /^([^\p{L}\p{N}]*)([\p{L}\p{N}'’-]+)/u.exec(said);
  if (!first || /^I(?:['’]|$)/.test(first[2]) || (text.match(/[\p{L}\p{N}'’-]+/gu) ?? []).includes(first[2])) return said + after;
  const [letter, ...others] = [...first[2]];
  return first[1] + letter.toLowerCase() + others.join("") + said.slice(first[0].length) + after;
}
