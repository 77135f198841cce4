// WordPiece, as attn.tokenizer.WordPieceTokenizer has it for text in lower case: words in pieces.
import { checkText } from "./byte_level.js";

const LONGEST = 100; // A word of more characters is unknown.
// What is no text; the white space of Unicode; Chinese characters, each of which is a word; and punctuation.
const NO_TEXT = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\ufffd]/gu;
const BLANKS = /[\t\n\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/gu;
const HAN = /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
const MARK = /[\p{P}$+<=>^`|~]/gu;

export class WordPieceTokenizer {
  /** Made from the vocabulary in the order of its ids. */
  constructor(tokens) {
    this.ids = new Map(tokens.map((token, id) => [token, id]));
    [this.unkId, this.sosId, this.eosId] = ["[UNK]", "[CLS]", "[SEP]"].map((mark) => this.ids.get(mark));
  }

  /** The ids of a text, without those of its start and its end. */
  encode(text) {
    checkText(text);
    const plain = text.replace(NO_TEXT, "").replace(BLANKS, " ").replace(HAN, " $& ").normalize("NFD").replace(/\p{Mn}/gu, "");
    // Each letter alone, because a sigma at the end of a word would become another letter.
    const lower = Array.from(plain, (letter) => letter.toLowerCase()).join("");
    return lower.replace(MARK, " $& ").split(" ").filter(Boolean).flatMap((word) => this.pieces(Array.from(word)));
  }

  /** Split a word greedily into the longest pieces that there are. */
  pieces(letters) {
    const ids = [];
    let start = 0;
    while (start < letters.length && letters.length <= LONGEST) {
      let stop = letters.length;
      let id;
      while (stop > start && (id = this.ids.get((start ? "##" : "") + letters.slice(start, stop).join(""))) === undefined) stop -= 1;
      if (stop === start) break;
      ids.push(id);
      start = stop;
    }
    return start === letters.length ? ids : [this.unkId];
  }
}
