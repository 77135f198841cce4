// The byte-pair encoding of attn.tokenizer.ByteLevelTokenizer, with the vocabulary that a GGUF file holds.
import { wrong } from "./shared.js";

// The white space of Unicode, which is not that of JavaScript.
const SPACES = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const GPT2_WORDS = new RegExp(`'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^${SPACES}\\p{L}\\p{N}]+|[${SPACES}]+(?![^${SPACES}])|[${SPACES}]+`, "gu");
const NUMBER = /\p{N}|\P{N}+/gu;
const SPLITS = { "gpt-2": [GPT2_WORDS], smollm: [NUMBER, GPT2_WORDS] };
const [UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE] = [2, 3, 4, 5, 6]; // GGUF's types of tokens; 1 is a normal one.

/** The visible character that stands for each byte in such vocabularies. */
function byteLetters() {
  const visible = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(visible(byte) ? byte : 256 + others++));
}

/** Refuse half a surrogate pair, which is no character. */
export function checkText(text) {
  const half = text.search(/\p{Surrogate}/u);
  if (half < 0) return;
  const got = `the lone surrogate '\\u${text.charCodeAt(half).toString(16)}' at index ${[...text.slice(0, half)].length}`;
  throw wrong("text", "characters", got);
}

/** Made from the metadata of a GGUF file. */
export class ByteLevelTokenizer {
  constructor(metadata) {
    const said = (name) => metadata[`tokenizer.ggml.${name}`];
    if (said("model") !== "gpt2") throw wrong("tokenizer.ggml.model", "'gpt2', a byte-level BPE", said("model"));
    if (!(said("pre") in SPLITS)) throw wrong("tokenizer.ggml.pre", Object.keys(SPLITS).join(" or "), said("pre"));
    this.patterns = SPLITS[said("pre")];
    this.vocabulary = said("tokens");
    const letters = byteLetters();
    const byteOf = new Map(letters.map((letter, byte) => [letter, byte]));
    const ids = new Map(this.vocabulary.map((token, id) => [token, id]));
    this.letters = letters.map((letter) => ids.get(letter)); // Bytes without a token are left out of a text.
    this.merges = new Map();
    const made = new Set(this.letters);
    said("merges").forEach((merge, rank) => {
      const [left, right] = merge.split(" ");
      const id = ids.get(left + right);
      this.merges.set(this.nameOf(ids.get(left), ids.get(right)), { rank, id });
      made.add(id);
    });
    const kinds = said("token_type");
    const are = (...some) => this.vocabulary.map((_, id) => id).filter((id) => some.includes(kinds[id]));
    this.special = new Set(are(UNKNOWN, CONTROL));
    this.added = new Map(are(UNKNOWN, CONTROL, USER_DEFINED).map((id) => [this.vocabulary[id], id]));
    const plain = new Set([...this.added.values()].filter((id) => !made.has(id)));
    this.bytesOf = (id) => (plain.has(id) || [...this.vocabulary[id]].some((letter) => !byteOf.has(letter))
      ? new TextEncoder().encode(this.vocabulary[id]) : Uint8Array.from(this.vocabulary[id], (letter) => byteOf.get(letter)));
    const ends = ["eos", "eot", "eom"].map((name) => said(`${name}_token_id`)).filter((id) => id !== undefined);
    this.endIds = [...new Set(ends.length ? ends : [Math.min(...this.special)])];
    this.silent = new Set([...this.special, ...this.endIds, ...are(UNUSED, BYTE)]);
    const escaped = [...this.added.keys()].sort((a, b) => b.length - a.length).map((token) => token.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    this.marks = new RegExp(escaped.join("|") || "(?!)", "gu");
  }

  nameOf(left, right) { return left * this.vocabulary.length + right; }

  /** The ids of a text. Special tokens written in it are plain text, unless the text is `marked`. */
  encode(text, { marked = false } = {}) {
    checkText(text);
    const ids = [];
    let done = 0;
    for (const { 0: token, index } of text.matchAll(this.marks)) {
      const id = this.added.get(token);
      if (this.special.has(id) && !marked) continue;
      ids.push(...this.piece(text.slice(done, index)), id);
      done = index + token.length;
    }
    return [...ids, ...this.piece(text.slice(done))];
  }

  piece(text) { return this.split(text).flatMap((word) => this.merge(word)); }

  /** The words of a text. Tokens are merged inside a word, never across its borders. */
  split(text) { return this.patterns.reduce((parts, pattern) => parts.flatMap((part) => part.match(pattern) ?? []), [text]); }

  /** Merge the pair of neighbours that was learned first, and repeat until no learned pair is left. */
  merge(word) {
    let ids = Array.from(new TextEncoder().encode(word), (byte) => this.letters[byte]).filter((id) => id !== undefined);
    while (ids.length > 1) {
      const found = ids.slice(1).map((right, i) => this.merges.get(this.nameOf(ids[i], right)));
      const first = found.reduce((least, merge) => Math.min(least, merge?.rank ?? Infinity), Infinity);
      if (first === Infinity) break;
      const shorter = [];
      for (let i = 0; i < ids.length; i++) shorter.push(found[i]?.rank === first ? found[i++].id : ids[i]);
      ids = shorter;
    }
    return ids;
  }

  /** The text of ids, without special tokens; invalid bytes become U+FFFD. */
  decode(ids) { return utf8Of(ids.filter((id) => !this.silent.has(id)).flatMap((id) => [...this.bytesOf(id)])); }

  /** A token as people see it: special tokens by their names. */
  show(id) { return utf8Of(this.bytesOf(id)); }
}

const utf8Of = (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
