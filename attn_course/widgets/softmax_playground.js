// Shows scores on the left, weights on the right, and the effect of the temperature.
import {
  announcer, entropy, fill, format, h, largest, list, put, softmax, temperatureSlider, uid, visible, watch,
} from "./shared.js";

export const STRINGS = {
  es: {
    title: "Laboratorio de softmax", temperature: "Temperatura",
    score: "puntaje", weight: "peso", value: "{score}; peso {weight}",
    entropy: "Entropía", bits: "{value} bits (máximo {most})",
    effective: "Opciones efectivas", count: "{value} de {most}",
    derivative: "Derivada del peso mayor, a(1\u00a0−\u00a0a)", ofDerivative: "{value} (máximo 0.25)",
    saturated: "Saturada: {labels} se queda con casi todo el peso y la derivada es casi cero.",
    even: "Casi uniforme: ninguna opción destaca.",
    open: "{labels} va delante con {weight}; ese peso todavía puede cambiar.",
    tied: "{labels} empatan con {weight}; esos pesos todavía pueden cambiar.",
    quoted: "«{token}»", and: "y",
  },
  en: {
    title: "Softmax playground", temperature: "Temperature",
    score: "score", weight: "weight", value: "{score}; weight {weight}",
    entropy: "Entropy", bits: "{value} bits (at most {most})",
    effective: "Effective options", count: "{value} of {most}",
    derivative: "Derivative of the largest weight, a(1\u00a0−\u00a0a)", ofDerivative: "{value} (at most 0.25)",
    saturated: "Saturated: {labels} takes almost all the weight, and its score hardly changes that.",
    even: "Almost uniform: no option stands out.",
    open: "{labels} leads with {weight}, a weight that its score can still change.",
    tied: "{labels} tie at {weight}, a weight that their scores can still change.",
    quoted: "“{token}”", and: "and",
  },
};

/** The readouts: entropy in bits, 2 to that power, and the derivative of the largest weight with respect to its score. */
export function readouts(weights) {
  const bits = entropy(weights);
  const top = Math.max(...weights);
  return { bits, mostBits: Math.log2(weights.length), effective: 2 ** bits, top, derivative: top * (1 - top) };
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
    const weight = h("span", { class: "attn-w-number attn-playground-weight", "data-attn": "weight", "data-index": i });
    const node = h("div", { class: "attn-playground-row" },
      h("label", { for: id }, label), input, score,
      h("span", { class: "attn-playground-bar", "aria-hidden": "true" }, bar), weight);
    return { node, input, score, bar, weight };
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
  const derivative = readout("derivative", t.derivative);
  const verdict = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const temperature = temperatureSlider(t.temperature, model);

  function update() {
    const scores = model.get("scores");
    const weights = softmax(scores.map((x) => x / model.get("temperature")));
    const now = readouts(weights);
    rows.forEach(({ input, score, bar, weight }, i) => {
      if (Math.abs(input.value - scores[i]) > 0.025) {
        if (Math.abs(scores[i]) > input.max) [input.min, input.max] = [-Math.ceil(Math.abs(scores[i])), Math.ceil(Math.abs(scores[i]))];
        input.value = scores[i];
      }
      put(score, format(scores[i]));
      put(weight, format(weights[i], 3));
      weight.setAttribute("data-value", weights[i]);
      bar.style.width = `${100 * weights[i]}%`;
      input.setAttribute("aria-valuetext",
        fill(t.value, { score: format(scores[i]), weight: format(weights[i], 3) }));
    });
    temperature.update();
    bits.show(fill(t.bits, { value: format(now.bits), most: format(now.mostBits) }), now.bits / (now.mostBits || 1), now.bits);
    effective.show(fill(t.count, { value: format(now.effective, 1), most: labels.length }), now.effective / labels.length, now.effective);
    derivative.show(fill(t.ofDerivative, { value: format(now.derivative, 4) }), now.derivative / 0.25, now.derivative);
    const leaders = largest(weights);
    const open = now.derivative < 0.01 ? "saturated" : leaders.length > 1 ? "tied" : "open";
    const kind = labels.length > 1 && now.bits > 0.98 * now.mostBits ? "even" : open;
    verdict.textContent = fill(t[kind], {
      labels: list(leaders.map((i) => fill(t.quoted, { token: labels[i] })), t.and), weight: format(now.top, 3),
    });
    model.set("weights", weights);
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
      h("span", {}), h("span", {}, t.score), h("span", {}), h("span", {}, t.weight), h("span", {})),
    rows.map((row) => row.node)),
  h("dl", { class: "attn-playground-readouts" }, bits.node, effective.node, derivative.node),
  verdict, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
