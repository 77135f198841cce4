// The answers of a model to one prompt: the reader rewards them, and the policy gradient moves their probabilities.
import { drawn, generator } from "./dice.js";
import { announcer, dot, entropy, fill, format, h, put, radios, signed, softmax, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Las respuestas de un modelo y sus premios", prompt: "Traduce", reward: "Premia",
    rewards: { verifier: "el verificador", hole: "otro, con un agujero", hand: "tu mano" },
    pays: { verifier: "Paga 1 por la respuesta correcta y nada por las demás.", hole: "Por un agujero paga también respuestas malas.", hand: "Paga las respuestas que tú marques." },
    advantage: "Ventaja (lo que cuenta)", advantages: { reward: "premio", baseline: "menos media", group: "y entre desviación" },
    leash: "Correa β", pulls: "La correa tira del modelo hacia el principio.", head: ["premio", "respuesta", "prob.", "salió", "ventaja"], right: "correcta", silence: "(nada)",
    pay: "Premio de «{answer}»: {reward}. Tócalo para cambiarlo.",
    draw: "Sortear 8", many: "20 veces", back: "Un paso atrás", dice: "Otros dados", again: "Empezar de nuevo",
    numbers: ["premio medio", "aciertos", "entropía", "lejanía (KL)"], bits: "{n} bits",
    chart: "Premio medio y aciertos, paso a paso", steps: "paso {n}",
    start: "Aún no se ha premiado ninguna respuesta: así contesta el modelo.",
    last: { 0: "De las 8 respuestas no se premia ninguna.", 1: "De las 8 respuestas se premia 1.", many: "De las 8 respuestas se premian {n}." },
    alike: "Todas cobran lo mismo, así que la ventaja es cero.",
    hacked: "El premio sube y los aciertos bajan: cobra «{answer}», que está mal.",
    now: "La respuesta más probable es «{answer}».", full: "La figura no puede dar más pasos.",
  },
  en: {
    title: "The answers of a model, and their reward", prompt: "Translate", reward: "Rewarded by",
    rewards: { verifier: "the verifier", hole: "one with a hole", hand: "your hand" },
    pays: { verifier: "It pays 1 for the right answer and nothing for the others.", hole: "Through a hole it also pays wrong answers.", hand: "It pays the answers that you mark." },
    advantage: "Advantage (what counts)", advantages: { reward: "reward", baseline: "less mean", group: "and over deviation" },
    leash: "Leash β", pulls: "The leash pulls the model back to the start.", head: ["reward", "answer", "prob.", "drawn", "advantage"], right: "right", silence: "(nothing)",
    pay: "Reward of “{answer}”: {reward}. Touch it to change it.",
    draw: "Draw 8", many: "20 times", back: "One step back", dice: "Other dice", again: "Start again",
    numbers: ["mean reward", "right", "entropy", "how far (KL)"], bits: "{n} bits",
    chart: "Mean reward and share of right answers, step by step", steps: "step {n}",
    start: "Nothing has been rewarded yet: this is how the model answers.",
    last: { 0: "None of the 8 answers is rewarded.", 1: "1 of the 8 answers is rewarded.", many: "{n} of the 8 answers are rewarded." },
    alike: "All get the same, and the advantage is zero.",
    hacked: "The reward rises and fewer answers are right: “{answer}” is paid, and it is wrong.",
    now: "The most probable is “{answer}”.", full: "The figure takes no more steps.",
  },
};

export const REWARDS = ["verifier", "hole", "hand"];
export const ADVANTAGES = ["reward", "baseline", "group"];
const DRAWS = 8; // answers sampled per step
const RATE = 1; // the learning rate
export const MOST = 200; // steps
const LEASH = 2; // the largest KL penalty, in units of reward
const NAMES = ["reward", "hand", "advantage", "leash", "steps", "seed"]; // The parameters of the URL's query string.

