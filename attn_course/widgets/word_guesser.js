// Hides a word and shows the guesses of three models, which read different parts of the sentence.
import { announcer, fill, format, h, put, roving, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Adivinar la palabra que falta", sentences: "Oración", words: "Palabra tapada",
    masked: "Codificador", causal: "Decodificador", recurrent: "Dos GRU",
    reads: "Lee: {text}", right: "la correcta", place: "puesto {rank}",
    caption: "Las palabras más probables según: {name}", head: ["palabra", "probabilidad"],
    summary: "Falta «{word}». Codificador: {masked}. Decodificador: {causal}. Dos GRU: {recurrent}.",
  },
  en: {
    title: "Guess the missing word", sentences: "Sentence", words: "Hidden word",
    masked: "Encoder", causal: "Decoder", recurrent: "Two GRUs",
    reads: "Reads: {text}", right: "the right one", place: "rank {rank}",
    caption: "The most probable words according to: {name}", head: ["word", "probability"],
    summary: "Missing: “{word}”. Encoder: {masked}. Decoder: {causal}. Two GRUs: {recurrent}.",
  },
};

const MODELS = ["masked", "causal", "recurrent"];
const share = (p) => (p < 0.0005 ? "<\u20090.001" : format(p, 3));

/** Return the part of a sentence that a model reads when word `hidden` is hidden. */
export function reading(name, words, hidden) {
  const [before, after] = [words.slice(0, hidden), words.slice(hidden + 1)];
  if (name === "causal") return [...before, "…"].join(" ");
  if (name === "recurrent") return [...before, "→", "▢", "←", ...after].join(" ");
  return [...before, "▢", ...after].join(" ");
}

/** Return the rows of a model: its best guesses, the last of them replaced by the right word if that is missing. */
export function rowsOf({ best, right, rank }, word) {
  const rows = best.map(([token, p], i) => ({ token, p, rank: i + 1, right: token === word }));
  return rows.some((row) => row.right) ? rows : [...rows.slice(0, -1), { token: word, p: right, rank, right: true }];
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const sentences = model.get("sentences");
  const group = uid();
  const live = announcer();
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };

  const radios = sentences.map(({ words }, i) =>
    h("label", { class: "attn-w-choice" },
      h("input", {
        type: "radio", name: group, value: i, checked: i === model.get("sentence"), "data-attn": "sentence",
        // The place begins again at 0, because the new sentence may be shorter.
        onchange: () => set({ hidden: 0, sentence: i }),
      }), h("span", { lang: "es" }, words.join(" "))));

  const line = h("div", { class: "attn-guesser-words", role: "radiogroup", "aria-label": t.words, lang: "es" });
  let buttons = [];
  let current = () => {};
  let drawn = -1;
  function showWords() {
    const { words } = sentences[model.get("sentence")];
    buttons = words.map((word, i) =>
      h("button", {
        type: "button", class: "attn-explorer-query", role: "radio", "data-attn": "word", onclick: () => set({ hidden: i }),
      }, word));
    current = roving(buttons, (i) => set({ hidden: i }));
    line.replaceChildren(...buttons);
    drawn = model.get("sentence");
  }

  const columns = MODELS.map((name) => {
    const reads = h("small", { lang: "es", "data-attn": "reads" });
    const rows = Array.from({ length: sentences[0][name][0].best.length }, () => {
      const [word, note, said, bar] = [h("span", { lang: "es" }), h("small", { "data-attn": "note" }), h("span", { class: "attn-w-hidden" }), h("b", {})];
      const number = h("td", { class: "attn-w-number", "data-attn": "p" });
      const node = h("tr", { "data-attn": "row" }, h("th", { scope: "row" }, word, note, said),
        h("td", { class: "attn-sampling-share", "aria-hidden": "true" }, h("span", {}, bar)), number);
      return { node, word, note, said, bar, number };
    });
    const table = h("table", { class: "attn-w-table attn-sampling-table" },
      h("caption", { class: "attn-w-hidden" }, fill(t.caption, { name: t[name] })),
      h("colgroup", {}, ["word", "bar", "number"].map((column) => h("col", { class: `attn-guesser-${column}` }))),
      h("thead", { class: "attn-w-hidden" }, h("tr", {}, h("th", { scope: "col" }, t.head[0]), h("td", { "aria-hidden": "true" }),
        h("th", { scope: "col" }, t.head[1]))),
      h("tbody", {}, rows.map(({ node }) => node)));
    return { name, reads, rows, node: h("div", { "data-attn": name }, h("b", {}, t[name]), reads, table) };
  });
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function update() {
    const told = sentences[model.get("sentence")];
    // The sentence and the place change one after the other, so the place may be beyond the end for a moment.
    const hidden = Math.min(model.get("hidden"), told.words.length - 1);
    const word = told.words[hidden];
    if (drawn !== model.get("sentence")) showWords();
    radios.forEach((radio, i) => { radio.firstChild.checked = i === model.get("sentence"); });
    buttons.forEach((button, i) => button.setAttribute("aria-checked", String(i === hidden)));
    current(hidden);
    for (const { name, reads, rows } of columns) {
      put(reads, fill(t.reads, { text: reading(name, told.words, hidden) }));
      rowsOf(told[name][hidden], word).forEach(({ token, p, rank, right }, i) => {
        put(rows[i].word, token);
        put(rows[i].note, right ? ` ✓ ${rank > rows.length ? fill(t.place, { rank }) : ""}` : "");
        put(rows[i].said, right ? ` (${t.right})` : "");
        rows[i].node.toggleAttribute("data-right", right);
        rows[i].bar.style.width = `${100 * p}%`;
        put(rows[i].number, share(p));
        rows[i].number.setAttribute("data-value", p);
      });
    }
    put(summary, fill(t.summary, { word, ...Object.fromEntries(MODELS.map((name) => [name, share(told[name][hidden].right)])) }));
  }
  const stops = [watch(model, ["sentence", "hidden"], update), watch(model, ["sentence", "hidden"], () => live.say(summary.textContent))];

  el.append(h("div", { class: "attn-w attn-guesser", lang: language, role: "group", "aria-label": t.title, "data-attn": "guesser" },
    h("fieldset", { class: "attn-sampling-contexts" }, h("legend", { class: "attn-w-label" }, t.sentences), radios),
    h("p", { class: "attn-w-label", "aria-hidden": "true" }, t.words), line,
    h("div", { class: "attn-guesser-models" }, columns.map(({ node }) => node)), summary, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
