// Sentences on a map by the vectors of MiniLM, or a word by its vectors in several sentences. The cosines of
// some sets are stored. If the model runs in the page, it also reads sentences of the reader's.
import { pageModel } from "./language_model.js";
import { home } from "./loading.js";
import { announcer, fill, format, h, put, radios, roving, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Oraciones en un mapa", plane: "Mapa", layer: "capa", entrance: "0 (entrada)", sets: "Ejemplo", sentences: "oraciones", own: "tuyas",
    point: "{n}. {text} ({group})", nearest: "Lo más parecido a la {n}, por el coseno", word: "«{word}» en la oración", whole: "oración",
    share: "El plano conserva el {share}\u202f% de la varianza de los vectores: dos puntos juntos pueden estar lejos en lo que falta. El coseno de la lista cuenta los {size} números.",
    same: "En {same} de {n}, la más parecida es de su mismo grupo.",
    lines: "Tus oraciones, una por línea (hasta {most})", ownWord: "Una palabra que esté en ellas, para comparar sus vectores (opcional)", begin: "Ponerlas en el mapa",
    reading: "El modelo lee las oraciones… {share}\u202f%", failed: "El modelo se detuvo: {why}", empty: "Escribe antes una oración.", many: "Caben {most} oraciones, y has escrito {n}.",
    few: "Hacen falta al menos tres oraciones con «{word}».", without: "Quedan fuera las que no tienen «{word}»: {n} de las tuyas.",
    share_address: "Copiar la dirección", shared: "Dirección copiada", unshared: "El navegador no deja copiar. La dirección está arriba, en su barra.",
    arrived: "La dirección de esta página trae oraciones. Aparecerán cuando traigas el modelo con el botón que está al pie de la figura.",
    absent: "La dirección de esta página trae oraciones que solo el modelo puede leer, y aquí no está: esto es el ejemplo.",
    strange: "La dirección pide algo que esta figura no tiene: esto es el ejemplo.",
  },
  en: {
    title: "Sentences on a map", plane: "Map", layer: "layer", entrance: "0 (entrance)", sets: "Example", sentences: "sentences", own: "yours",
    point: "{n}. {text} ({group})", nearest: "Most like number {n}, by cosine", word: "“{word}” in the sentence", whole: "sentence",
    share: "The plane keeps {share}% of the variance of the vectors: two points side by side may be far apart in what is missing. The cosine in the list counts all {size} numbers.",
    same: "For {same} of {n} the most similar one is of the same group.",
    lines: "Your sentences, one a line (at most {most})", ownWord: "A word that they hold, to compare its vectors (optional)", begin: "Put them on the map",
    reading: "The model reads the sentences… {share}%", failed: "The model stopped: {why}", empty: "Write a sentence first.", many: "There is room for {most} sentences, and you wrote {n}.",
    few: "It takes at least three sentences with “{word}”.", without: "Those without “{word}” are left out: {n} of yours.",
    share_address: "Copy the address", shared: "Address copied", unshared: "The browser does not allow copying. The address stands above, in its bar.",
    arrived: "The address of this page holds sentences. They will appear when you fetch the model with the button at the foot of the figure.",
    absent: "The address of this page holds sentences that only the model can read, and it is not here: this is the example.",
    strange: "The address asks for something that this figure does not have: this is the example.",
  },
};

const SIZE = 384; // The numbers of a vector.
const NEAREST = 5;
const MOST = 12; // The reader's sentences.
const LETTERS = 900; // All of them together.
const FEWEST = 3; // Two points always lie on a line.

/**
 * The two directions in which vectors with these dot products vary most: { points, share }, where `share` is what
 * the plane keeps of their variance. The dot products are all that principal components need.
 */
export function projected(products) {
  const n = products.length;
  const means = products.map((row) => row.reduce((total, x) => total + x, 0) / n);
  const mean = means.reduce((total, x) => total + x, 0) / n;
  const { values, vectors } = eigen(products.map((row, i) => row.map((x, j) => x - means[i] - means[j] + mean)));
  const [first, second] = [...values.keys()].sort((a, b) => values[b] - values[a]);
  const total = values.reduce((sum, x) => sum + Math.max(0, x), 0);
  const length = (k) => Math.sqrt(Math.max(0, values[k]));
  return { points: vectors.map((row) => [first, second].map((k) => row[k] * length(k))), share: total ? (values[first] + values[second]) / total : 1 };
}

