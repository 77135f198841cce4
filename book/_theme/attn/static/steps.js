// Drawings in steps: whole until the reader plays them, or goes through them one step at a time.
(function () {
  "use strict";

  for (const svg of document.querySelectorAll("svg[data-steps]")) {
    const words = JSON.parse(svg.dataset.steps);
    const last = words.told.length;
    const make = (tag, parent, properties = {}) => parent.appendChild(Object.assign(document.createElement(tag), properties));
    const box = document.createElement("div");
    box.className = "attn-steps";
    const bar = make("div", box, { role: "group", ariaLabel: svg.querySelector("title").textContent });
    const [back, play, next] = ["back", "play", "next"].map((name) => make("button", bar, { type: "button", textContent: words[name] }));
    const place = make("span", bar);
    const told = make("p", box);
    let at = last;
    let timer = 0; // 0 while nothing plays

    const show = (step) => {
      at = Math.min(last, Math.max(1, step));
      for (const part of svg.querySelectorAll("[data-step]")) part.classList.toggle("attn-later", part.dataset.step > at);
      for (const part of svg.querySelectorAll("[data-only]")) part.style.display = Number(part.dataset.only) === at ? "inline" : "";
      back.ariaDisabled = String(at === 1);
      next.ariaDisabled = String(at === last);
      place.textContent = `${at} / ${last}`;
      told.textContent = words.told[at - 1];
    };
    const stop = () => {
      clearTimeout(timer);
      timer = 0;
      play.textContent = words.play;
    };
    // A step lasts as long as its sentence takes to be read.
    const wait = () => {
      if (at === last) stop();
      else timer = setTimeout(() => { show(at + 1); wait(); }, 1200 + 45 * words.told[at - 1].length);
    };
    const move = (by) => { stop(); show(at + by); };
    back.addEventListener("click", () => move(-1));
    next.addEventListener("click", () => move(1));
    play.addEventListener("click", () => {
      if (timer) return stop();
      show(at === last ? 1 : at);
      play.textContent = words.pause;
      wait();
    });
    bar.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      move(by);
    });
    show(last);
    told.setAttribute("role", "status"); // from here on: what the page says as it opens is not news
    svg.after(box);
  }
})();
