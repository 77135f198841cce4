// The two directions of a translator: the choice between them, the words for them, and a hint where a text is of the other language.
import { languageOf } from "./recogniser.js";
import { fill, h, radios } from "./shared.js";
import { loadTranslator } from "./trained.js";

const DIRECTIONS = {
  es: {
    names: { en: "inglés", es: "español" }, legend: "Dirección de la traducción", way: "del {from} al {to}",
    seems: "Esto parece {to}.", turn: "Traducir del {to} al {from}", neither: "Esto no parece ni inglés ni español.",
  },
  en: {
    names: { en: "English", es: "Spanish" }, legend: "Direction of the translation", way: "{from} to {to}",
    seems: "This seems to be {to}.", turn: "Translate from {to} to {from}", neither: "This seems to be neither English nor Spanish.",
  },
};

export const otherLanguage = (language) => (language === "en" ? "es" : "en");

/**
 * The direction of a widget, which begins with that of its example: { from, to, node, told, options, refill, load, turn, hint }.
 * `node` is the choice, or null where there is none. `change(keep)` is called when the other direction is chosen: `keep` says
 * that the text is meant for it. The `example` is among the sentences to choose from where a widget gives it.
 */
export function directions(model, change, example) {
  const t = DIRECTIONS[model.get("language")];
  const first = model.get("pretrained").from ?? "en";
  const turned = model.get("turned")?.length ? model.get("turned") : null; // A kernel sends an empty list where there are none.
  const names = (from) => ({ from: t.names[from], to: t.names[otherLanguage(from)] });
  const sentences = [...new Set([...(example ? [example] : []), ...model.get("sentences").map((one) => one.source ?? one)])];
  const way = {
    from: first,
    get to() { return otherLanguage(way.from); },
    /** Fill the {from} and the {to} of a text, and its other holes. */
    told: (text, values = {}, from = way.from) => fill(text, { ...names(from), ...values }),
    options: () => (way.from === first ? sentences : turned).map((text) => h("option", { lang: way.from }, text)),
    refill: (picker) => picker.replaceChildren(picker.firstElementChild, ...way.options()),
    load: (hear, from = way.from) => loadTranslator(model, hear, from),
    /** Choose a direction as if by hand; return whether it is another one. */
    turn(from, keep = false) {
      if (from === way.from || !turned) return false;
      way.from = from;
      node.querySelectorAll("input").forEach((input) => { input.checked = input.value === from; });
      change(keep);
      return true;
    },
    /** Return what to say of a text that is not of the language that was read, with a button for the other direction; else nothing. */
    hint(text, { languages }) {
      const found = languages ? languageOf(text, way.from, languages) : way.from;
      if (found === way.from) return [];
      if (!found) return [" ", t.neither];
      const said = [" ", fill(t.seems, names(way.from))];
      const button = () => h("button", {
        type: "button", class: "attn-w-button", "data-attn": "other-way", onclick: () => way.turn(found, true),
      }, fill(t.turn, names(way.from)));
      return turned ? [...said, " ", button()] : said;
    },
  };
  const node = turned ? radios(t.legend, "direction", [first, otherLanguage(first)].map((from) => [from, fill(t.way, names(from))]), first, (from) => way.turn(from)) : null;
  node?.classList.add("attn-w-direction");
  node?.querySelector("legend").classList.add("attn-w-hidden");
  return Object.assign(way, { node });
}
