// A language model continues a text, one token at a time; each step shows the tokens that it could
// have written instead. Its texts are stored. If the model itself runs in the page, it also
// continues the reader's own text.
import { figureExercise } from "./figure_exercise.js";
import { pageModel } from "./language_model.js";
import { home } from "./loading.js";
import { announcer, fill, format, h, put, radios, roving, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Un modelo de lenguaje sigue escribiendo", prompts: "Texto empezado", written: "Tokens escritos",
    write: "Escribir", pause: "Pausa", one: "Un token", again: "Desde el principio", next: "siguiente", percent: "\u202f%",
    before: "Después de «{text}», lo más probable:",
    end: "Aquí termina lo guardado. Toca una palabra y cambia lo que se escribió.",
    closes: "Con «{token}» ({share}) se cierra el turno. Toca otro token y el texto seguirá por ahí.",
    model: "El modelo tomó «{token}», lo más probable ({share}). Toca otro token y el texto seguirá por ahí.",
    drawn: "El modelo sorteó «{token}» ({share}). Toca otro token y el texto seguirá por ahí.",
    reader: "Tomaste «{token}», lo más probable ({share}). El texto sigue desde ahí.",
    other: "Tomaste «{token}» ({share}) en lugar de «{best}» ({most}). El texto sigue desde ahí.",
    open: "Falta elegir el token siguiente: tócalo, o pulsa «Escribir».", taken: "escrito",
    own: "Un texto tuyo", ownPrompt: "Tu texto, en español o en inglés", begin: "Seguir este texto",
    temperature: "temperatura", greedy: "0 (voraz)", topP: "top-p",
    reading: "El modelo lee tu texto…", failed: "El modelo se detuvo: {why}",
    empty: "Escribe antes un texto, aunque sea una palabra.", long: "Aquí caben {most} caracteres: lo que pase de ahí se corta.",
    waits: "El modelo escribe {most} tokens por vez: toca el siguiente, o pulsa «Escribir» y sigue.",
    full: "El texto tiene {tokens} tokens, y aquí el modelo lee como mucho {most}.",
    share: "Copiar la dirección", shared: "Dirección copiada", unshared: "El navegador no deja copiar. La dirección está arriba, en su barra.",
    arrived: "La dirección de esta página trae un texto. Aparecerá cuando traigas el modelo con el botón que está al pie de la figura.",
    absent: "La dirección de esta página trae un texto que solo el modelo puede continuar, y aquí no está: esto es el ejemplo.",
    strange: "La dirección pide algo que esta figura no tiene: esto es el ejemplo.",
    costs: "Tu texto tiene {tokens}. Con {all} en total, la caché de keys y values ocupa {size} MB.",
    exercise: {
      title: "Ejercicio 4: un texto más probable que el voraz", check: "Comprobar lo que muestra la figura", solved: "Resuelto",
      text: "Quien toma siempre el token más probable no tiene por qué escribir el texto más probable. Toca una sola vez un token que no sea el primero de su lista y deja que el modelo siga, de modo que todo lo escrito sea más probable que el texto voraz con el mismo número de tokens. Con el modelo en la página, hazlo con un texto tuyo. Sin el modelo bastan los textos guardados, que traen otras ramas y sus probabilidades: en dos de ellos, al menos una rama supera al texto voraz.",
      verdicts: {
        right: "Correcto: con los mismos {tokens} tokens, tu texto es {ratio} veces tan probable como el voraz.",
        none: "Todo lo escrito es lo más probable en cada paso. Falta tocar otro token.",
        several: "Hay {touches} tokens que no son los más probables. Vuelve a empezar y toca uno solo.",
        short: "Después del token que tocaste no se ha escrito nada. Deja que el modelo siga.",
        heat: "Con otra temperatura u otro top-p las probabilidades no son las del modelo. Pon la temperatura en 0.",
        unknown: "Falta lo voraz con tantos tokens: deja que el modelo lo escriba desde el principio y vuelve a tocar.",
        worse: "Con los mismos {tokens} tokens, tu texto es {ratio} veces tan probable como el voraz. Tu token valía {taken} y el mejor, {best}: busca un paso en el que estén más cerca, o uno tras el que el modelo quede muy seguro.",
      },
    },
  },
  en: {
    title: "A language model writes on", prompts: "Text so far", written: "Tokens written",
    write: "Write", pause: "Pause", one: "One token", again: "From the start", next: "next", percent: "%",
    before: "After “{text}”, the most probable:",
    end: "What is stored ends here. Touch a word and change what was written.",
    closes: "With “{token}” ({share}) the turn ends. Touch another token and the text goes on from there.",
    model: "The model took “{token}”, the most probable ({share}). Touch another token and the text goes on from there.",
    drawn: "The model drew “{token}” ({share}). Touch another token and the text goes on from there.",
    reader: "You took “{token}”, the most probable ({share}). The text goes on from there.",
    other: "You took “{token}” ({share}) instead of “{best}” ({most}). The text goes on from there.",
    open: "The next token is still to be chosen: touch one, or press “Write”.", taken: "written",
    own: "A text of your own", ownPrompt: "Your text, in English or Spanish", begin: "Continue this text",
    temperature: "temperature", greedy: "0 (greedy)", topP: "top-p",
    reading: "The model reads your text…", failed: "The model stopped: {why}",
    empty: "Write a text first, if only a word.", long: "There is room for {most} characters: what goes beyond is cut.",
    waits: "The model writes {most} tokens at a time: touch the next one, or press “Write” and it goes on.",
    full: "The text has {tokens} tokens, and here the model reads at most {most}.",
    share: "Copy the address", shared: "Address copied", unshared: "The browser does not allow copying. The address stands above, in its bar.",
    arrived: "The address of this page holds a text. It will appear when you fetch the model with the button at the foot of the figure.",
    absent: "The address of this page holds a text that only the model can continue, and it is not here: this is the example.",
    strange: "The address asks for something that this figure does not have: this is the example.",
    costs: "Your text has {tokens}. With {all} in all, the cache of keys and values takes {size} MB.",
    exercise: {
      title: "Exercise 4: a text more probable than the greedy one", check: "Check what the figure shows", solved: "Solved",
      text: "The most probable token at each step may not give the most probable text. Touch, once, a token that is not the first of its list, and let the model go on. The product of the probabilities of your text has to beat that of the greedy text with equally many tokens. With the model in the page, do it with a text of your own. Without the model use a stored text, whose branches come with their probabilities: two of the beginnings have at least one such branch.",
      verdicts: {
        right: "Correct: with the same {tokens} tokens, your text is {ratio} times as probable as the greedy one.",
        none: "All that was written is the most probable at each step. Another token has to be touched.",
        several: "There are {touches} tokens that are not the most probable. Begin again and touch a single one.",
        short: "Nothing has been written after the token that you touched. Let the model go on.",
        heat: "With another temperature or another top-p the probabilities are not those of the model. Set the temperature to 0.",
        unknown: "The greedy text with as many tokens is missing: let the model write it from the start, and touch again.",
        worse: "With the same {tokens} tokens, your text is {ratio} times as probable as the greedy one. Your token had {taken} and the best one {best}: look for a step in which they are closer, or one after which the model is very sure.",
      },
    },
  },
};