/** The advantages of a group: its rewards as they are, minus their mean, or also divided by their deviation. */
export function advantages(kind, rewards) {
  if (kind === "reward") return rewards;
  const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length;
  const centred = rewards.map((x) => x - mean);
  const deviation = Math.sqrt(dot(centred, centred) / rewards.length);
  return centred.map((x) => (kind === "baseline" ? x : deviation < 1e-9 ? 0 : x / deviation));
}

/** The Kullback-Leibler divergence of a policy from the reference, in nats. */
export const divergence = (policy, reference) =>
  policy.reduce((total, p, i) => total + (p > 0 ? p * Math.log(p / reference[i]) : 0), 0);

/** Every step from the first on: the new policy, the answers sampled from the previous one, and their advantages. */
export function history(reference, paid, { advantage, leash, steps, seed }) {
  const random = generator(seed);
  const logits = reference.map(Math.log);
  const told = [{ policy: reference, answers: [], gained: [] }];
  for (let step = 0; step < steps; step++) {
    const policy = softmax(logits);
    const answers = Array.from({ length: DRAWS }, () => drawn(policy, random()));
    const gained = advantages(advantage, answers.map((i) => paid[i]));
    const far = divergence(policy, reference);
    const total = gained.reduce((a, b) => a + b, 0);
    policy.forEach((p, j) => {
      const own = gained.reduce((sum, a, n) => sum + (answers[n] === j ? a : 0), 0);
      const pull = p > 0 ? p * (Math.log(p / reference[j]) - far) : 0;
      logits[j] += RATE * ((own - total * p) / DRAWS - leash * pull);
    });
    told.push({ policy: softmax(logits), answers, gained });
  }
  return told;
}

/** The settings that a URL's query string holds, over those of the page; invalid ones are left out. */
export function settingsIn(search, start) {
  const said = new URLSearchParams(search);
  const number = (name, least, most) => {
    const x = Number(said.get(name));
    return said.get(name) && x >= least && x <= most ? { [name]: x } : {};
  };
  const one = (name, choices) => (choices.includes(said.get(name)) ? { [name]: said.get(name) } : {});
  const hand = said.get("hand") ?? "";
  return {
    ...start, ...one("reward", REWARDS), ...one("advantage", ADVANTAGES), ...number("leash", 0, LEASH),
    ...Object.fromEntries(["steps", "seed"].flatMap((name) => Object.entries(number(name, name === "seed" ? 1 : 0, name === "seed" ? 999 : MOST)))
      .map(([name, x]) => [name, Math.round(x)])),
    ...(hand.length === start.hand.length && /^[01]+$/.test(hand) ? { hand: [...hand].map(Number) } : {}),
  };
}

/** The URL that restores the settings; without a query string if they are those of the page. */
export function addressOf(href, settings, start) {
  const url = new URL(href);
  for (const name of NAMES) {
    const [x, first] = [settings, start].map((all) => [all[name]].flat().join(""));
    if (x !== first && (name !== "hand" || settings.reward === "hand")) url.searchParams.set(name, x);
    else url.searchParams.delete(name);
  }
  return url.href;
}

