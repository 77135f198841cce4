// The tokenizers of attn.tokenizer: whole words, looked up, and byte pairs, merged; and back.
import { wrong } from "./shared.js";

const SPECIAL_TOKENS = ["<pad>", "<unk>", "<sos>", "<eos>"];
export const [PAD, UNK, SOS, EOS] = SPECIAL_TOKENS.keys();

const OPENING = "¿¡([{«“‘$/";
const CLOSING = "?!)]}»”’.,;:…%/";
const QUOTES = "\"'";

// The letters of attn._letters, with their marks and joiners; and any other character, with what
// changes its looks. The white space is Python's, which is not that of JavaScript.
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const JOINERS = "\\u200c\\u200d";
const LETTERS = `[\\p{L}\\p{N}\\p{M}_][\\p{L}\\p{N}\\p{M}_${JOINERS}]*`;
const CLINGS = (OPENING + CLOSING + QUOTES).replace(/[[\](){}$/.|]/g, "\\$&");
const LOOKS = `[\\p{M}\\p{Emoji_Modifier}${JOINERS}\\u{e0020}-\\u{e007f}]|(?<=\\u200d)\\p{Extended_Pictographic}`;
const MARK = `(?:\\p{RI}\\p{RI}|[^${SPACE}${CLINGS}])(?:${LOOKS})*|[^${SPACE}]`;
const WORD = new RegExp(`${LETTERS}(?:(?:['’-]|(?<=\\p{Nd})[.,:](?=\\p{Nd}))${LETTERS})*|${MARK}`, "gu");

/** A vocabulary, { tokens, lowercase }: what is in the file that WordTokenizer.save writes. */
export class WordTokenizer {
  constructor({ tokens, lowercase }) {
    this.tokens = tokens;
    this.lowercase = lowercase;
    this.ids = new Map(tokens.map((token, id) => [token, id]).slice(SPECIAL_TOKENS.length));
  }

  /** Return the id of each word, with <sos> and <eos> if requested. */
  encode(text, { sos = false, eos = false } = {}) {
    const ids = this.split(text).map((word) => this.ids.get(word) ?? UNK);
    return [...(sos ? [SOS] : []), ...ids, ...(eos ? [EOS] : [])];
  }

  /** The text of ids, without padding, start and end. */
  decode(ids) {
    return join(ids.filter((id) => ![PAD, SOS, EOS].includes(id)).map((id) => this.tokens[id]));
  }

  /** Return the words of a text in the form in which they are looked up. */
  split(text) {
    return split(normalise(text, this.lowercase));
  }

  /** The words of a text that are not in the vocabulary, as { word, position }. */
  unknown(text) {
    const words = this.split(text).map((word, position) => ({ word, position }));
    return words.filter(({ word }) => !this.ids.has(word));
  }
}

/** Each accented letter as one character, in lower case. */
export const normalise = (text, lowercase = true) => (lowercase ? text.toLowerCase() : text).normalize("NFC");

/** Words and punctuation marks; spaces go. */
export const split = (text) => text.match(WORD) ?? [];

/** Words with spaces between them, except beside marks that cling to a word. */
export function join(words) {
  const openQuotes = new Set();
  let text = "";
  let space = "";
  for (const word of words) {
    let closes = CLOSING.includes(word);
    let opens = OPENING.includes(word);
    if (QUOTES.includes(word)) {
      closes = openQuotes.delete(word);
      opens = !closes;
      if (opens) openQuotes.add(word);
    }
    text += (closes ? "" : space) + word;
    space = opens ? "" : " ";
  }
  return text;
}

// Byte pairs -----------------------------------------------------------------------