const PACE = 450; // The next token comes after this many milliseconds.
const MOST = 60; // The model in the page writes at most this many tokens at a time.
const LETTERS = 800; // A text of the reader has at most this many characters.
const CONTEXT = 24; // The heading of a step quotes about this many characters of the text before it.

/** The node of a tree at the end of some choices; null where nothing is stored. */
export const nodeAt = (tree, choices) => choices.reduce((node, choice) => node && node.next[choice], tree);

/** The tokens that some choices write, each with its probability. */
export const tokensOf = (tree, choices) => choices.map((choice, i) => nodeAt(tree, choices.slice(0, i)).best[choice]);

/** The choices of the most probable tokens from here to the end of what is stored. */
export function goOn(tree, choices) {
  const found = choices.slice();
  while (nodeAt(tree, found)) found.push(0);
  return found;
}

/** Put a node into a tree at the end of some choices; return the tree. */
export function withNode(tree, choices, node) {
  if (!choices.length) return node;
  nodeAt(tree, choices.slice(0, -1)).next[choices.at(-1)] = node;
  return tree;
}

/**
 * Judge whether one touch made a text more probable than the greedy one of as many tokens, as [verdict, values].
 * `ratio` is the probability of the text divided by that of the greedy one.
 */
export function comparedWithGreedy(tree, choices) {
  const touches = choices.filter((choice) => choice > 0).length;
  if (!touches) return ["none"];
  if (touches > 1) return ["several", { touches }];
  const touched = choices.findIndex((choice) => choice > 0);
  if (touched === choices.length - 1) return ["short"];
  let ratio = 1;
  for (let i = touched; i < choices.length; i++) {
    const greedy = nodeAt(tree, Array(i).fill(0));
    if (!greedy) return ["unknown"];
    ratio *= nodeAt(tree, choices.slice(0, i)).best[choices[i]][1] / greedy.best[0][1];
  }
  const { best } = nodeAt(tree, choices.slice(0, touched));
  return [ratio > 1 ? "right" : "worse", { tokens: choices.length, ratio, taken: best[choices[touched]][1], best: best[0][1] }];
}

