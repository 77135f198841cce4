// Words, or users and films, as points of a plane: their dot products follow the reader's hand.
import { announcer, dot, fill, format, h, largest, list, put, scroller, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Mapa de embeddings", plane: "Plano con usuarios y películas",
    user: "usuario", film: "película",
    point: "{kind} {name}: {x}, {y}. Muévelo con las flechas.",
    legend: "Usuarios (círculos) y películas (cuadrados). Arrastra uno, o elígelo con el tabulador y muévelo con las flechas.",
    table: "Producto punto de cada usuario con cada película", given: "dada {rating}", missing: "sin valorar",
    key: "En grande, el producto punto. Debajo, la valoración dada; «?» si no la hay.", bare: "El producto punto de cada fila con cada columna.",
    step: "Un paso", steps: "50 pasos", rotate: "Girar 30°", reset: "Empezar de nuevo",
    error: "Error en las {count} valoraciones dadas: {error}.",
    user_says: "{name} ({x}, {y}): la película con mayor producto punto es {best}, {top}.",
    film_says: "{name} ({x}, {y}): su mayor producto punto es con {best}, {top}.",
    side: "Del lado al que apunta la flecha, el producto es positivo; del otro, negativo.",
    words_plane: "Plano con palabras", word: "palabra",
    words_legend: "Elige una palabra y arrástrala, o llega a ella con el tabulador y muévela con las flechas.",
    words_table: "La palabra elegida con cada una de las otras", terms: "{name} con…", product: "producto punto", cosine: "coseno",
    double: "El doble de largo", and: "y",
    word_says: "{name} ({x}, {y}), de longitud {length}. Su mayor producto punto es con {best}; su mayor coseno, con {nearest}.",
  },
  en: {
    title: "Embedding map", plane: "Plane with users and films",
    user: "user", film: "film",
    point: "{kind} {name}: {x}, {y}. Move it with the arrows.",
    legend: "Users (circles) and films (squares). Drag one, or reach it with Tab and move it with the arrows.",
    table: "Dot product of each user with each film", given: "given {rating}", missing: "not rated",
    key: "The large number is the dot product. Below it stands the rating given, or “?”.", bare: "The dot product of each row with each column.",
    step: "One step", steps: "50 steps", rotate: "Turn 30°", reset: "Start again",
    error: "Error on the {count} ratings given: {error}.",
    user_says: "{name} ({x}, {y}): the film with the largest dot product is {best}, {top}.",
    film_says: "{name} ({x}, {y}): its largest dot product is with {best}, {top}.",
    side: "On the side the arrow points to, the product is positive; on the other, negative.",
    words_plane: "Plane with words", word: "word",
    words_legend: "Choose a word and drag it, or reach it with Tab and move it with the arrows.",
    words_table: "The chosen word with each of the others", terms: "{name} with…", product: "dot product", cosine: "cosine",
    double: "Twice as long", and: "and",
    word_says: "{name} ({x}, {y}), of length {length}. Its largest dot product is with {best}; its largest cosine, with {nearest}.",
  },
};

/** Every user with every film. */
export const predict = (users, films) => users.map((user) => films.map((film) => dot(user, film)));

/** The root mean square error on the ratings that exist, and their number. */
export function rootMeanSquare(predictions, ratings) {
  const errors = predictions.flatMap((row, i) => row.map((p, j) => (ratings[i][j] === null ? null : p - ratings[i][j])))
    .filter((error) => error !== null);
  return { error: Math.sqrt(dot(errors, errors) / errors.length), count: errors.length };
}

/** One gradient step on half the sum of the squared errors; ratings of null are ignored. */
export function descend(users, films, ratings, rate) {
  const errors = predict(users, films).map((row, i) => row.map((p, j) => (ratings[i][j] === null ? 0 : p - ratings[i][j])));
  const move = (points, others, error) => points.map((point, i) =>
    point.map((x, d) => x - rate * others.reduce((total, other, j) => total + error(i, j) * other[d], 0)));
  return { users: move(users, films, (i, j) => errors[i][j]), films: move(films, users, (j, i) => errors[i][j]) };
}

/** The same points, turned around the origin. */
export function turn(points, degrees) {
  const [cos, sin] = [Math.cos, Math.sin].map((f) => f((degrees * Math.PI) / 180));
  return points.map(([x, y]) => [cos * x - sin * y, sin * x + cos * y]);
}