const FIRST_BYTE = SPECIAL_TOKENS.length;
const FIRST_MERGE = FIRST_BYTE + 256;
// A run of letters, of digits or of other marks, with at most one space before it; or white space.
const PIECE = new RegExp(` ?(?:[\\p{L}\\p{Nl}\\p{No}][\\p{L}\\p{Nl}\\p{No}\\p{M}${JOINERS}]*|\\p{Nd}+|[^\\p{L}\\p{N}${SPACE}]+)|[${SPACE}]+(?![^${SPACE}])|[${SPACE}]+`, "gu");

/** All 256 bytes and the merges of a vocabulary, { tokens, merges }: the file of BytePairTokenizer.save. */
export class BytePairTokenizer {
  constructor({ tokens, merges }) {
    this.tokens = tokens;
    this.merged = new Map(merges.map((pair, i) => [this.nameOf(...pair), FIRST_MERGE + i]));
    this.bytes = SPECIAL_TOKENS.map((token) => [...new TextEncoder().encode(token)]);
    for (let byte = 0; byte < 256; byte++) this.bytes.push([byte]);
    for (const [left, right] of merges) this.bytes.push([...this.bytes[left], ...this.bytes[right]]);
  }

  nameOf(left, right) { return left * this.tokens.length + right; }

  /** The ids of any text, with <sos> and <eos> if requested. */
  encode(text, { sos = false, eos = false } = {}) {
    const half = text.search(/\p{Surrogate}/u);
    if (half >= 0) {
      const got = `the lone surrogate '\\u${text.charCodeAt(half).toString(16)}' at index ${[...text.slice(0, half)].length}`;
      throw wrong("text", "characters", got);
    }
    const ids = this.split(text).flatMap((piece) => this.merge(piece));
    return [...(sos ? [SOS] : []), ...ids, ...(eos ? [EOS] : [])];
  }

  /** Merge the pair of neighbours that was learned first, and repeat until no learned pair is left. */
  merge(piece) {
    let ids = Array.from(new TextEncoder().encode(piece), (byte) => FIRST_BYTE + byte);
    while (ids.length > 1) {
      const found = ids.slice(1).map((right, i) => this.merged.get(this.nameOf(ids[i], right)) ?? Infinity);
      const first = Math.min(...found);
      if (first === Infinity) break;
      const shorter = [];
      for (let i = 0; i < ids.length; i++) shorter.push(found[i] === first ? (i++, first) : ids[i]);
      ids = shorter;
    }
    return ids;
  }

  /** The text of ids, without padding, start and end; bytes that are no character become U+FFFD. */
  decode(ids) {
    return utf8(ids.filter((id) => ![PAD, SOS, EOS].includes(id)).flatMap((id) => this.bytes[id]));
  }

  /** Return the pieces of a text. Tokens are merged inside a piece, never across its borders. */
  split(text) { return text.match(PIECE) ?? []; }

  /** Every byte has a token. */
  unknown() { return []; }
}

// Tokens as people see them --------------------------------------------------------

/** The text of tokens without the end: words put side by side, or byte pairs, of which Python shows broken characters as \xNN. */
export function textOf(tokens, kind) {
  const shown = tokens.filter((token) => token !== SPECIAL_TOKENS[EOS]);
  if (kind !== "bpe") return join(shown);
  return utf8(shown.join("").split(/\\x([0-9a-f]{2})/).flatMap((part, i) => (i % 2 ? parseInt(part, 16) : [...new TextEncoder().encode(part)])));
}

/** Which byte pairs make up each word: their places, word by word. A mark is a word, and so is the end. */
export function wordsOf(tokens) {
  const starts = [...textOf(tokens, "bpe").matchAll(WORD)].map(({ index }) => index);
  const words = [];
  let last = null;
  tokens.forEach((token, i) => {
    const at = textOf(tokens.slice(0, i), "bpe").length + token.length - token.trimStart().length;
    const word = token === SPECIAL_TOKENS[EOS] ? Infinity : starts.filter((start) => start <= at).length;
    if (word === last) words.at(-1).push(i);
    else words.push([i]);
    last = word;
  });
  return words;
}

const utf8 = (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