const PARAMETERS = ["text", "prompt", "written", "step", "temperature", "top-p"]; // of the URL's query string
const [TEXT, PROMPT, WRITTEN, STEP, TEMPERATURE, TOP_P] = PARAMETERS;
const TAKERS = { r: "reader", d: "drawn" };
let nFigures = 0; // The figures of a page share its address: the parameters of the second end in 2.

/**
 * The state of a figure that a URL holds, where `suffix` ends the names of its parameters: { text, choices, took, step } of a stored text, or { prompt, ids,
 * took, step, temperature, topP } of the reader's text. Null if it holds none, "strange" if the
 * figure has no such state.
 */
export function stateIn(search, texts, suffix = "") {
  const all = new URLSearchParams(search);
  const said = new Map(PARAMETERS.filter((name) => all.has(name + suffix)).map((name) => [name, all.get(name + suffix)]));
  if (!said.has(TEXT) && !said.has(PROMPT)) return null;
  let isGood = true;
  const number = (name, least, most, otherwise) => {
    const x = said.has(name) ? Number(said.get(name) || NaN) : otherwise;
    isGood &&= x >= least && x <= most;
    return x;
  };
  const written = (said.get(WRITTEN) ?? "").split("-").filter(Boolean).map((part) => /^([rd]?)(\d+)$/.exec(part));
  if (written.includes(null)) return "strange";
  const took = written.map(([, letter]) => TAKERS[letter] ?? "");
  const numbers = written.map(([, , digits]) => Number(digits));
  const step = number(STEP, 1, numbers.length + 1, numbers.length + 1) - 1;
  const [temperature, topP] = [number(TEMPERATURE, 0, 1.5, 0), number(TOP_P, 0.1, 1, 1)];
  isGood &&= Number.isInteger(step);
  if (said.has(PROMPT)) {
    const prompt = said.get(PROMPT);
    return isGood && prompt.trim() && prompt.length <= LETTERS ? { prompt, ids: numbers, took, step, temperature, topP } : "strange";
  }
  const text = number(TEXT, 1, texts.length, 0) - 1;
  const choices = numbers.map((n) => n - 1);
  if (!isGood || !texts[text] || !choices.every((choice, i) => nodeAt(texts[text].tree, choices.slice(0, i))?.best[choice])) return "strange";
  return { text, choices, took, step: Math.min(step, choices.length - !nodeAt(texts[text].tree, choices)) };
}

/** The URL of a state; without a state, the URL without its parameters. */
export function addressOf(href, state, suffix = "") {
  const url = new URL(href);
  const { text, prompt, ids, choices, took = [], step, temperature, topP } = state ?? {};
  const numbers = ids ?? choices?.map((choice) => choice + 1) ?? [];
  const letter = (i) => Object.keys(TAKERS).find((each) => TAKERS[each] === took[i]) ?? "";
  const values = {
    [TEXT]: prompt === undefined && state && text + 1, [PROMPT]: prompt, [WRITTEN]: numbers.map((n, i) => `${letter(i)}${n}`).join("-"),
    [STEP]: state && step < numbers.length && step + 1, [TEMPERATURE]: temperature, [TOP_P]: topP < 1 && topP,
  };
  for (const [name, x] of Object.entries(values)) {
    if (x) url.searchParams.set(name + suffix, x);
    else url.searchParams.delete(name + suffix);
  }
  return url.href;
}

/** A token as it is shown alone: without its space, and with a sign for a line break. */
export const shown = (token) => token.replaceAll("\n", "⏎").trim() || "␣";