/** Eigenvalues and, in columns, eigenvectors of a symmetric matrix, by Jacobi's rotations. */
function eigen(matrix) {
  const a = matrix.map((row) => [...row]);
  const vectors = a.map((_, i) => a.map((_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 30; sweep++) {
    for (let p = 0; p < a.length; p++) {
      for (let q = p + 1; q < a.length; q++) {
        if (Math.abs(a[p][q]) < 1e-14) continue;
        const angle = Math.atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        const turn = (row) => { [row[p], row[q]] = [c * row[p] - s * row[q], s * row[p] + c * row[q]]; };
        a.forEach(turn);
        [a[p], a[q]] = [a[p].map((x, k) => c * x - s * a[q][k]), a[p].map((x, k) => s * x + c * a[q][k])];
        vectors.forEach(turn);
      }
    }
  }
  return { values: a.map((row, i) => row[i]), vectors };
}

/** The points turned, and mirrored if need be, so that they lie as near as they can to others. */
export function aligned(points, others) {
  const turned = [1, -1].map((mirror) => {
    const [along, across] = points.reduce(([one, two], [x, y], i) => [one + x * others[i][0] + mirror * y * others[i][1], two + x * others[i][1] - mirror * y * others[i][0]], [0, 0]);
    const angle = Math.atan2(across, along);
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return { fit: Math.hypot(along, across), points: points.map(([x, y]) => [c * x - s * mirror * y, s * x + c * mirror * y]) };
  });
  return turned[turned[1].fit > turned[0].fit ? 1 : 0].points;
}

/** The whole matrix of which a set stores what is below the diagonal, row by row. */
export function unpacked(below, n) {
  const whole = Array.from({ length: n }, () => Array(n).fill(1));
  let at = 0;
  for (let i = 1; i < n; i++) for (let j = 0; j < i; j++) whole[i][j] = whole[j][i] = below[at++];
  return whole;
}

/** The state that a URL holds, { set, layer, point, text, word }; null if it holds none, "strange" if the figure has no such state. */
export function stateIn(search, sets) {
  const said = new URLSearchParams(search);
  if (!["set", "layer", "point", "sentences"].some((name) => said.has(name))) return null;
  const number = (name, otherwise) => (said.has(name) ? Number(said.get(name) || NaN) : otherwise);
  const set = sets[number("set", 1) - 1];
  const text = said.get("sentences") ?? "";
  const layer = number("layer", set && set.cosines.length - 1);
  const point = number("point", 1) - 1;
  const isGood = set && set.cosines[layer] && text.length <= LETTERS && linesOf(text).length <= MOST && Number.isInteger(point)
    && point >= 0 && point < set.sentences.length + linesOf(text).length;
  return isGood ? { set: number("set", 1) - 1, layer, point, text, word: said.get("word") ?? (text ? "" : set.word) } : "strange";
}

/** The URL of a state; without a state, the URL without its parameters. */
export function addressOf(href, state, nLayers) {
  const url = new URL(href);
  const { set = 0, layer = nLayers, point = 0, text = "", word = "" } = state ?? {};
  const values = { set: set && set + 1, layer: layer !== nLayers && String(layer), point: point && point + 1, sentences: text, word: text && word };
  for (const [name, x] of Object.entries(values)) {
    if (x) url.searchParams.set(name, x);
    else url.searchParams.delete(name);
  }
  return url.href;
}

const linesOf = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const sets = model.get("sets").map(({ sentences, cosines, ...set }) => ({
    ...set, texts: sentences, cosines: cosines.map((below) => unpacked(below, sentences.length)),
  }));
  const nLayers = sets[0].cosines.length - 1;
  const live = announcer();
  const first = { set: model.get("set"), layer: model.get("layer") };
  let own = null; // What the model has read for the reader, as a set.
  let [point, text, word, isTouched] = [0, "", "", false];
  const stored = () => sets[model.get("set")];
  const shown = () => own ?? stored();
  const spoken = (i) => (shown().texts[i].group === null ? "" : stored().language); // That of the reader's is not known.
  const nameOf = (group) => (group === null ? t.own : shown().groups[group]);
  const set = (values) => {
    isTouched = true;
    for (const [name, x] of Object.entries(values)) model.set(name, x);
    model.save_changes();
    update();
  };

  // The map -------------------------------------------------------------------------
  const line = h("path", { class: "attn-map-axes" });
  const plane = h("div", { class: "attn-map-plane", role: "radiogroup", "aria-label": t.plane, "data-attn": "plane" },
    h("svg", { viewBox: "0 0 100 100", "aria-hidden": "true", preserveAspectRatio: "none" }, line));
  const legend = h("p", { class: "attn-sentences-groups" });
  const heading = h("p", { class: "attn-w-label", "data-attn": "heading" });
  const chosen = h("p", { class: "attn-sentences-chosen", "data-attn": "chosen" });
  const nearest = h("ol", { class: "attn-sentences-nearest", "data-attn": "nearest" });
  const note = h("p", { class: "attn-live-note", "data-attn": "share" });
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  let drawn = null;
  let points = [];
  let current = () => {};
  const choose = (i) => { point = i; isTouched = true; update(); };
  const mark = (group) => h("i", { "aria-hidden": "true", "data-group": group === null ? "own" : group });

  function draw() {
    if (drawn === shown()) return;
    drawn = shown();
    points.forEach((node) => node.remove());
    points = drawn.texts.map((one, i) => h("button", {
      type: "button", role: "radio", class: "attn-map-point", "data-attn": "point", "data-group": one.group === null ? "own" : one.group,
      "aria-label": fill(t.point, { n: i + 1, text: one.text, group: nameOf(one.group) }), title: one.text, onclick: () => choose(i),
    }, h("i", {}), h("span", { "aria-hidden": "true" }, i + 1)));
    current = roving(points, choose);
    plane.append(...points);
    const groups = [...new Set(drawn.texts.map(({ group }) => group))];
    legend.replaceChildren(...groups.map((group) => h("span", {}, mark(group), nameOf(group))));
  }

  function update() {
    draw();
    const layer = model.get("layer");
    const { texts, cosines, word: asked } = shown();
    point = Math.min(point, texts.length - 1);
    setLayer(layer);
    const { points: flat, share } = projected(cosines[layer]);
    const places = aligned(flat, projected(cosines[nLayers]).points);
    const reach = 1.12 * Math.max(1e-9, ...places.flat().map(Math.abs));
    const at = places.map(([x, y]) => [50 + (50 * x) / reach, 50 - (50 * y) / reach]);
    points.forEach((node, i) => {
      [node.style.left, node.style.top] = at[i].map((x) => `${x.toFixed(2)}%`);
      node.toggleAttribute("data-left", at[i][0] > 90);
      node.toggleAttribute("data-chosen", i === point);
      node.setAttribute("aria-checked", String(i === point));
    });
    current(point);
    const others = (i) => [...texts.keys()].filter((j) => j !== i).sort((a, b) => cosines[layer][i][b] - cosines[layer][i][a]);
    const near = others(point);
    line.setAttribute("d", `M${at[point].join(" ")}L${at[near[0]].join(" ")}`);
    put(heading, fill(t.nearest, { n: point + 1 }));
    chosen.replaceChildren(mark(texts[point].group), h("b", {}, `${point + 1}. `), h("span", { lang: spoken(point) }, texts[point].text));
    nearest.replaceChildren(...near.slice(0, NEAREST).map((i) => h("li", { "data-attn": "near", "data-value": cosines[layer][point][i] },
      h("span", { class: "attn-w-number" }, format(cosines[layer][point][i])), mark(texts[i].group), h("span", { lang: spoken(i) }, `${i + 1}. ${texts[i].text}`))));
    put(note, fill(t.share, { share: format(100 * share, 0), size: SIZE }));
    note.setAttribute("data-value", share);
    const judged = [...texts.keys()].filter((i) => texts[i].group !== null);
    const same = judged.filter((i) => texts[others(i)[0]].group === texts[i].group).length;
    put(summary, judged.length ? fill(t.same, { same, n: judged.length }) : "");
    summary.setAttribute("data-value", same);
    live.say(`${asked ? `${fill(t.word, { word: asked })}. ` : ""}${heading.textContent}: ${texts[near[0]].text} (${format(cosines[layer][point][near[0]])}). ${summary.textContent}`);
    tell();
  }

  // What the reader sets ----------------------------------------------------------------
  const value = h("span", { class: "attn-w-number", "aria-hidden": "true" });
  const slider = h("input", { type: "range", id: uid(), min: 0, max: nLayers, step: 1, "data-attn": "layer", oninput: () => set({ layer: Number(slider.value) }) });
  function setLayer(layer) {
    slider.value = layer;
    put(value, layer ? String(layer) : t.entrance);
    slider.setAttribute("aria-valuetext", value.textContent);
  }
  const picks = sets.length > 1 && radios(t.sets, "set", sets.map((one, i) => [i, one.word || t.sentences]), first.set, (i) => {
    own = null;
    [point, text] = [0, ""];
    wordInput.value = sets[i].word;
    set({ set: i });
  });
  const copy = h("button", {
    type: "button", class: "attn-w-button", "data-attn": "share-address", async onclick() {
      const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
      if (!copied) return say(t.unshared);
      put(copy, t.shared);
      return live.say(t.shared);
    },
  }, t.share_address);
  const said = h("p", { class: "attn-live-note", role: "status", hidden: true, "data-attn": "address" });
  function say(what) {
    said.hidden = !what;
    put(said, what);
  }
  /** Write the state into the URL, so that it can be shared; the initial state adds nothing. */
  function tell() {
    if (!home || !isTouched) return;
    put(copy, t.share_address);
    const url = new URL(addressOf(location.href, { set: model.get("set"), layer: model.get("layer"), point, text, word }, nLayers));
    const section = el.closest("section[id]");
    if (section && url.search) url.hash = section.id;
    try { history.replaceState(history.state, "", url.href); } catch { /* The address stays as it was. */ }
  }

  // The model in the page -----------------------------------------------------------------
  const lines = h("textarea", { class: "attn-live-input", id: uid(), rows: 3, maxlength: LETTERS, spellcheck: "false", "data-attn": "own-sentences" });
  const wordInput = h("input", { type: "text", class: "attn-live-input", id: uid(), maxlength: 40, autocomplete: "off", spellcheck: "false", "data-attn": "own-word" });
  const told = h("p", { class: "attn-live-note", role: "status", "data-attn": "own-note" });
  const form = h("form", {
    class: "attn-sentences-own", hidden: true, "data-attn": "own", onsubmit: (event) => { event.preventDefault(); begin(); },
  }, h("label", { for: lines.id, class: "attn-w-label" }, fill(t.lines, { most: MOST })), lines,
  h("label", { for: wordInput.id, class: "attn-w-label" }, t.ownWord), wordInput,
  h("div", { class: "attn-w-controls" }, h("button", { type: "submit", class: "attn-w-button", "data-attn": "begin" }, t.begin)), told);
  const living = pageModel(language, {
    ready() {
      form.hidden = false;
      if (!sent) return lines.focus({ preventScroll: true });
      [lines.value, wordInput.value] = [sent.text, sent.word];
      return begin(sent.point);
    },
    gone() {
      form.hidden = true;
      own = null;
      text = "";
      update();
    },
  }, "minilm");
  /** Let the model read the sentences of the example and those of the reader; show the given one, or the reader's first. */
  function begin(given = null) {
    const mine = linesOf(lines.value);
    const asked = wordInput.value.trim();
    sent = null;
    say("");
    if (!mine.length || mine.length > MOST) {
      put(told, mine.length ? fill(t.many, { most: MOST, n: mine.length }) : t.empty);
      return lines.focus();
    }
    const texts = [...stored().texts, ...mine.map((one) => ({ text: one, group: null }))];
    living.ask("compare", { texts: texts.map((one) => one.text), word: asked }, (data) => {
      if (data.kind === "reading") return put(told, fill(t.reading, { share: Math.round(100 * data.share) }));
      if (data.kind !== "compared") return put(told, fill(t.failed, data));
      if (data.found.length < FEWEST) return put(told, fill(t.few, { word: asked }));
      const left = mine.length - data.found.filter((i) => i >= stored().texts.length).length;
      put(told, left ? fill(t.without, { word: asked, n: left }) : "");
      own = { ...stored(), word: asked, texts: data.found.map((i) => texts[i]), cosines: data.cosines };
      [text, word, isTouched] = [mine.join("\n"), asked, true];
      point = given ?? Math.max(0, own.texts.findIndex(({ group }) => group === null));
      return update();
    });
    return undefined;
  }

  el.append(h("div", { class: "attn-w attn-sentences", lang: language, role: "group", "aria-label": t.title, "data-attn": "sentences" },
    said, picks || [], h("div", { class: "attn-w-controls" },
      h("div", { class: "attn-w-slider" }, h("label", { for: slider.id }, t.layer), slider, value), home && copy),
    h("div", { class: "attn-map-stage" }, plane, h("div", { class: "attn-map-side" }, legend, heading, chosen, nearest, summary)),
    note, living && form, living?.node ?? [], live.node));
  wordInput.value = stored().word;
  const found = home && stateIn(location.search, model.get("sets"));
  let sent = null; // The state in the URL, until the model is loaded.
  if (found === "strange") say(t.strange);
  else if (found) {
    model.set("set", found.set);
    model.set("layer", found.layer);
    if (picks) picks.querySelector(`input[value="${found.set}"]`).checked = true;
    if (!found.text) point = found.point;
    else {
      sent = living?.isNear ? found : null;
      say(sent ? t.arrived : t.absent);
    }
  }
  update();
  const unwatch = watch(model, ["set", "layer"], update);
  return () => {
    living?.leave();
    unwatch();
  };
}

export default { render };
