// A query is chosen; the weights go to the patches that resemble it, and their mean is drawn.
import { announcer, dot, fill, format, h, put, radios, softmax, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Preguntar a una imagen", ask: "Pide", strength: "Query multiplicada por",
    query: "La query", picture: "Los parches y sus pesos", output: "Lo que sale",
    one: "Pides «{asked}»: el parche {patch} recibe un peso de {weight}, y lo que sale se parece a él.",
    several: "Pides «{asked}»: se reparten el peso los parches {patches}, y lo que sale los mezcla.",
    even: "Todos los parches pesan lo mismo, y de su mezcla queda una mancha.", and: "y",
  },
  en: {
    title: "Asking a picture", ask: "Ask for", strength: "Query times",
    query: "The query", picture: "The patches and their weights", output: "What comes out",
    one: "You ask for “{asked}”: patch {patch} gets a weight of {weight}, and what comes out resembles it.",
    several: "You ask for “{asked}”: patches {patches} share the weight, and what comes out mixes them.",
    even: "All the patches weigh about the same, and their mixture is a blot.", and: "and",
  },
};

/** The weights of the patches for a query, and their weighted mean. */
export function answer(patches, query, strength) {
  const weights = softmax(patches.map((patch) => strength * dot(patch, query)));
  const output = patches[0].map((_, k) => dot(weights, patches.map((patch) => patch[k])));
  return { weights, output };
}

/** The patches with at least half of the largest weight, counted from 1. */
export function leaders(weights) {
  const top = Math.max(...weights);
  return weights.map((w, i) => (w >= top / 2 ? i + 1 : 0)).filter(Boolean);
}

/** What the widget says in words. */
export function summary(t, asked, weights) {
  const first = leaders(weights);
  if (first.length === weights.length) return t.even;
  if (first.length === 1) return fill(t.one, { asked, patch: first[0], weight: format(weights[first[0] - 1]) });
  const patches = `${first.slice(0, -1).join(", ")} ${t.and} ${first.at(-1)}`;
  return fill(t.several, { asked, patches });
}

/** A square of pixels that are shown from 0, the ground, to `high`; negative ones in the other colour. */
function square(count, high = 1) {
  const size = Math.sqrt(count);
  const pixels = Array.from({ length: count }, (_, k) => h("path", { d: `M${k % size} ${Math.floor(k / size)}h1.02v1.02h-1.02z` }));
  const node = h("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true", class: "attn-patch" }, pixels);
  const show = (values) => pixels.forEach((pixel, k) => {
    pixel.style.fillOpacity = Math.min(1, Math.abs(values[k]) / high).toFixed(3);
    pixel.toggleAttribute("data-negative", values[k] < 0);
  });
  return { node, show };
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const patches = model.get("patches").map((patch) => patch.map((x) => Math.max(0, x)));
  const labels = model.get("labels");
  const live = announcer();
  const id = uid();

  const ask = radios(t.ask, "ask", labels.map((label, i) => [i, label]), model.get("asked"), (i) => {
    model.set("asked", i);
    model.save_changes();
  });
  const shown = h("span", { class: "attn-w-number", "aria-hidden": "true" });
  const slider = h("input", {
    type: "range", id, min: 0, max: 2, step: 0.05, "data-attn": "strength",
    oninput: () => {
      model.set("strength", Number(slider.value));
      model.save_changes();
    },
  });

  const query = square(patches[0].length);
  const output = square(patches[0].length);
  const cells = patches.map((patch) => {
    const drawn = square(patch.length);
    drawn.show(patch);
    const bar = h("b", {});
    const weight = h("span", { class: "attn-w-number", "data-attn": "weight" });
    const node = h("div", { class: "attn-patch-cell" }, drawn.node, h("i", { "aria-hidden": "true" }, bar), weight);
    return { node, picture: drawn.node, bar, weight };
  });
  const verdict = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function update() {
    const asked = model.get("asked");
    const strength = model.get("strength");
    const vector = model.get("queries")[asked];
    const { weights } = answer(model.get("patches"), vector, strength);
    const top = Math.max(...weights);
    cells.forEach(({ picture, bar, weight }, i) => {
      picture.style.opacity = (0.3 + 0.7 * (weights[i] / top)).toFixed(3);
      bar.style.width = `${100 * weights[i]}%`;
      put(weight, format(weights[i]));
      weight.setAttribute("data-value", weights[i]);
    });
    const longest = Math.max(...vector.map(Math.abs), 1e-9);
    query.show(vector.map((x) => (strength * x) / longest));
    output.show(answer(model.get("patches"), vector, strength).output.map((x) => Math.max(0, x)));
    if (Number(slider.value) !== strength) slider.value = strength;
    slider.setAttribute("aria-valuetext", format(strength));
    put(shown, format(strength));
    for (const input of ask.querySelectorAll("input")) input.checked = Number(input.value) === asked;
    verdict.textContent = summary(t, labels[asked], weights);
  }
  const stops = [
    watch(model, ["asked", "strength"], update),
    watch(model, ["asked", "strength"], () => live.say(verdict.textContent)),
  ];
  const part = (name, label, ...nodes) => h("div", { class: `attn-patch-${name}` }, h("p", { class: "attn-w-label" }, label), nodes);

  el.append(h("div", { class: "attn-w attn-patches", lang: language, role: "group", "aria-label": t.title },
    h("div", { class: "attn-patch-stage" },
      part("query", t.query, query.node),
      part("picture", t.picture, h("div", { class: "attn-patch-grid", style: `--n: ${Math.sqrt(patches.length)}` }, cells.map((cell) => cell.node))),
      part("output", t.output, output.node)),
    h("div", { class: "attn-w-controls" }, ask,
      h("div", { class: "attn-w-slider" }, h("label", { for: id }, t.strength), slider, shown)),
    verdict, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