/** The last words of a text, whole, with dots where it was cut. */
export function lastWords(text, most = CONTEXT) {
  if (text.length <= most) return text.trim();
  const cut = text.slice(-most);
  return `… ${cut.slice(cut.indexOf(" ") + 1).trim()}`;
}

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const texts = [...model.get("texts")];
  const own = texts.length; // The index of the reader's text, once there is one.
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const live = announcer();
  let timer = null;
  let isWriting = false; // the model in the page
  let isSetting = false;
  let isTouched = false;
  let halted = ""; // Why the model in the page stopped writing.
  let took = model.get("took") ?? []; // Who took the token of each step: "reader"; "drawn", the model by sampling; or nothing, the model by greedy decoding.

  const told = () => texts[model.get("text")];
  const isOwn = () => model.get("text") === own;
  const share = (p) => `${p < 0.005 ? "<\u20091" : Math.round(100 * p)}${t.percent}`;
  const set = (values) => {
    isSetting = true; // No listener may act between two of them: the choices of one text would be read as those of another.
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    isSetting = false;
    isTouched = true;
    model.save_changes();
    update();
  };
  /** Write these choices, the last taken by `who`, and show the step after them or the last one that is stored. */
  function write(choices, who) {
    took = choices.map((_, i) => took[i] ?? "");
    if (who) took[choices.length - 1] = who;
    set({ choices, step: Math.max(0, choices.length - !nodeAt(told().tree, choices)) });
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    if (isWriting) living.stop();
    isWriting = false;
    halted = "";
    if (costs.textContent.startsWith(t.reading)) put(costs, "");
    put(play, t.write);
  }
  const idsOf = (choices) => choices.map((choice, i) => nodeAt(told().tree, choices.slice(0, i)).ids[choice]);
  /**
   * Let the model in the page write so many tokens after the choices, or with 0 only predict the
   * next one. With `given`, { ids, took, step }, it also predicts the alternatives to each of these
   * tokens.
   */
  function ask(most, given = null) {
    stop();
    isWriting = true;
    if (most) put(play, t.pause);
    const at = given ? [] : model.get("choices").slice();
    const ids = given?.ids ?? idsOf(at);
    let tree = given ? null : told().tree;
    const request = { prompt: told().prompt, ids, from: at.length, most, temperature: Number(temperature.value), topP: Number(topP.value) };
    living.ask("write", request, (data) => {
      if (data.kind === "step") {
        const node = { best: data.best.map(({ text, p }) => [text, p]), ids: data.best.map(({ id }) => id), next: data.best.map(() => null) };
        tree = withNode(tree, at, node);
        if (data.isGiven) return at.push(data.taken);
        told().tree = tree;
        const read = data.nPrompt + at.length;
        put(costs, fill(t.costs, { tokens: `${data.nPrompt} token${data.nPrompt > 1 ? "s" : ""}`, size: format(data.bytes / 1e6, 1), all: read }));
        if (data.taken !== null) at.push(data.taken);
        drawn = "";
        if (given) took = given.took;
        write(at.slice(), data.taken !== null && request.temperature && "drawn");
        if (given && given.step < at.length) set({ step: given.step });
      } else if (data.kind === "reading") bar(data.share);
      else {
        isWriting = false;
        put(play, t.write);
        if (data.kind !== "done" && given && !told().tree) return refuse();
        if (data.kind === "done") halted = most > 1 && !isAtEnd() ? fill(t.waits, { most }) : "";
        else put(costs, halted = fill(t[data.kind], data));
        update();
      }
      return undefined;
    });
  }
  /** Write the most probable token; return whether another can follow. */
  function advance() {
    const choices = model.get("choices");
    if (isOwn()) return ask(1);
    if (nodeAt(told().tree, choices)) write([...choices, 0]);
    return nodeAt(told().tree, model.get("choices")) !== null;
  }
  /** Continue to the end of what is stored; with reduced motion at once. */
  function start() {
    if (isOwn()) return ask(MOST);
    if (still.matches) return write(goOn(told().tree, model.get("choices")));
    put(play, t.pause);
    timer = setInterval(() => { if (!advance()) { stop(); update(); } }, PACE);
    return undefined;
  }
  const button = (hook, label, act) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: act }, label);
  const play = button("play", t.write, () => {
    if (timer !== null || isWriting) { stop(); return update(); }
    if (isAtEnd()) write([]);
    return start();
  });
  const one = button("one", t.one, () => {
    stop();
    if (isAtEnd()) write([]);
    advance();
  });
  const again = button("again", t.again, () => { stop(); write([]); });
  const copy = button("share", t.share, async () => {
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    if (!copied) return sayOfAddress(t.unshared);
    put(copy, t.shared); // The button says that the URL is copied, until the state changes.
    return live.say(t.shared);
  });
  const ofAddress = h("p", { class: "attn-live-note", role: "status", hidden: true, "data-attn": "address" });
  function sayOfAddress(text) {
    ofAddress.hidden = !text;
    put(ofAddress, text);
  }
  const suffix = home && nFigures++ ? String(nFigures) : "";
  const first = { text: model.get("text"), step: model.get("step"), choices: model.get("choices") };
  /** Write the state into the URL, so that it can be shared; the initial state adds nothing. */
  function tell() {
    if (!home || !isTouched || timer !== null || isWriting || (isOwn() && !told().tree)) return;
    put(copy, t.share);
    const { text, step, choices } = { text: model.get("text"), step: model.get("step"), choices: model.get("choices") };
    const isFirst = JSON.stringify(first) === JSON.stringify({ text, step, choices }) && !took.some(Boolean);
    const state = { text, step, choices, took, ...isOwn() && { prompt: told().prompt, ids: idsOf(choices), temperature: Number(temperature.value), topP: Number(topP.value) } };
    const url = new URL(addressOf(location.href, isFirst ? null : state, suffix));
    const section = suffix && el.closest("section[id]");
    if (section && !isFirst) url.hash = section.id; // Only the first figure is in view when the page opens.
    try { history.replaceState(history.state, "", url.href); } catch { /* The address stays as it was. */ }
  }
  /** Take a token at the step shown, and let the model continue from there. */
  function take(i) {
    stop();
    const choices = [...model.get("choices").slice(0, model.get("step")), i];
    write(choices, "reader");
    if (!isAtEnd()) start();
  }

  // The model in the page ---------------------------------------------------------
  const prompt = h("textarea", { class: "attn-live-input", id: uid(), rows: 2, spellcheck: "false", maxlength: LETTERS, "data-attn": "own-prompt",
    oninput: () => { put(costs, prompt.value.length < LETTERS ? "" : fill(t.long, { most: LETTERS })); } });
  const slider = (hook, label, attributes, say) => {
    const shown = h("span", { class: "attn-w-number", "aria-hidden": "true" });
    const input = h("input", { type: "range", id: uid(), "data-attn": hook, ...attributes, oninput: () => { tell(); rethink(); } });
    const tell = () => { put(shown, say(Number(input.value))); input.setAttribute("aria-valuetext", say(Number(input.value))); };
    tell();
    return [h("div", { class: "attn-w-slider" }, h("label", { for: input.id }, label), input, shown), input, (x) => { input.value = x; tell(); }];
  };
  const [temperatureBox, temperature, setTemperature] = slider("own-temperature", t.temperature, { min: 0, max: 1.5, step: 0.1, value: 0 },
    (x) => (x ? format(x, 1) : t.greedy));
  const [topPBox, topP, setTopP] = slider("own-top-p", t.topP, { min: 0.1, max: 1, step: 0.05, value: 1 }, (x) => format(x, 2));
  const costs = h("p", { class: "attn-live-note", role: "status", "data-attn": "costs" });
  const bar = (share) => put(costs, `${t.reading} ${Math.round(100 * share)}${t.percent}`);
  const form = h("form", {
    class: "attn-continuation-own", hidden: true, "data-attn": "own", onsubmit: (event) => { event.preventDefault(); begin(); },
  }, h("label", { for: prompt.id, class: "attn-w-label" }, t.ownPrompt), prompt,
  h("div", { class: "attn-w-controls" }, h("button", { type: "submit", class: "attn-w-button", "data-attn": "begin" }, t.begin), temperatureBox, topPBox), costs);
  const living = pageModel(language, {
    ready() {
      form.hidden = false;
      if (sent) {
        prompt.value = sent.prompt;
        setTemperature(sent.temperature);
        setTopP(sent.topP);
        begin(sent);
      }
      prompt.value ||= told().prompt;
      // The button that had the focus is gone. A reader who went on to another part of the page stays there.
      if (document.activeElement !== document.body && !el.contains(document.activeElement)) return;
      prompt.focus({ preventScroll: true });
      prompt.scrollIntoView({ block: "center" });
    },
    gone() {
      form.hidden = true;
      stop();
      drop();
    },
  });
  /** Discard the reader's own text. */
  function drop() {
    if (isOwn()) {
      took = [];
      set(first);
      picks.querySelector(`input[value="${first.text}"]`).checked = true;
    }
    pickOwn.remove();
    texts.length = own;
  }
  /** Return to the example, because the model cannot read the text in the URL. */
  function refuse() {
    drop();
    put(costs, "");
    sayOfAddress(t.strange);
  }
  /** Read the reader's own text and continue it, or show the state of it that a URL holds. */
  function begin(given = null) {
    sent = null;
    sayOfAddress("");
    stop();
    if (!prompt.value.trim()) {
      put(costs, t.empty);
      return prompt.focus();
    }
    const isNew = !texts[own];
    texts[own] = { prompt: prompt.value, language: prompt.lang || language, tree: null };
    if (isNew) picks.append(pickOwn);
    pickOwn.firstChild.checked = true;
    drawn = "";
    took = [];
    set({ text: own, step: 0, choices: [] });
    if (given) ask(0, given);
    else ask(MOST);
    return put(costs, t.reading);
  }
  /** Recompute the distribution at the step shown for another temperature; the tokens after it are removed. */
  function rethink() {
    if (!isOwn() || !told().tree) return;
    stop();
    const before = model.get("choices").slice(0, model.get("step"));
    const ids = idsOf(before);
    write(before);
    ask(0, { ids, took, step: ids.length });
  }
  /** Whether the last token of some choices ends the text. */
  const endsWith = (tree, choices) => /^<\|.*\|>$/.test(nodeAt(tree, choices.slice(0, -1)).best[choices.at(-1)][0]);

  /** Whether nothing can follow: the reader's text has ended, or no more of it is stored. */
  function isAtEnd() {
    const [tree, choices] = [told().tree, model.get("choices")];
    return isOwn() ? choices.length > 0 && endsWith(tree, choices) : !nodeAt(tree, choices);
  }

  function choose(i) {
    stop();
    took = [];
    set({ text: i, step: 0, choices: i === own ? [] : goOn(texts[i].tree, []) });
  }
  const picks = radios(t.prompts, "prompt", texts.map(({ prompt }, i) => [i, prompt]), model.get("text"), choose);
  picks.classList.add("attn-continuation-prompts");
  const pickOwn = h("label", { class: "attn-w-choice" }, h("input", {
    type: "radio", name: picks.querySelector("input").name, "data-attn": "prompt", onchange: () => choose(own),
  }), t.own);
  const line = h("div", { class: "attn-continuation-text", role: "radiogroup", "aria-label": t.written, "data-attn": "text" });
  const heading = h("p", { class: "attn-w-label", "data-attn": "before" });
  const optionAt = (i) => {
    const [word, bar, number, note] = [h("span", { "data-attn": "word" }), h("b", {}), h("span", { class: "attn-w-number" }), h("span", { class: "attn-w-hidden" })];
    const node = h("button", { type: "button", "data-attn": "option", onclick: () => take(i) },
      word, h("i", { "aria-hidden": "true" }, bar), number, note);
    return { node, word, bar, number, note };
  };
  const options = texts[0].tree.best.map((_, i) => optionAt(i));
  const list = h("div", { class: "attn-continuation-options", "data-attn": "options" }, options.map(({ node }) => node));
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  /** Who took the token of a step. Stored tokens were written by the model, the most probable one each time. */
  const whoTook = (i) => took[i] || (model.get("choices")[i] && !isOwn() ? "reader" : "model");

  let drawn = "";
  let tokens = [];
  let current = () => {};
  /** Draw the text again if its tokens have changed. */
  function drawText(tree, choices) {
    const key = JSON.stringify([model.get("text"), choices, took]);
    if (key === drawn) return;
    const had = line.contains(document.activeElement);
    drawn = key;
    const written = tokensOf(tree, choices).map(([token, p], i) => h("button", {
      type: "button", role: "radio", "data-attn": "token", "data-space": /^\s/.test(token), "data-other": whoTook(i) === "reader",
      style: `--attn-p: ${p}`, onclick: () => look(i),
    }, h("span", {}, shown(token)), h("small", {}, share(p))));
    const open = nodeAt(tree, choices) || !tree ? [h("button", {
      type: "button", role: "radio", "data-attn": "token", "data-open": true, "data-space": true, onclick: () => look(choices.length),
    }, h("span", {}, "…"), h("small", {}, t.next))] : [];
    tokens = [...written, ...open];
    current = roving(tokens, look);
    line.lang = told().language;
    line.replaceChildren(h("span", { "data-attn": "begun" }, told().prompt), ...tokens);
    if (had) tokens[Math.min(model.get("step"), tokens.length - 1)].focus();
  }
  function look(step) {
    stop();
    set({ step });
  }

  function update() {
    tell();
    const { tree, prompt, language: spoken } = told();
    const choices = model.get("choices");
    const step = Math.min(model.get("step"), choices.length);
    drawText(tree, choices);
    const node = nodeAt(tree, choices.slice(0, step));
    for (const part of [heading, list, summary]) part.toggleAttribute("data-waiting", !node);
    if (!node) return;
    const before = prompt + tokensOf(tree, choices.slice(0, step)).map(([token]) => token).join("");
    put(heading, fill(t.before, { text: lastWords(before.replaceAll("\n", "⏎")) }));
    tokens.forEach((token, i) => token.setAttribute("aria-checked", String(i === step)));
    current(step);
    while (options.length < node.best.length) list.append(options[options.push(optionAt(options.length)) - 1].node);
    const taken = choices[step];
    const most = node.best[0][1];
    options.forEach(({ node: option, word, bar, number, note }, i) => {
      option.hidden = !node.best[i];
      const [token, p] = node.best[i] ?? ["", 0];
      option.toggleAttribute("data-taken", i === taken);
      word.lang = spoken;
      put(word, shown(token));
      bar.style.width = `${100 * p}%`;
      put(number, share(p));
      option.setAttribute("data-p", p);
      put(note, i === taken ? ` (${t.taken})` : "");
    });
    const names = (i) => ({ token: shown(node.best[i][0]), share: share(node.best[i][1]), best: shown(node.best[0][0]), most: share(most) });
    const done = step === choices.length - 1 && !nodeAt(tree, choices);
    const who = whoTook(step);
    const kind = done && endsWith(tree, choices) ? "closes" : done && !isOwn() ? "end" : taken && who === "reader" ? "other" : who;
    put(summary, taken === undefined ? halted || t.open : fill(t[kind], names(taken)));
    if (timer === null && !isWriting) live.say(`${heading.textContent} ${options.slice(0, node.best.length).map(({ word, number }) => `${word.textContent} ${number.textContent}`).join(", ")}. ${summary.textContent}`);
  }

  function judge() {
    if (isOwn() && (Number(temperature.value) || Number(topP.value) < 1)) return ["heat"];
    const [verdict, values] = comparedWithGreedy(told().tree, model.get("choices"));
    return [verdict, values?.ratio ? { ...values, ratio: format(values.ratio), taken: share(values.taken), best: share(values.best) } : values];
  }
  el.append(h("div", { class: "attn-w attn-continuation", lang: language, role: "group", "aria-label": t.title, "data-attn": "continuation" },
    ofAddress, picks, living && form, h("div", { class: "attn-w-controls" }, play, one, again, home && copy), line, heading,
    list, summary, figureExercise("probable_text", t.exercise, judge), living?.node ?? [], live.node));
  const found = home && stateIn(location.search, texts.slice(0, own), suffix);
  let sent = null; // The state in the URL, until the model is loaded.
  if (found === "strange") sayOfAddress(t.strange);
  else if (found && found.prompt === undefined) {
    const { took: takers, ...state } = found;
    took = takers;
    picks.querySelector(`input[value="${state.text}"]`).checked = true;
    set(state);
  } else if (found) {
    sent = living?.isNear ? found : null;
    sayOfAddress(sent ? t.arrived : t.absent);
  }
  update();
  const unwatch = watch(model, ["text", "choices", "step"], () => { if (!isSetting) update(); });
  return () => {
    stop();
    living?.leave();
    unwatch();
  };
}

export default { render };