/** The cosine of two vectors, 0 if one of them is all zeros. */
export const cosine = (a, b) => dot(a, b) / (Math.hypot(...a) * Math.hypot(...b) || 1);

/** A number without trailing zeros. */
export const brief = (x) => format(x).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

/** The path of an arrow from the middle of the plane, which ends short of the point it goes to. */
export function arrowTo(x, y) {
  const length = Math.hypot(x, y);
  const [along, across] = [[x / length, y / length], [-y / length, x / length]];
  const at = (far, aside) => [0, 1].map((d) => (50 + far * along[d] + aside * across[d]).toFixed(2)).join(" ");
  const tip = length - 4;
  return tip < 3 ? "" : `M50 50L${at(tip, 0)}M${at(tip - 3, 2)}L${at(tip, 0)}L${at(tip - 3, -2)}`;
}

const bracketed = (x) => (x < 0 ? `(${brief(x)})` : brief(x));
const RATE = 0.1;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const kinds = { user: { names: model.get("user_names"), trait: "user_vectors" }, film: { names: model.get("film_names"), trait: "film_vectors" } };
  const words = kinds.film.names.length === 0;
  const ratings = model.get("ratings");
  const start = { user: model.get("user_vectors"), film: model.get("film_vectors") };
  const live = announcer();
  let chosen = { kind: "user", i: 0 };
  let turned = false;
  let reach = 2;

  const vectors = (kind) => model.get(kinds[kind].trait);
  const set = (kind, list) => model.set(kinds[kind].trait, list);
  const where = ([x, y]) => ({ x: format(x), y: format(y) });
  const place = (kind, i, [x, y]) => {
    const inside = (v) => Math.round(100 * Math.max(-reach, Math.min(reach, v))) / 100;
    set(kind, vectors(kind).map((old, j) => (j === i ? [inside(x), inside(y)] : old)));
    model.save_changes();
  };

  // The plane ---------------------------------------------------------------------------------
  const grid = h("path", { class: "attn-map-grid" });
  const axes = h("path", { class: "attn-map-axes", d: "M0 50H100M50 0V100" });
  const border = h("path", { class: "attn-map-border" });
  const arrow = h("path", { class: "attn-map-arrow" });
  const svg = h("svg", { viewBox: "0 0 100 100", "aria-hidden": "true", preserveAspectRatio: "none" }, grid, axes, border, arrow);
  const names = model.get("axes").map((name, d) => h("span", { class: `attn-map-axis attn-map-axis-${"xy"[d]}`, "aria-hidden": "true" }, `${name} ${"→↑"[d]}`));
  const points = Object.entries(kinds).flatMap(([kind, { names: labels }]) => labels.map((name, i) => {
    const node = h("button", {
      type: "button", class: `attn-map-point attn-map-${kind}`, "data-attn": `${kind}-point`, "data-index": i,
      onfocus: () => choose(kind, i),
      onkeydown: (event) => {
        const by = ARROWS[event.key];
        if (!by || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        const size = event.shiftKey ? 0.5 : 0.1;
        place(kind, i, vectors(kind)[i].map((v, d) => v + size * by[d]));
      },
      onpointerdown: (event) => {
        choose(kind, i);
        node.setPointerCapture(event.pointerId);
        node.dataset.held = "true";
      },
      onpointermove: (event) => {
        if (!node.dataset.held) return;
        const box = plane.getBoundingClientRect();
        place(kind, i, [
          reach * (2 * (event.clientX - box.left) / box.width - 1), reach * (1 - 2 * (event.clientY - box.top) / box.height),
        ]);
      },
      onpointerup: () => delete node.dataset.held,
      onpointercancel: () => delete node.dataset.held,
    }, h("i", {}), h("span", { "aria-hidden": "true" }, name));
    return { kind, i, name, node };
  }));
  const plane = h("div", { class: "attn-map-plane", role: "group", "aria-label": words ? t.words_plane : t.plane, "data-attn": "plane" },
    svg, names, points.map((point) => point.node));

  // The table ---------------------------------------------------------------------------------
  const cells = kinds.user.names.map((_, i) => kinds.film.names.map((_, j) => {
    const number = h("span", {});
    const given = ratings && ratings[i][j];
    const said = ratings && h("small", {}, given === null ? [h("span", { "aria-hidden": "true" }, "?"), h("span", { class: "attn-w-hidden" }, t.missing)]
      : [h("span", { "aria-hidden": "true" }, format(given, 1)), h("span", { class: "attn-w-hidden" }, fill(t.given, { rating: format(given, 1) }))]);
    return { node: h("td", { "data-attn": "product" }, number, said), number };
  }));
  const heads = kinds.film.names.map((name) => h("th", { scope: "col", class: "attn-map-film-name" }, h("span", {}, name)));
  const sides = kinds.user.names.map((name) => h("th", { scope: "row", class: "attn-map-user-name" }, name));
  const products = h("table", { class: "attn-w-table attn-map-table" },
    h("caption", { class: "attn-w-hidden" }, t.table),
    h("thead", {}, h("tr", {}, h("td", {}), heads)),
    h("tbody", {}, cells.map((row, i) => h("tr", {}, sides[i], row.map((cell) => cell.node)))));

  // Words have a row each, and that of the chosen one is hidden.
  const starter = h("th", { scope: "col" });
  const compared = words ? kinds.user.names.map((name) => {
    const [terms, product, angle] = ["terms", "product", "cosine"].map((kind) => h("td", { "data-attn": kind }));
    return { node: h("tr", {}, h("th", { scope: "row", class: "attn-map-user-name" }, name), terms, product, angle), terms, product, angle };
  }) : [];
  const comparison = h("table", { class: "attn-w-table attn-map-words" },
    h("caption", { class: "attn-w-hidden" }, t.words_table),
    h("thead", {}, h("tr", {}, starter, h("td", {}), h("th", { scope: "col" }, t.product), h("th", { scope: "col" }, t.cosine))),
    h("tbody", {}, compared.map(({ node }) => node)));

  const verdict = h("p", { class: "attn-w-summary", "data-attn": "error" });
  const saying = h("p", { "data-attn": "chosen" });
  const button = (name, action) => h("button", { type: "button", class: "attn-w-button", "data-attn": name, onclick: () => { action(); model.save_changes(); } }, t[name]);
  const down = (count) => {
    let now = { users: vectors("user"), films: vectors("film") };
    for (let k = 0; k < count; k += 1) now = descend(now.users, now.films, ratings, RATE);
    if (count > 0 && verdict.dataset.value > 1e-9) turned = true;
    set("user", now.users);
    set("film", now.films);
  };
  const buttons = [
    ratings && button("step", () => down(1)), ratings && button("steps", () => down(50)),
    words ? button("double", () => set("user", vectors("user").map((v, i) => (i === chosen.i ? v.map((x) => 2 * x) : v)))) : null,
    button("rotate", () => {
      turned = true;
      const [users, films] = ["user", "film"].map((kind) => turn(vectors(kind), 30));
      set("user", users);
      set("film", films);
    }),
    button("reset", () => { turned = false; set("user", start.user); set("film", start.film); update(); }),
  ];

  function choose(kind, i) {
    chosen = { kind, i };
    update();
  }

  function update() {
    const [users, films] = ["user", "film"].map(vectors);
    const held = points.some((point) => point.node.dataset.held);
    if (!held) reach = Math.max(2, Math.ceil(Math.max(...[...users, ...films].flat().map(Math.abs)) + (words ? 0.5 : -1e-9)));
    const at = ([x, y]) => [50 + (50 * x) / reach, 50 - (50 * y) / reach];
    const lines = Array.from({ length: 2 * reach - 1 }, (_, k) => 50 + (50 * (k + 1 - reach)) / reach);
    grid.setAttribute("d", lines.map((v) => `M${v} 0V100M0 ${v}H100`).join(""));
    names.forEach((name) => { name.hidden = turned; });
    points.forEach(({ kind, i, name, node }) => {
      const vector = vectors(kind)[i];
      const [left, top] = at(vector);
      node.style.left = `${left}%`;
      node.style.top = `${top}%`;
      node.toggleAttribute("data-left", left > 76);
      node.toggleAttribute("data-low", vector[1] < 0);
      node.toggleAttribute("data-chosen", kind === chosen.kind && i === chosen.i);
      node.setAttribute("aria-label", fill(t.point, { kind: words ? t.word : t[kind], name, ...where(vector) }));
      node.setAttribute("data-value", vector.join(" "));
    });
    const mine = vectors(chosen.kind)[chosen.i];
    const [x, y] = at(mine);
    const length = Math.hypot(...mine) || 1;
    const [across, up] = [(-150 * mine[1]) / length, (150 * mine[0]) / length];
    arrow.setAttribute("d", arrowTo(x - 50, y - 50));
    border.setAttribute("d", `M${50 - across} ${50 + up}L${50 + across} ${50 - up}`);

    if (words) {
      compare(users);
      return;
    }
    const predictions = predict(users, films);
    cells.forEach((row, i) => row.forEach(({ node, number }, j) => {
      const p = predictions[i][j];
      put(number, format(p));
      node.setAttribute("data-value", p);
      node.style.setProperty("--share", Math.min(1, Math.abs(p) / 3).toFixed(3));
      node.toggleAttribute("data-negative", p < 0);
      node.toggleAttribute("data-hot", chosen.kind === "user" ? i === chosen.i : j === chosen.i);
    }));
    [[sides, "user"], [heads, "film"]].forEach(([list, kind]) => list.forEach((node, i) =>
      node.toggleAttribute("data-hot", kind === chosen.kind && i === chosen.i)));

    const own = chosen.kind === "user" ? predictions[chosen.i] : predictions.map((row) => row[chosen.i]);
    const others = chosen.kind === "user" ? kinds.film.names : kinds.user.names;
    const top = Math.max(...own);
    put(saying, `${fill(t[`${chosen.kind}_says`], {
      name: kinds[chosen.kind].names[chosen.i], ...where(mine), best: others[own.indexOf(top)], top: format(top),
    })} ${t.side}`);
    model.set("predictions", predictions);
    if (!ratings) return;
    const now = rootMeanSquare(predictions, ratings);
    put(verdict, fill(t.error, { count: now.count, error: format(now.error) }));
    verdict.setAttribute("data-value", now.error);
    model.set("error", now.error);
  }

  function compare(vectors) {
    const mine = vectors[chosen.i];
    const others = [...vectors.keys()].filter((i) => i !== chosen.i);
    const products = others.map((i) => dot(mine, vectors[i]));
    const cosines = others.map((i) => cosine(mine, vectors[i]));
    const [best, nearest] = [largest(products), largest(cosines)];
    put(starter, fill(t.terms, { name: kinds.user.names[chosen.i] }));
    compared[chosen.i].node.hidden = true;
    others.forEach((i, k) => {
      const { node, terms, product, angle } = compared[i];
      node.hidden = false;
      put(terms, mine.map((x, d) => `${bracketed(x)} × ${bracketed(vectors[i][d])}`).join(" + ").replaceAll(" × ", "×"));
      put(product, brief(products[k]));
      put(angle, format(cosines[k]));
      product.setAttribute("data-value", products[k]);
      angle.setAttribute("data-value", cosines[k]);
      product.toggleAttribute("data-top", best.includes(k));
      angle.toggleAttribute("data-top", nearest.includes(k));
    });
    const named = (places) => list(places.map((k) => kinds.user.names[others[k]]), t.and);
    const [x, y] = mine.map(brief);
    put(saying, fill(t.word_says, {
      name: kinds.user.names[chosen.i], x, y, length: brief(Math.hypot(...mine)), best: named(best), nearest: named(nearest),
    }));
    model.set("predictions", predict(vectors, vectors));
  }
  const traits = Object.values(kinds).map((kind) => kind.trait);
  const stops = [
    watch(model, traits, update),
    watch(model, traits, () => live.say(`${saying.textContent} ${verdict.textContent}`)),
  ];

  el.append(h("div", { class: "attn-w attn-map", lang: language, role: "group", "aria-label": t.title, "data-attn": "map" },
    h("p", { class: "attn-map-legend" }, words ? t.words_legend : t.legend),
    h("div", { class: "attn-map-stage" },
      plane,
      h("div", { class: "attn-map-side" }, words ? [scroller(t.words_table, comparison), saying]
        : [scroller(t.table, products), h("p", {}, h("small", {}, ratings ? t.key : t.bare))])),
    h("div", { class: "attn-map-buttons" }, buttons),
    ratings && verdict, words ? null : saying, live.node));
  update();
  return () => stops.forEach((stop) => stop());
}

export default { render };
