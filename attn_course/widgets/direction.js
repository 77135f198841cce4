// The two directions of a translator: the choice between them, their names, and a hint if a text is
// in the other language.
import { languageOf } from "./recogniser.js";
import { fill, h, radios } from "./shared.js";
import { loadTranslator } from "./trained.js";

const DIRECTIONS = {
  es: {
    names: { en: "inglés", es: "español" }, legend: "Dirección de la traducción", way: "del {from} al {to}",
    seems: "Esto parece {to}.", turn: "Traducir del {to} al {from}", neither: "Esto no parece ni inglés ni español.",
    swapped: "La casilla tiene ahora la traducción de tu oración. Si vuelves a la otra dirección, la recuperas.",
  },
  en: {
    names: { en: "English", es: "Spanish" }, legend: "Direction of the translation", way: "{from} to {to}",
    seems: "This seems to be {to}.", turn: "Translate from {to} to {from}", neither: "This seems to be neither English nor Spanish.",
    swapped: "The box now holds the translation of your sentence. Turn back, and you have your own again.",
  },
};

export const otherLanguage = (language) => (language === "en" ? "es" : "en");

/**
 * The direction of a widget, which begins with that of its example: { from, to, node, told, options, refill, load, turn, swap, remark }.
 * `node` is the choice, or null where there is none. `change(keep)` is called when the other direction is chosen: `keep` says
 * that the text is meant for it. The `example` is among the sentences to choose from where a widget gives it.
 */
export function directions(model, change, example) {
  const t = DIRECTIONS[model.get("language")];
  const first = model.get("pretrained").from ?? "en";
  const turned = model.get("turned")?.length ? model.get("turned") : null; // A kernel sends an empty list where there are none.
  let taken = null; // { text, put }: a sentence that a turn took out of the box, and what it put there.
  let isSwapped = false; // Whether the reader has still to be told that the text was swapped.
  const names = (from) => ({ from: t.names[from], to: t.names[otherLanguage(from)] });
  const sentences = [...new Set([...(example ? [example] : []), ...model.get("sentences").map((one) => one.source ?? one)])];
  const way = {
    from: first,
    get to() { return otherLanguage(way.from); },
    /** Fill the {from} and the {to} of a text, and its other holes. */
    told: (text, values = {}, from = way.from) => fill(text, { ...names(from), ...values }),
    options: () => (way.from === first ? sentences : turned).map((text) => h("option", { lang: way.from }, text)),
    refill: (picker) => picker.replaceChildren(picker.firstElementChild, ...way.options()),
    /** Load the model of a direction. Its progress is no longer reported once the reader has chosen the other one. */
    load: (hear, from = way.from) => loadTranslator(model, (share) => { if (from === way.from) hear(share); }, from),
    /** Choose a direction as if by hand; return whether it is another one. */
    turn(from, keep = false) {
      if (from === way.from || !turned) return false;
      way.from = from;
      node.querySelectorAll("input").forEach((input) => { input.checked = input.value === from; });
      change(keep);
      return true;
    },
    /**
     * After a turn, put into the box what belongs there: the translation, `written`, of what was `said`, or the sentence that an earlier
     * turn took out. What the reader has typed since stays.
     */
    swap(input, said, written, keep) {
      const { value } = input;
      const isBack = taken?.put === value;
      isSwapped = !keep && !isBack && !said.isOther && [said.text, written].includes(value);
      if (keep) return;
      if (isBack) [input.value, taken] = [taken.text, null];
      else if (isSwapped) {
        input.value = value === said.text ? written : said.text;
        taken = { text: value, put: input.value };
      }
    },
    /** Return the remarks on a translated text, { isOther, parts }: whether it seems to be in another language, and their texts. */
    remark(text, { languages }) {
      const found = languages ? languageOf(text, way.from, languages) : way.from;
      const parts = [...(isSwapped ? [" ", t.swapped] : []), ...(found === way.from ? [] : otherWay(found))];
      isSwapped = false;
      return { isOther: found !== way.from, parts };
    },
  };
  /** Return the sentence that names a text's apparent language, with a button for the other direction. */
  function otherWay(found) {
    if (!found) return [" ", t.neither];
    const said = [" ", fill(t.seems, names(way.from))];
    const button = () => h("button", {
      type: "button", class: "attn-w-button", "data-attn": "other-way", onclick: () => way.turn(found, true),
    }, fill(t.turn, names(way.from)));
    return turned ? [...said, " ", button()] : said;
  }
  const node = turned ? radios(t.legend, "direction", [first, otherLanguage(first)].map((from) => [from, fill(t.way, names(from))]), first, (from) => way.turn(from)) : null;
  node?.classList.add("attn-w-direction");
  node?.querySelector("legend").classList.add("attn-w-hidden");
  return Object.assign(way, { node });
}
