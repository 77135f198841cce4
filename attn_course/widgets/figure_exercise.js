// An exercise that is solved in a figure: what the figure shows is the answer, and the figure judges it.
import { fill, h, put } from "./shared.js";

/**
 * The exercise as a folded box. `t` has its words: `title`, `text`, `check`, and for each verdict a sentence in
 * `verdicts`, where "right" is the only good one. `judge` returns [verdict, values], at once or later.
 */
export function figureExercise(t, judge) {
  const verdict = h("p", { class: "attn-quiz-feedback", role: "status", "data-attn": "verdict" });
  const check = h("button", {
    type: "button", class: "attn-w-button", "data-attn": "check-figure",
    async onclick() {
      const [found, values] = await judge();
      verdict.dataset.verdict = found === "right" ? "right" : "wrong";
      put(verdict, fill(t.verdicts[found], values ?? {}));
    },
  }, t.check);
  return h("details", { class: "attn-figure-exercise", "data-attn": "exercise" }, h("summary", {}, t.title),
    h("p", {}, t.text), h("div", { class: "attn-quiz-answer" }, check, verdict));
}
