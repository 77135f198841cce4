// Model families by year: what each of them changed in the machine, and what the course runs of it.
import { announcer, fill, h, list, put, roving, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Mapa de familias de modelos", parts: "Partes de la máquina", models: "Modelos, por año", and: "y",
    half: "qué mitad", question: "qué se le pide", positions: "posiciones", norm: "normalización",
    weights: "puntajes y pesos", sight: "quién ve a quién", cache: "caché", feed_forward: "red prealimentada",
    change: "Qué cambió", course: "En el curso", same: "Ninguna parte nueva: reúne las de otros.",
    chosen: "{name}, {date}. {change} En el curso: {course}", who: "Cambiaron «{part}»: {names}.",
    months: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    date: "{month} de {year}",
  },
  en: {
    title: "Map of model families", parts: "Parts of the machine", models: "Models, by year", and: "and",
    half: "which half", question: "what is asked", positions: "positions", norm: "normalisation",
    weights: "scores and weights", sight: "who sees whom", cache: "cache", feed_forward: "feed-forward",
    change: "What it changed", course: "In the course", same: "No new part: it puts together those of others.",
    chosen: "{name}, {date}. {change} In the course: {course}", who: "Changed “{part}”: {names}.",
    months: "January February March April May June July August September October November December",
    date: "{month} {year}",
  },
};

/** The families of each year, in order: [["2017", [family, …]], …]. */
export function years(families) {
  const found = new Map();
  for (const family of families) {
    const year = family.date.slice(0, 4);
    found.set(year, [...(found.get(year) ?? []), family]);
  }
  return [...found];
}

/** "2018-10" in words. */
export function spoken(date, t) {
  const [year, month] = date.split("-");
  return fill(t.date, { year, month: t.months.split(" ")[Number(month) - 1] });
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const families = model.get("families");
  const live = announcer();
  const chosen = () => families.find((family) => family.name === model.get("model"));
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };

  const parts = model.get("parts").map((part) => {
    const node = h("button", {
      type: "button", "data-attn": "part", "data-part": part, "aria-pressed": "false",
      onclick: () => set("part", model.get("part") === part ? "" : part),
    }, t[part]);
    return { part, node };
  });
  const buttons = families.map((family) => h("button", {
    type: "button", class: "attn-explorer-query", role: "radio", "data-attn": "model", onclick: () => set("model", family.name),
  }, family.name));
  const current = roving(buttons, (i) => set("model", families[i].name));
  const rows = years(families).map(([year, some]) => h("div", { class: "attn-map-year" },
    h("span", { class: "attn-map-when", "aria-hidden": "true" }, year),
    h("div", {}, some.map((family) => buttons[families.indexOf(family)]))));

  const [name, change, course] = [h("b", {}), h("span", {}), h("span", {})];
  const told = h("div", { class: "attn-map-told", "data-attn": "told" }, h("p", {}, name),
    h("p", {}, h("small", {}, `${t.change}: `), change), h("p", {}, h("small", {}, `${t.course}: `), course));
  const who = h("p", { class: "attn-w-summary", "data-attn": "who" });

  function update() {
    const [shown, part] = [chosen(), model.get("part")];
    families.forEach((family, i) => {
      buttons[i].setAttribute("aria-checked", String(family === shown));
      buttons[i].toggleAttribute("data-marked", family.parts.includes(part));
    });
    current(families.indexOf(shown));
    for (const one of parts) {
      one.node.setAttribute("aria-pressed", String(one.part === part));
      one.node.toggleAttribute("data-changed", shown.parts.includes(one.part));
    }
    put(name, `${shown.name}, ${spoken(shown.date, t)}`);
    put(change, shown.change);
    put(course, shown.course);
    const names = families.filter((family) => family.parts.includes(part)).map((family) => family.name);
    put(who, part ? fill(t.who, { part: t[part], names: list(names, t.and) }) : "");
  }
  function say() {
    live.say(fill(t.chosen, { ...chosen(), date: spoken(chosen().date, t) }));
  }
  const stops = [watch(model, ["model", "part"], update), watch(model, ["model"], say), watch(model, ["part"], () => live.say(who.textContent))];

  el.append(h("div", { class: "attn-w attn-map-families", lang: language, role: "group", "aria-label": t.title, "data-attn": "families" },
    h("div", { class: "attn-map-years", role: "radiogroup", "aria-label": t.models }, rows), told,
    h("div", { class: "attn-map-parts", role: "group", "aria-label": t.parts }, parts.map((one) => one.node)), who, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
