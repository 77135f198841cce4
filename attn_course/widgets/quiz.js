// Questions with one right answer, one at a time. Every wrong answer has an explanation of its own.
import { fill, h, put, rich, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Preguntas", check: "Comprobar", choose: "Elige primero una opción.",
    right: "Correcto.", wrong: "No es esa.", score: "{score} de {count} correctas",
    back: "Pregunta anterior", next: "Pregunta siguiente", place: "Pregunta {at} de {count}",
  },
  en: {
    title: "Questions", check: "Check", choose: "Choose an option first.",
    right: "Correct.", wrong: "Not that one.", score: "{score} of {count} correct",
    back: "Previous question", next: "Next question", place: "Question {at} of {count}",
  },
};

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const questions = model.get("questions");
  const isRight = (question) => question.options[model.get("answers")[question.id]]?.correct ?? false;
  const many = questions.length > 1;
  const score = h("span", { "data-attn": "score" });
  const views = questions.map(ask);

  function ask(question) {
    const name = uid();
    const status = h("p", { class: "attn-quiz-feedback", role: "status", "data-attn": "feedback" });
    const inputs = question.options.map((_, i) =>
      h("input", { type: "radio", name, value: i, "data-attn": "option" }));
    const marks = inputs.map(() => h("span", { class: "attn-quiz-mark" }));
    const options = question.options.map((option, i) =>
      h("label", { class: "attn-quiz-option" }, inputs[i], h("span", {}, rich(option.text), " ", marks[i])));
    const onsubmit = (event) => {
      event.preventDefault();
      const chosen = inputs.findIndex((input) => input.checked);
      if (chosen < 0) {
        put(status, t.choose);
        return;
      }
      model.set("answers", { ...model.get("answers"), [question.id]: chosen });
      model.set("score", questions.filter(isRight).length);
      model.save_changes();
    };
    const node = h("form", { class: "attn-quiz-question", onsubmit, "data-attn": "question", "data-question": question.id },
      h("fieldset", {},
        h("legend", {}, rich(question.prompt)),
        options),
      h("div", { class: "attn-quiz-answer" },
        h("button", { type: "submit", class: "attn-w-button", "data-attn": "check" }, t.check), status));
    let shown;
    const update = () => {
      const chosen = model.get("answers")[question.id];
      if (chosen === shown) return;
      shown = chosen;
      const option = question.options[chosen];
      if (!option) return;
      inputs[chosen].checked = true;
      options[chosen].dataset.verdict = option.correct ? "right" : "wrong"; // An option that was once chosen keeps its verdict.
      put(marks[chosen], option.correct ? "✓" : "✗");
      status.dataset.verdict = options[chosen].dataset.verdict;
      status.replaceChildren(h("b", {}, option.correct ? t.right : t.wrong), " ", ...rich(option.feedback));
    };
    return { node, update };
  }
  function update() {
    views.forEach((view) => view.update());
    put(score, fill(t.score, { score: questions.filter(isRight).length, count: questions.length }));
  }

  // The answers lie over one another, so that the quiz always has the height of the longest.
  let at = Math.max(0, questions.findIndex(({ id }) => !(id in model.get("answers"))));
  const place = h("span", { role: "status", "data-attn": "place" });
  const step = (by, sign, name) =>
    h("button", { type: "button", class: "attn-w-button", "aria-label": t[name], "data-attn": name, onclick: () => go(at + by) }, sign);
  const [back, next] = [step(-1, "←", "back"), step(1, "→", "next")];
  function go(to) {
    at = Math.min(questions.length - 1, Math.max(0, to));
    views.forEach(({ node }, i) => { node.style.visibility = i === at ? "" : "hidden"; });
    back.setAttribute("aria-disabled", at === 0);
    next.setAttribute("aria-disabled", at === questions.length - 1);
    put(place, fill(t.place, { at: at + 1, count: questions.length }));
  }
  const onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    go(at + by);
  };
  const bar = many ? h("div", { class: "attn-quiz-bar", role: "group", "aria-label": t.title, onkeydown }, back, next, place, score) : null;
  if (many) go(at);
  const stop = watch(model, ["answers"], update);

  el.append(h("div", {
    class: "attn-w attn-quiz", lang: language, role: "group", "aria-label": t.title, "data-attn": "quiz",
  }, bar, h("div", { class: "attn-quiz-questions" }, views.map((view) => view.node))));
  update();
  return stop;
}

export default { render };
