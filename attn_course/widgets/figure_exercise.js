// An exercise that is solved in a figure: the state of the figure is the answer, and the figure
// judges it.
import { home } from "./loading.js";
import { fill, h, put } from "./shared.js";

/**
 * The exercise as a folded box. The browser stores under `name` that it was solved, and the
 * progress page counts it: book/chapters.toml lists the exercise of each chapter. `t` has its
 * texts: `title`, `text`, `check`, `solved`, and a sentence for each verdict in `verdicts`, where
 * "right" is the only good one. `judge` returns [verdict, values] or a promise of it.
 */
export function figureExercise(name, t, judge) {
  const place = `attn-figure-${name}`;
  const state = h("small", { "data-attn": "solved" });
  const tell = () => { try { put(state, home && localStorage.getItem(place) ? ` ✓ ${t.solved}` : ""); } catch { /* storage is off */ } };
  const verdict = h("p", { class: "attn-quiz-feedback", role: "status", "data-attn": "verdict" });
  const check = h("button", {
    type: "button", class: "attn-w-button", "data-attn": "check-figure",
    async onclick() {
      const [found, values] = await judge();
      verdict.dataset.verdict = found === "right" ? "right" : "wrong";
      put(verdict, fill(t.verdicts[found], values ?? {}));
      if (found !== "right" || !home) return;
      try { localStorage.setItem(place, "right"); } catch { /* nothing is kept */ }
      tell();
    },
  }, t.check);
  tell();
  return h("details", { class: "attn-figure-exercise", "data-attn": "exercise" }, h("summary", {}, t.title, state),
    h("p", {}, t.text), h("div", { class: "attn-quiz-answer" }, check, verdict));
}