function render({ model, el, fallback }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const [said, reference, verified, holed] = ["answers", "probabilities", "verified", "holed"].map((name) => model.get(name));
  const texts = said.map((answer) => answer || t.silence);
  const live = announcer();
  const read = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const start = read();
  const set = (changed) => {
    for (const [name, x] of Object.entries(changed)) model.set(name, x);
    model.save_changes();
  };
  const paidBy = (reward, hand) => ({ verifier: verified, hole: holed, hand })[reward];
  const percent = (p) => (p > 0 && p < 0.005 ? "<\u20091" : (100 * p).toFixed(0)) + (language === "es" ? "\u202f%" : "%");
  const short = (x) => format(x, Number.isInteger(x) ? 0 : 2);

  // Controls ------------------------------------------------------------------------------------
  const choice = (label, hook, names) => radios(label, hook, Object.entries(names), model.get(hook), (x) => set({ [hook]: x }));
  const groups = [choice(t.reward, "reward", t.rewards), choice(t.advantage, "advantage", t.advantages)];
  const id = uid();
  const slider = h("input", { type: "range", id, min: 0, max: LEASH, step: 0.05, "data-attn": "leash", oninput: () => set({ leash: Number(slider.value) }) });
  const shownLeash = h("span", { class: "attn-w-number", "aria-hidden": "true" });
  const leash = h("div", { class: "attn-w-slider" }, h("label", { for: id }, t.leash), slider, shownLeash);
  const pays = h("p", { class: "attn-w-label", "data-attn": "pays" });

  // The answers ---------------------------------------------------------------------------------
  const rows = texts.map((answer, i) => {
    const pay = h("button", { type: "button", class: "attn-answers-pay", "data-attn": "pay", onclick: () => {
      const { reward, hand } = read();
      set({ hand: paidBy(reward, hand).map((x, j) => Number((x > 0.5) !== (j === i))), reward: "hand" });
    } });
    const [ghost, bar] = [h("i", {}), h("b", {})];
    const [now, times, gain] = ["policy", "times", "gain"].map((hook) => h("td", { class: "attn-w-number", "data-attn": hook }));
    return { pay, ghost, bar, now, times, gain, node: h("tr", { "data-attn": "answer" }, h("td", {}, pay),
      h("th", { scope: "row" }, h("span", { lang: said[i] ? "es" : language }, answer), verified[i] > 0.5 ? h("span", { class: "attn-answers-right", role: "img", "aria-label": t.right }, " ✓") : null,
        h("span", { class: "attn-sampling-share", "aria-hidden": "true" }, h("span", {}, ghost, bar))), now, times, gain) };
  });
  const table = h("table", { class: "attn-w-table attn-answers-table" },
    h("caption", {}, `${t.prompt}: `, h("q", { lang: "en" }, model.get("prompt"))),
    h("thead", {}, h("tr", {}, t.head.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows.map(({ node }) => node)));

  // The result of the step ----------------------------------------------------------------------
  const values = t.numbers.map((label, i) => {
    const value = h("dd", { "data-attn": ["mean", "truth", "entropy", "kl"][i] });
    return { value, node: h("div", {}, h("dt", {}, label), value) };
  });
  const lines = ["truth", "mean"].map((name) => h("path", { class: `attn-answers-${name}` }));
  const end = h("span", { class: "attn-w-label" });
  const chart = h("div", { class: "attn-answers-chart" },
    h("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": t.chart }, h("path", { class: "attn-answers-frame", d: "M0 0H100M0 20H100M0 40H100" }), lines), end);
  const summary = h("p", { class: "attn-w-summary", "data-attn": "summary" });
  const buttons = [
    [t.draw, "draw", () => set({ steps: Math.min(MOST, model.get("steps") + 1) })],
    [t.many, "many", () => set({ steps: Math.min(MOST, model.get("steps") + 20) })],
    [t.back, "back", () => set({ steps: Math.max(0, model.get("steps") - 1) })],
    [t.dice, "dice", () => set({ seed: (model.get("seed") % 999) + 1 })],
    [t.again, "again", () => set(start)],
  ].map(([text, hook, act]) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: (event) => {
    if (event.currentTarget.getAttribute("aria-disabled") !== "true") act();
  } }, text));

  function update() {
    const settings = read();
    const paid = paidBy(settings.reward, settings.hand);
    const told = history(reference, paid, settings);
    const { policy, answers, gained } = told.at(-1);
    [["reward", groups[0]], ["advantage", groups[1]]].forEach(([name, group]) =>
      group.querySelectorAll("input").forEach((input) => { input.checked = input.value === settings[name]; }));
    if (Number(slider.value) !== settings.leash) slider.value = settings.leash;
    put(shownLeash, format(settings.leash));
    put(pays, t.pays[settings.reward]);
    slider.setAttribute("aria-valuetext", format(settings.leash));
    rows.forEach(({ pay, ghost, bar, now, times, gain }, i) => {
      put(pay, short(paid[i]));
      pay.setAttribute("aria-label", fill(t.pay, { answer: texts[i], reward: short(paid[i]) }));
      pay.setAttribute("aria-pressed", String(paid[i] > 0.5));
      ghost.style.width = `${100 * reference[i]}%`;
      bar.style.width = `${100 * policy[i]}%`;
      put(now, percent(policy[i]));
      now.setAttribute("data-value", policy[i]);
      const count = answers.filter((j) => j === i).length;
      put(times, count ? `×\u2009${count}` : "");
      const own_ = count ? gained[answers.indexOf(i)] : 0;
      put(gain, count ? (Math.abs(own_) < 0.005 ? format(0) : signed(own_)) : "");
    });
    const means = told.map((one) => [dot(one.policy, verified), dot(one.policy, paid)]);
    const [right, mean] = means.at(-1);
    [format(mean), percent(right), fill(t.bits, { n: format(entropy(policy)) }), format(divergence(policy, reference))].forEach((text, i) => put(values[i].value, text));
    const wide = Math.max(20, settings.steps);
    lines.forEach((line, k) => line.setAttribute("d", means.map((both, n) => `${n ? "L" : "M"}${(100 * n / wide).toFixed(2)} ${(40 - 40 * both[k]).toFixed(2)}`).join("") || "M0 0"));
    put(end, fill(t.steps, { n: settings.steps }));
    buttons[0].setAttribute("aria-disabled", settings.steps === MOST);
    buttons[1].setAttribute("aria-disabled", settings.steps === MOST);
    buttons[2].setAttribute("aria-disabled", settings.steps === 0);
    put(summary, words(settings, paid, told, means));
    model.set("policy", policy);
    if (own()) try { history_.replaceState(history_.state, "", addressOf(location.href, settings, start)); } catch { /* The address stays as it was. */ }
  }

  function words({ steps }, paid, told, means) {
    if (!steps) return t.start;
    const { policy, answers, gained } = told.at(-1);
    const n = answers.filter((i) => paid[i] > 0.5).length;
    const best = policy.indexOf(Math.max(...policy));
    const [[right, mean], [before, first]] = [means.at(-1), means[0]];
    const wrong = policy.map((p, i) => (verified[i] < 0.5 && paid[i] > 0.5 ? p : 0));
    const top = wrong.indexOf(Math.max(...wrong));
    return [fill(t.last[n > 1 ? "many" : n], { n }),
      gained.every((x) => x === gained[0]) && Math.abs(gained[0]) < 1e-9 && new Set(answers.map((i) => paid[i])).size === 1 ? t.alike : null,
      right < before && mean > first + 0.1 && wrong[top] > 0.3 ? fill(t.hacked, { answer: texts[top] }) : fill(t.now, { answer: texts[best] }),
      steps === MOST ? t.full : null].filter(Boolean).join(" ");
  }

  const history_ = globalThis.history;
  // Only the first figure of its kind on a page reads and writes the URL, and none does in a
  // notebook.
  const own = () => fallback && document.querySelector("[data-anywidget=answer_explorer]") === fallback.parentElement;
  let due = false;
  const soon = () => { // A touch changes several traits, and the figure is drawn once.
    if (due) return;
    due = true;
    queueMicrotask(() => {
      due = false;
      update();
      live.say(summary.textContent);
    });
  };
  el.append(h("div", { class: "attn-w attn-answers", lang: language, role: "group", "aria-label": t.title, "data-attn": "answers" },
    h("div", { class: "attn-answers-who" }, groups[0], pays), // A choice is beside what it changes, on a phone as well.
    h("div", { class: "attn-answers-stage" }, table,
      h("div", { class: "attn-answers-side" }, h("div", { class: "attn-state-buttons" }, buttons), summary,
        h("div", { class: "attn-answers-fine" }, groups[1], leash, h("p", { class: "attn-w-label" }, t.pulls)),
        h("dl", { class: "attn-answers-numbers" }, values.map(({ node }) => node)), chart)), live.node));
  if (own()) set(settingsIn(location.search, start));
  update();
  return watch(model, NAMES, soon);
}

export default { render };
