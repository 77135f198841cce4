// One token, one head or two, in a sentence and in the same sentence with its people exchanged.
import { announcer, fill, format, h, put, radios, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Lo que entregan una cabeza o dos", heads: "Cabezas en «{verb}»", one: "una", two: "dos",
    look: "Cabeza {n} mira", giver: "a quien da", receiver: "a quien recibe", value: "{giver} % a quien da, {receiver} % a quien recibe",
    head: "cabeza {n}", amount: "{name}: {amount}",
    same: "Las dos oraciones entregan lo mismo: con estos números, nadie puede saber quién da.",
    amounts: "Ahora difieren, pero solo en la cantidad: quien da y quien recibe siguen sumados en los mismos tres números.",
    lost: "La cabeza solo mira a una persona: de la otra no llega nada.",
    pure: "Dos cabezas, dos lugares: en uno está quien da y en el otro, quien recibe.",
    alike: "Las dos cabezas miran igual: dicen dos veces lo mismo, y la segunda no añade nada.",
    mixed: "Dos mezclas distintas son dos ecuaciones con dos incógnitas: con una resta se recuperan las dos personas.",
  },
  en: {
    title: "What one head or two hand over", heads: "Heads at “{verb}”", one: "one", two: "two",
    look: "Head {n} looks", giver: "at the giver", receiver: "at the receiver", value: "{giver}% at the giver, {receiver}% at the receiver",
    head: "head {n}", amount: "{name}: {amount}",
    same: "The verb receives the same in both sentences, so nobody can tell who the giver is.",
    amounts: "Now they differ, but only in amount: giver and receiver are still added up in the same three numbers.",
    lost: "The head looks at one person only: nothing arrives of the other.",
    pure: "Two heads, two places: one holds the giver and the other the receiver.",
    alike: "Both heads look the same way: they say the same thing twice, and the second adds nothing.",
    mixed: "Two different mixtures are two equations in two unknowns: a subtraction gives back both people.",
  },
};

/** The weight of a head on each name, in the order of the given sentence: in it and with the people exchanged. */
export const handed = (look) => [[look, 1 - look, 0], [1 - look, look, 0]];

/** Return which sentence a reader infers from these heads, each given by its weight on the giver. */
export function verdict(looks) {
  const apart = Math.abs(looks[0] - looks[looks.length - 1]);
  const pure = looks.every((look) => look < 0.005 || look > 0.995);
  if (looks.length > 1 && apart > 0.005) return pure ? "pure" : "mixed";
  if (looks.length > 1) return "alike";
  return pure ? "lost" : Math.abs(looks[0] - 0.5) < 0.005 ? "same" : "amounts";
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const words = model.get("words");
  const [giver, verb, thing, receiver] = model.get("places");
  const names = [giver, receiver, thing].map((i) => words[i]);
  const live = announcer();

  const sliders = [0, 1].map((n) => {
    const id = uid();
    const input = h("input", {
      type: "range", id, min: 0, max: 1, step: 0.05, "data-attn": "look", "data-index": n,
      oninput: () => {
        // The right end is the receiver, which comes later in the sentence.
        model.set("looks", model.get("looks").map((x, i) => (i === n ? Number((1 - input.value).toFixed(2)) : x)));
        model.save_changes();
      },
    });
    const node = h("div", { class: "attn-heads-look" }, h("label", { for: id }, fill(t.look, { n: n + 1 })),
      h("span", { "aria-hidden": "true" }, t.giver), input, h("span", { "aria-hidden": "true" }, t.receiver));
    return { node, input };
  });

  const panels = [false, true].map((exchanged) => {
    const shown = words.map((word, i) => (exchanged && i === giver ? words[receiver] : exchanged && i === receiver ? words[giver] : word));
    const paths = [0, 1].map(() => [giver, receiver].map(() => h("path", { "vector-effect": "non-scaling-stroke" })));
    const slots = [0, 1].map((n) => {
      const rows = names.map((name) => {
        const bar = h("b", {});
        const number = h("span", { class: "attn-w-number", "data-attn": "handed", "data-head": n, "data-sentence": Number(exchanged), "data-name": name });
        return { node: h("div", { class: "attn-heads-row" }, h("span", {}, name), h("span", { class: "attn-heads-bar", "aria-hidden": "true" }, bar), number), bar, number };
      });
      const label = h("span", { class: "attn-w-label" }, fill(t.head, { n: n + 1 }));
      return { node: h("div", { class: "attn-heads-slot" }, label, rows.map((row) => row.node)), rows };
    });
    const node = h("div", { class: "attn-heads-panel", role: "group", "aria-label": shown.join(" ") },
      h("p", { class: "attn-heads-words", style: `--n: ${words.length}` },
        shown.map((word, i) => h("span", { "data-role": i === verb ? "verb" : i === giver || i === receiver ? "person" : "other" }, word))),
      h("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" }, paths),
      h("div", { class: "attn-heads-slots" }, slots.map((slot) => slot.node)));
    return { node, paths, slots };
  });
  const said = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function update() {
    const nHeads = model.get("n_heads");
    const looks = model.get("looks").slice(0, nHeads);
    sliders.forEach(({ node, input }, n) => {
      node.hidden = n >= nHeads;
      const look = model.get("looks")[n];
      if (Math.abs(1 - input.value - look) > 0.001) input.value = 1 - look;
      const percent = Math.round(100 * look);
      input.setAttribute("aria-valuetext", fill(t.value, { giver: percent, receiver: 100 - percent }));
    });
    panels.forEach(({ paths, slots }, exchanged) => slots.forEach(({ node, rows }, n) => {
      node.hidden = n >= nHeads;
      const amounts = n < nHeads ? handed(looks[n])[exchanged] : [0, 0, 0];
      rows.forEach(({ bar, number }, i) => {
        put(number, format(amounts[i]));
        number.setAttribute("data-value", amounts[i]);
        bar.style.width = `${100 * amounts[i]}%`;
      });
      const end = nHeads === 1 ? 50 : 25 + 50 * n;
      [giver, receiver].forEach((place, i) => {
        const weight = n < nHeads ? [looks[n], 1 - looks[n]][i] : 0;
        const start = (100 * (place + 0.5)) / words.length;
        paths[n][i].setAttribute("d", `M${start} 0C${start} 24 ${end} 14 ${end} 40`);
        paths[n][i].style.strokeWidth = `${9 * weight}px`;
        paths[n][i].style.visibility = weight < 0.005 ? "hidden" : "visible";
      });
    }));
    put(said, t[verdict(looks)]);
  }
  const count = radios(fill(t.heads, { verb: words[verb] }), "n-heads", [[1, t.one], [2, t.two]], model.get("n_heads"), (n) => {
    // A second head is useful if it attends to the other person.
    if (n === 2 && verdict(model.get("looks")) !== "mixed") model.set("looks", [1, 0]);
    model.set("n_heads", n);
    model.save_changes();
  });
  const stops = [
    watch(model, ["n_heads", "looks"], update),
    watch(model, ["n_heads", "looks"], () => live.say(said.textContent)),
  ];
  el.append(h("div", { class: "attn-w attn-heads", lang: language, role: "group", "aria-label": t.title, "data-attn": "two-heads" },
    h("div", { class: "attn-w-controls" }, count, sliders.map((slider) => slider.node)),
    h("div", { class: "attn-heads-panels" }, panels.map((panel) => panel.node)), said, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
