// Which of the two languages a text is in, or neither: attn.applications.translation.recogniser.
const ALPHABET = " abcdefghijklmnopqrstuvwxyzáéíñóúü'";
const [OTHER_LANGUAGE, NO_LANGUAGE, RANDOM_LETTER] = [4, 3, Math.log(26)];
const SPELLED = /\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*/gu;

/**
 * Return "en", "es", or "" for neither. A text is taken for `expected` as long as nothing in it says otherwise.
 * The `tables` are those of Python, in tenths of a nat: `words`, how much more probable each is in Spanish, and the surprise of pairs of letters.
 */
export function languageOf(text, expected, tables) {
  const found = text.match(SPELLED) ?? [];
  if (!found.length) return /\p{N}/u.test(text) || !/\p{So}/u.test(text) ? expected : "";
  const letters = [...found.join("")];
  if (2 * letters.filter((letter) => ALPHABET.includes(unaccented(letter))).length < letters.length) return "";
  const read = found.map(placesOfLetters);
  const surprise = read.map((ids) => ["en", "es"].map((name) => ids.slice(1).reduce((sum, to, i) => sum + tables[name][ids[i]][to] / 10, 0)));
  const least = Math.min(...[0, 1].map((k) => surprise.reduce((sum, both) => sum + both[k], 0)));
  if (read.reduce((sum, ids) => sum + ids.length - 1, 0) * RANDOM_LETTER < least - NO_LANGUAGE) return "";
  let evidence = 0;
  found.forEach((word, i) => {
    // A capitalised word within a sentence is a name, which belongs to no language.
    if (i && isCapital([...word][0]) && !isCapital(word)) return;
    const known = tables.words[inSmall(word)];
    evidence += known === undefined ? surprise[i][0] - surprise[i][1] : known / 10;
  });
  if (expected === "en") return evidence > OTHER_LANGUAGE ? "es" : "en";
  return -evidence > OTHER_LANGUAGE ? "en" : "es";
}

/** The indices in ALPHABET of the letters of a word, with a space at each end. */
function placesOfLetters(word) {
  const inside = [...inSmall(word).normalize("NFC")].map(unaccented).filter((letter) => ALPHABET.includes(letter));
  return [0, ...inside.map((letter) => ALPHABET.indexOf(letter)), 0];
}

const inSmall = (word) => word.toLowerCase().replaceAll("’", "'");
const unaccented = (letter) => (ALPHABET.includes(letter) ? letter : [...letter.toLowerCase().normalize("NFD")][0]);
const isCapital = (text) => text === text.toUpperCase() && text !== text.toLowerCase();
