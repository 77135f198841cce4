// Questions with one right answer. Every wrong answer has an explanation of its own.
import { h, put, rich, uid, watch } from "./shared.js";

export const STRINGS = {
  es: {
    title: "Preguntas", check: "Comprobar", choose: "Elige primero una opción.",
    right: "Correcto.", wrong: "No es esa.", score: "{score} de {count} correctas",
  },
  en: {
    title: "Questions", check: "Check", choose: "Choose an option first.",
    right: "Correct.", wrong: "Not that one.", score: "{score} of {count} correct",
  },
};

function render({ model, el }) {
  const language = model.get("language");
  const t = STRINGS[language];
  const questions = model.get("questions");
  const isRight = (question) => question.options[model.get("answers")[question.id]]?.correct ?? false;
  const score = h("p", { class: "attn-quiz-score", "data-attn": "score" });
  const views = questions.map((question, number) => ask(question, number));

  function ask(question, number) {
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
        h("legend", {}, questions.length > 1 ? h("span", { class: "attn-quiz-number" }, `${number + 1}. `) : null, rich(question.prompt)),
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
    put(score, t.score.replace("{score}", questions.filter(isRight).length).replace("{count}", questions.length));
  }
  const stop = watch(model, ["answers"], update);

  el.append(h("div", {
    class: "attn-w attn-quiz", lang: language, role: "group", "aria-label": t.title, "data-attn": "quiz",
  }, views.map((view) => view.node), questions.length > 1 ? score : null));
  update();
  return stop;
}

export default { render };
