// Two words that move, and their score under each method of encoding positions.
import { announcer, fill, format, h, list, put, signed, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Dos palabras que se mueven", asks: "pregunta «{word}»", answers: "responde «{word}»", together: "Se mueven juntas",
    method: "método", score: "puntaje", change: "desde ({start})", same: "igual", and: "y",
    where: "«{asking}» en {p}, «{answering}» en {r}: distancia {distance}.",
    changed: "Desde ({start}) ha cambiado el puntaje con: {methods}.", unchanged: "Ningún puntaje ha cambiado desde ({start}).",
  },
  en: {
    title: "Two words that move", asks: "“{word}” asks", answers: "“{word}” answers", together: "They move together",
    method: "method", score: "score", change: "since ({start})", same: "same", and: "and",
    where: "“{asking}” at {p}, “{answering}” at {r}: distance {distance}.",
    changed: "Since the words stood at {start}, the score has changed under: {methods}.", unchanged: "No score has changed since the words stood at {start}.",
  },
};

/** Where both words stand once one of them is moved; together, neither leaves the row of `n` positions. */
export function move(places, which, to, together, n) {
  if (!together) return places.map((place, i) => (i === which ? to : place));
  const by = to - places[which];
  const least = -Math.min(...places);
  const most = n - 1 - Math.max(...places);
  return places.map((place) => place + Math.min(most, Math.max(least, by)));
}

/** How far each score is from that of the places at the start; rounding aside, it may be exactly 0. */
export const changes = (scores, start, places) => scores.map((table) => {
  const change = table[places[0]][places[1]] - table[start[0]][start[1]];
  return Math.abs(change) < 1e-9 ? 0 : change;
});

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const [words, methods, scores, start] = ["words", "methods", "scores", "start"].map((name) => model.get(name));
  const n = scores[0].length;
  const live = announcer();
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };

  const sliders = [t.asks, t.answers].map((label, which) => {
    const id = uid();
    const value = h("span", { class: "attn-w-number", "aria-hidden": "true" });
    const input = h("input", {
      type: "range", id, min: 0, max: n - 1, step: 1, "data-attn": ["asks", "answers"][which],
      oninput: () => {
        set("places", move(model.get("places"), which, Number(input.value), model.get("together"), n));
        update(); // A word at its limit resets its slider.
      },
    });
    return { input, value, node: h("div", { class: `attn-w-slider attn-pair-${["asks", "answers"][which]}` }, h("label", { for: id }, fill(label, { word: words[which] })), input, value) };
  });
  const box = h("input", { type: "checkbox", role: "switch", "data-attn": "together", onchange: () => set("together", box.checked) });

  const ends = [Math.min(0, ...scores.flat(2)), Math.max(0, ...scores.flat(2))];
  const at = (score) => (100 * (score - ends[0])) / (ends[1] - ends[0] || 1);
  const rows = methods.map((name) => {
    const [bar, score, change] = [h("b", {}), h("td", { "data-attn": "score" }), h("td", { "data-attn": "change" })];
    const axis = h("i", {});
    axis.style.left = `${at(0).toFixed(2)}%`;
    return { bar, score, change, node: h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "attn-pair-bar", "aria-hidden": "true" }, h("span", {}, bar, axis)), score, change) };
  });
  const from = { start: start.join(", ") };
  const table = h("table", { class: "attn-w-table attn-pair-scores" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t.method), h("td", {}), h("th", { scope: "col" }, t.score), h("th", { scope: "col" }, fill(t.change, from)))),
    h("tbody", {}, rows.map((row) => row.node)));
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  function update() {
    const places = model.get("places");
    box.checked = model.get("together");
    sliders.forEach(({ input, value }, which) => {
      input.value = places[which];
      put(value, String(places[which]));
    });
    const moved = changes(scores, start, places);
    rows.forEach(({ bar, score, change }, i) => {
      const now = scores[i][places[0]][places[1]];
      put(score, format(now));
      score.setAttribute("data-value", now);
      put(change, moved[i] ? signed(moved[i]) : t.same);
      bar.style.left = `${Math.min(at(0), at(now)).toFixed(2)}%`;
      bar.style.width = `${Math.abs(at(now) - at(0)).toFixed(2)}%`;
      bar.toggleAttribute("data-below", now < 0);
    });
    const distance = places[1] - places[0];
    const names = methods.filter((_, i) => moved[i]);
    put(summary, [
      fill(t.where, { asking: words[0], p: places[0], answering: words[1], r: places[1], distance: distance ? signed(distance, 0) : "0" }),
      names.length ? fill(t.changed, { ...from, methods: list(names, t.and) }) : fill(t.unchanged, from),
    ].join(" "));
  }
  const stops = [watch(model, ["places", "together"], update), watch(model, ["places"], () => live.say(summary.textContent))];

  el.append(h("div", { class: "attn-w attn-pair", lang: language, role: "group", "aria-label": t.title, "data-attn": "pair" },
    h("div", { class: "attn-w-controls" }, sliders.map((one) => one.node), h("label", { class: "attn-w-choice" }, box, t.together)),
    table, summary, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
