// EmojiSearch: a word, and the emoji whose pictures a small CLIP places nearest to it.
import { loadEmoji, plain, search } from "./emoji_model.js";
import { announcer, examples, fill, format, h, list, put, radios, uid } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Buscar emojis", query: "Escribe qué buscas", find: "Buscar", pick: "O elige", pickOne: "ejemplos",
    among: "Buscar entre", all: "todos", unseen: "los nunca vistos",
    unseenMark: "no visto", seenMark: "visto", cosine: "coseno", results: "Los emojis más cercanos",
    ready: "Calculado de antemano: el modelo se carga cuando escribes.", note: "De los {n} más cercanos a «{text}», {unseen} no estuvieron en el entrenamiento.",
    loading: "El modelo se está cargando…", failed: "El modelo no llegó: sus archivos no están junto a esta página.",
    noWords: "Escribe una palabra.", said: "Los más cercanos: {best}.", and: "y",
    words: ["corazón azul", "fruta roja", "gato enamorado", "persona en bicicleta", "comida", "tren", "blue heart", "cebra"],
  },
  en: {
    title: "Search emoji", query: "Type what you want", find: "Search", pick: "Or pick", pickOne: "examples",
    among: "Search among", all: "all", unseen: "those never seen",
    unseenMark: "unseen", seenMark: "seen", cosine: "cosine", results: "The nearest emoji",
    ready: "Computed beforehand: the model loads when you type.", note: "Of the {n} nearest to “{text}”, {unseen} were not in the training.",
    loading: "The model is loading…", failed: "The model did not arrive: its files are not beside this page.",
    noWords: "Type a word.", said: "The nearest: {best}.", and: "and",
    words: ["blue heart", "red fruit", "cat in love", "person riding a bicycle", "food", "train", "corazón azul", "zebra"],
  },
};

const SHOWN = 12;
const PAUSE = 200; // The search begins this many milliseconds after the last letter.

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const live = announcer();
  let among = "all";
  let asked = 0; // Counts the searches, so that a late answer to an old text is not shown.
  let typing;

  const input = h("input", {
    type: "search", id: uid(), class: "attn-live-input", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    enterkeyhint: "search", maxlength: 100, value: model.get("query"), "data-attn": "query",
    onfocus: () => loadEmoji(model).catch(() => {}),
    oninput: () => { clearTimeout(typing); typing = setTimeout(wish, PAUSE); },
  });
  const picker = examples(t, t.words.map((word) => h("option", {}, word)), (word) => { input.value = word; wish(); });
  const form = h("form", {
    class: "attn-live-form", novalidate: true,
    onsubmit: (event) => { event.preventDefault(); clearTimeout(typing); wish(); },
  }, h("label", { for: input.id, class: "attn-w-label" }, t.query), input,
    h("button", { class: "attn-w-button", "data-attn": "find" }, t.find), picker);
  const choice = radios(t.among, "among", [["all", t.all], ["unseen", t.unseen]], among, (value) => { among = value; wish(); });
  const results = h("ol", { class: "attn-emoji-results", "aria-label": t.results });
  const note = h("p", { class: "attn-live-note", "data-attn": "note" });

  function show(found) {
    results.replaceChildren(...found.map(({ emoji, cosine, seen }) => h("li", { "data-attn": "found", "data-value": cosine, "data-unseen": !seen },
      h("span", { class: "attn-emoji" }, emoji),
      h("span", { class: "attn-w-number" }, h("span", { class: "attn-w-hidden" }, `${t.cosine} `), format(cosine)),
      h("small", {}, seen ? t.seenMark : t.unseenMark))));
    note.removeAttribute("data-bad");
  }
  function refuse(text) {
    results.replaceChildren();
    put(note, text);
    note.toggleAttribute("data-bad", true);
    live.say(text);
  }
  async function wish() {
    const turn = ++asked;
    const text = input.value.trim();
    const waiting = setTimeout(() => put(note, t.loading), PAUSE);
    let trained;
    try {
      trained = await loadEmoji(model);
    } catch (error) {
      console.warn(error.message);
    }
    clearTimeout(waiting);
    if (turn !== asked) return;
    if (!trained) return refuse(t.failed);
    if (!plain(text).trim()) return refuse(t.noWords);
    const found = search(trained, text, SHOWN, among === "unseen");
    show(found);
    put(note, fill(t.note, { n: found.length, text, unseen: found.filter(({ seen }) => !seen).length }));
    live.say(fill(t.said, { best: list(found.slice(0, 3).map(({ emoji }) => emoji), t.and) }));
  }

  el.append(h("div", { class: "attn-w attn-emojis", lang: language, role: "group", "aria-label": t.title, "data-attn": "emoji-search" },
    form, choice, results, note, live.node));
  show(model.get("found"));
  put(note, t.ready);
  return () => clearTimeout(typing);
}

export default { render };
