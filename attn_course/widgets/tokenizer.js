// The WordTokenizer of attn.tokenizer: normalise, split, look up; and back.

const SPECIAL_TOKENS = ["<pad>", "<unk>", "<sos>", "<eos>"];
export const [PAD, UNK, SOS, EOS] = SPECIAL_TOKENS.keys();

// Python's \w, \d and \S, which are not those of JavaScript.
const LETTERS = "[\\p{L}\\p{N}_\\u0300-\\u036f]+";
const MARK = "[^\\s\\x1c-\\x1f\\x85]|\\ufeff";
const WORD = new RegExp(`${LETTERS}(?:(?:['’-]|(?<=\\p{Nd})[.,:](?=\\p{Nd}))${LETTERS})*|${MARK}`, "gu");

const OPENING = "¿¡([{«“‘$/";
const CLOSING = "?!)]}»”’.,;:…%/";
const QUOTES = "\"'";

/** A vocabulary, { tokens, lowercase }: what is in the file that WordTokenizer.save writes. */
export class WordTokenizer {
  constructor({ tokens, lowercase }) {
    this.tokens = tokens;
    this.lowercase = lowercase;
    this.ids = new Map(tokens.map((token, id) => [token, id]).slice(SPECIAL_TOKENS.length));
  }

  /** The id of each word, after <sos> and before <eos> if asked for. */
  encode(text, { sos = false, eos = false } = {}) {
    const ids = this.split(text).map((word) => this.ids.get(word) ?? UNK);
    return [...(sos ? [SOS] : []), ...ids, ...(eos ? [EOS] : [])];
  }

  /** The text of ids, without padding, start and end. */
  decode(ids) {
    return join(ids.filter((id) => ![PAD, SOS, EOS].includes(id)).map((id) => this.tokens[id]));
  }

  /** The words of a text, as they are looked up. */
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
