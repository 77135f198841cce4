// A language model writes on, one token at a time; each step shows the tokens that it could have written instead.
import { announcer, fill, h, put, radios, roving, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Un modelo de lenguaje sigue escribiendo", prompts: "Texto empezado", written: "Tokens escritos",
    write: "Escribir", pause: "Pausa", one: "Un token", again: "Desde el principio", next: "siguiente", percent: "\u202f%",
    before: "Después de «{text}», lo más probable:",
    end: "Aquí termina lo guardado. Toca una palabra y cambia lo que se escribió.",
    closes: "Con «{token}» ({share}) el modelo cierra el turno. Toca otro token y el texto seguirá por ahí.",
    first: "El modelo tomó «{token}», lo más probable ({share}). Toca otro token y el texto seguirá por ahí.",
    other: "Tomaste «{token}» ({share}) en lugar de «{best}» ({most}). El texto sigue desde ahí.",
    open: "Falta elegir el token siguiente: tócalo, o pulsa «Escribir».", taken: "escrito",
  },
  en: {
    title: "A language model writes on", prompts: "Text so far", written: "Tokens written",
    write: "Write", pause: "Pause", one: "One token", again: "From the start", next: "next", percent: "%",
    before: "After “{text}”, the most probable:",
    end: "What is stored ends here. Touch a word and change what was written.",
    closes: "With “{token}” ({share}) the model ends the turn. Touch another token and the text goes on from there.",
    first: "The model took “{token}”, the most probable ({share}). Touch another token and the text goes on from there.",
    other: "You took “{token}” ({share}) instead of “{best}” ({most}). The text goes on from there.",
    open: "The next token is still to be chosen: touch one, or press “Write”.", taken: "written",
  },
};

const PACE = 450; // The next token comes after this many milliseconds.
const CONTEXT = 24; // The heading of a step quotes about this many characters of what stands before.

/** The node of a tree at the end of some choices; null where nothing is stored. */
export const nodeAt = (tree, choices) => choices.reduce((node, choice) => node && node.next[choice], tree);

/** The tokens that some choices write, each with its probability. */
export const tokensOf = (tree, choices) => choices.map((choice, i) => nodeAt(tree, choices.slice(0, i)).best[choice]);

/** The choices that write the most probable token from here to the end of what is stored. */
export function goOn(tree, choices) {
  const found = choices.slice();
  while (nodeAt(tree, found)) found.push(0);
  return found;
}

/** A token as it is shown by itself: without its space, a line break as a sign. */
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
  const texts = model.get("texts");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const live = announcer();
  let timer = null;

  const told = () => texts[model.get("text")];
  const share = (p) => `${p < 0.005 ? "<\u20091" : Math.round(100 * p)}${t.percent}`;
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  /** Write these choices, and show the step after them or the last one that is stored. */
  function write(choices) {
    set({ step: 0, choices });
    set({ step: Math.min(choices.length, choices.length - !nodeAt(told().tree, choices)) });
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    put(play, t.write);
  }
  /** Write a token, the most probable; return whether another can follow. */
  function advance() {
    const choices = model.get("choices");
    if (nodeAt(told().tree, choices)) write([...choices, 0]);
    return nodeAt(told().tree, model.get("choices")) !== null;
  }
  /** Write on until nothing is stored; with reduced motion at once. */
  function start() {
    if (still.matches) return write(goOn(told().tree, model.get("choices")));
    put(play, t.pause);
    timer = setInterval(() => { if (!advance()) { stop(); update(); } }, PACE);
    return undefined;
  }
  const button = (hook, label, act) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: act }, label);
  const play = button("play", t.write, () => {
    if (timer !== null) { stop(); return update(); }
    if (!nodeAt(told().tree, model.get("choices"))) write([]);
    return start();
  });
  const one = button("one", t.one, () => { stop(); if (!nodeAt(told().tree, model.get("choices"))) write([]); advance(); });
  const again = button("again", t.again, () => { stop(); write([]); });
  /** Take a token at the step that is shown, and let the model write on from there. */
  function take(i) {
    stop();
    const choices = [...model.get("choices").slice(0, model.get("step")), i];
    write(choices);
    if (nodeAt(told().tree, choices)) start();
  }

  const picks = radios(t.prompts, "prompt", texts.map(({ prompt }, i) => [i, prompt]), model.get("text"), (i) => {
    stop();
    set({ step: 0, choices: [] });
    set({ text: i, choices: goOn(texts[i].tree, []) });
  });
  picks.classList.add("attn-continuation-prompts");
  const line = h("div", { class: "attn-continuation-text", role: "radiogroup", "aria-label": t.written, "data-attn": "text" });
  const heading = h("p", { class: "attn-w-label", "data-attn": "before" });
  const options = texts[0].tree.best.map((_, i) => {
    const [word, bar, number, note] = [h("span", { "data-attn": "word" }), h("b", {}), h("span", { class: "attn-w-number" }), h("span", { class: "attn-w-hidden" })];
    const node = h("button", { type: "button", "data-attn": "option", onclick: () => take(i) },
      word, h("i", { "aria-hidden": "true" }, bar), number, note);
    return { node, word, bar, number, note };
  });
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });

  let drawn = "";
  let tokens = [];
  let current = () => {};
  /** Draw the text again if other tokens are written. */
  function drawText(tree, choices) {
    const key = JSON.stringify([model.get("text"), choices]);
    if (key === drawn) return;
    const had = line.contains(document.activeElement);
    drawn = key;
    const written = tokensOf(tree, choices).map(([token, p], i) => h("button", {
      type: "button", role: "radio", "data-attn": "token", "data-space": /^\s/.test(token), "data-other": choices[i] > 0,
      style: `--attn-p: ${p}`, onclick: () => look(i),
    }, h("span", {}, shown(token)), h("small", {}, share(p))));
    const open = nodeAt(tree, choices) ? [h("button", {
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
    update();
  }

  function update() {
    const { tree, prompt, language: spoken } = told();
    const choices = model.get("choices");
    const step = Math.min(model.get("step"), choices.length);
    drawText(tree, choices);
    const node = nodeAt(tree, choices.slice(0, step));
    if (!node) return;
    const before = prompt + tokensOf(tree, choices.slice(0, step)).map(([token]) => token).join("");
    put(heading, fill(t.before, { text: lastWords(before.replaceAll("\n", "⏎")) }));
    tokens.forEach((token, i) => token.setAttribute("aria-checked", String(i === step)));
    current(step);
    const taken = choices[step];
    const most = node.best[0][1];
    options.forEach(({ node: option, word, bar, number, note }, i) => {
      const [token, p] = node.best[i];
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
    const kind = taken ? "other" : done && /^<\|.*\|>$/.test(node.best[0][0]) ? "closes" : done ? "end" : "first";
    put(summary, taken === undefined ? t.open : fill(t[kind], names(taken)));
    if (timer === null) live.say(`${heading.textContent} ${options.map(({ word, number }) => `${word.textContent} ${number.textContent}`).join(", ")}. ${summary.textContent}`);
  }

  el.append(h("div", { class: "attn-w attn-continuation", lang: language, role: "group", "aria-label": t.title, "data-attn": "continuation" },
    picks, line, h("div", { class: "attn-w-controls" }, play, one, again), heading,
    h("div", { class: "attn-continuation-options" }, options.map(({ node }) => node)), summary, live.node));
  update();
  const unwatch = watch(model, ["text", "choices", "step"], update);
  return () => {
    stop();
    unwatch();
  };
}

export default { render };
