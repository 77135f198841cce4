// Scores on the left, probabilities on the right, and what temperature does to them.
import {
  announcer, entropy, fill, format, h, put, softmax, temperatureSlider, uid, visible, watch,
} from "./shared.js";

export const STRINGS = {
  es: {
    title: "Laboratorio de softmax", temperature: "Temperatura",
    score: "puntaje", probability: "probabilidad", value: "{score}; probabilidad {probability}",
    entropy: "Entropía", bits: "{value} bits (máximo {most})",
    effective: "Opciones efectivas", count: "{value} de {most}",
    slope: "Pendiente de la mayor, p(1 − p)", ofSlope: "{value} (máximo 0.25)",
    saturated: "Saturada: «{label}» se queda con casi todo y el gradiente casi desaparece.",
    even: "Casi uniforme: ninguna opción destaca.",
    open: "«{label}» va delante con {probability}; el gradiente aún puede cambiarlo.",
  },
  en: {
    title: "Softmax playground", temperature: "Temperature",
    score: "score", probability: "probability", value: "{score}; probability {probability}",
    entropy: "Entropy", bits: "{value} bits (at most {most})",
    effective: "Effective options", count: "{value} of {most}",
    slope: "Slope at the largest, p(1 − p)", ofSlope: "{value} (at most 0.25)",
    saturated: "Saturated: “{label}” takes almost everything and the gradient all but vanishes.",
    even: "Almost uniform: no option stands out.",
    open: "“{label}” leads with {probability}; the gradient can still change that.",
  },
};

/** What the readouts show: entropy in bits, 2 to that power, and the slope of the largest. */
export function readouts(probabilities) {
  const bits = entropy(probabilities);
  const top = Math.max(...probabilities);
  return { bits, mostBits: Math.log2(probabilities.length), effective: 2 ** bits, top, slope: top * (1 - top) };
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const labels = model.get("labels").map(visible);
  const live = announcer();
  const reach = Math.max(6, ...model.get("scores").map((x) => Math.ceil(Math.abs(x))));
  const rows = labels.map((label, i) => {
    const id = uid();
    const input = h("input", {
      type: "range", id, min: -reach, max: reach, step: 0.05, "data-attn": "score-slider", "data-index": i,
      oninput: () => {
        model.set("scores", model.get("scores").map((x, j) => (j === i ? Number(input.value) : x)));
        model.save_changes();
      },
    });
    const score = h("span", { class: "attn-w-number", "aria-hidden": "true", "data-attn": "score-value", "data-index": i });
    const bar = h("b", {});
    const probability = h("span", { class: "attn-w-number attn-playground-p", "data-attn": "probability", "data-index": i });
    const node = h("div", { class: "attn-playground-row" },
      h("label", { for: id }, label), input, score,
      h("span", { class: "attn-playground-bar", "aria-hidden": "true" }, bar), probability);
    return { node, input, score, bar, probability };
  });
  const readout = (name, label) => {
    const bar = h("b", {});
    const text = h("span", { class: "attn-w-number", "data-attn": name });
    const node = h("div", {}, h("dt", {}, label),
      h("dd", {}, text, h("span", { class: "attn-playground-bar", "aria-hidden": "true" }, bar)));
    const show = (content, share, exact) => {
      put(text, content);
      text.setAttribute("data-value", exact);
      bar.style.width = `${100 * Math.min(1, share)}%`;
    };
    return { node, show };
  };
  const bits = readout("entropy", t.entropy);
  const effective = readout("effective", t.effective);
  const slope = readout("slope", t.slope);
  const verdict = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const temperature = temperatureSlider(t.temperature, model);

  function update() {
    const scores = model.get("scores");
    const probabilities = softmax(scores.map((x) => x / model.get("temperature")));
    const now = readouts(probabilities);
    rows.forEach(({ input, score, bar, probability }, i) => {
      if (Math.abs(input.value - scores[i]) > 0.025) {
        if (Math.abs(scores[i]) > input.max) [input.min, input.max] = [-Math.ceil(Math.abs(scores[i])), Math.ceil(Math.abs(scores[i]))];
        input.value = scores[i];
      }
      put(score, format(scores[i]));
      put(probability, format(probabilities[i], 3));
      probability.setAttribute("data-value", probabilities[i]);
      bar.style.width = `${100 * probabilities[i]}%`;
      input.setAttribute("aria-valuetext",
        fill(t.value, { score: format(scores[i]), probability: format(probabilities[i], 3) }));
    });
    temperature.update();
    bits.show(fill(t.bits, { value: format(now.bits), most: format(now.mostBits) }), now.bits / (now.mostBits || 1), now.bits);
    effective.show(fill(t.count, { value: format(now.effective, 1), most: labels.length }), now.effective / labels.length, now.effective);
    slope.show(fill(t.ofSlope, { value: format(now.slope, 4) }), now.slope / 0.25, now.slope);
    const kind = labels.length > 1 && now.bits > 0.98 * now.mostBits ? "even" : now.slope < 0.01 ? "saturated" : "open";
    verdict.textContent = fill(t[kind], {
      label: labels[probabilities.indexOf(now.top)], probability: format(now.top, 3),
    });
    model.set("probabilities", probabilities);
  }
  const stops = [
    watch(model, ["scores", "temperature"], update),
    watch(model, ["scores", "temperature"], () => live.say(verdict.textContent)),
  ];

  el.append(h("div", {
    class: "attn-w attn-playground", lang: language, role: "group", "aria-label": t.title, "data-attn": "playground",
  },
  h("div", { class: "attn-w-controls" }, temperature.node),
  h("div", { class: "attn-playground-rows" },
    h("div", { class: "attn-playground-row attn-playground-head", "aria-hidden": "true" },
      h("span", {}), h("span", {}, t.score), h("span", {}), h("span", {}, t.probability), h("span", {})),
    rows.map((row) => row.node)),
  h("dl", { class: "attn-playground-readouts" }, bits.node, effective.node, slope.node),
  verdict, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
