// Answers on paper: they are moved to the end of a chapter, onto a separate page that a teacher can
// keep back.
(function () {
  "use strict";

  const article = document.querySelector("article");
  const words = document.body.dataset; // data-answers, data-question
  let undo = []; // what the screen does not show is taken back after printing

  const make = (tag, parent, properties = {}) => {
    const node = Object.assign(document.createElement(tag), properties);
    parent?.append(node);
    return node;
  };

  /** Copy the content of a closed box, without its summary and without ids, which must be unique. */
  function copy(details, parent) {
    const held = [...details.children].filter((child) => child.tagName !== "SUMMARY");
    for (const child of held) {
      const twin = child.cloneNode(true);
      for (const node of [twin, ...twin.querySelectorAll("[id]")]) node.removeAttribute("id");
      for (const button of twin.querySelectorAll("button")) button.remove();
      parent.append(twin);
    }
  }

  addEventListener("beforeprint", () => {
    if (undo.length) return;
    const end = make("section", null, { className: "attn-answers" });
    make("h2", end, { textContent: words.answers });
    let questions = 0;
    const boxes = "[data-anywidget=quiz] .attn-fallback details, section:is([id^=exercise-], [id^=ejercicio-]) details.hide";
    for (const details of article.querySelectorAll(boxes)) {
      const entry = make("section", end);
      if (details.matches(".hide")) {
        const heading = details.closest("section").querySelector("h2, h3, h4").cloneNode(true);
        for (const link of heading.querySelectorAll(".headerlink")) link.remove();
        make("h3", entry, { textContent: heading.textContent.trim() });
      } else {
        // On paper a question gets a number, which refers to its answer.
        const label = `${words.question} ${(questions += 1)}`;
        const asked = details.previousElementSibling.previousElementSibling;
        const number = make("span", null, { className: "attn-label", textContent: `${label}. ` });
        const text = asked.querySelector("strong").firstChild;
        const said = text.data;
        text.data = said.replace(/^\d+\. /, ""); // its number among those of one quiz
        asked.prepend(number);
        undo.push(() => { number.remove(); text.data = said; });
        make("h3", entry, { textContent: label });
      }
      copy(details, entry);
    }
    if (end.children.length === 1) return;
    article.querySelector("section").append(end);
    undo.push(() => end.remove());
  });
  addEventListener("afterprint", () => {
    for (const back of undo.splice(0)) back();
  });
})();
