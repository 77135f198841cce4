// The page's own behaviour: colour scheme, menu, copying code, wide boxes, paper, where you are.
(function () {
  "use strict";

  const root = document.documentElement;
  const button = document.querySelector(".attn-theme");
  const show = () => button.setAttribute("aria-pressed", String(root.dataset.theme === "dark"));
  button.addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("attn-theme", root.dataset.theme);
    } catch (error) {
      // Storage is off: the choice lasts until the page is left.
    }
    show();
  });
  show();

  // Paper is white, and shows what is folded.
  const folded = [];
  addEventListener("beforeprint", () => {
    root.dataset.screen = root.dataset.theme;
    root.dataset.theme = "light";
    for (const details of document.querySelectorAll("main details:not([open])")) {
      details.open = true;
      folded.push(details);
    }
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = root.dataset.screen;
    for (const details of folded.splice(0)) details.open = false;
  });

  const menu = document.querySelector(".attn-menu");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (menu.open && !menu.contains(event.target)) menu.open = false;
  });

  // Only where the browser allows it: the clipboard needs https or this machine.
  for (const block of navigator.clipboard ? document.querySelectorAll(".cell_input .highlight, .highlight-bash .highlight") : []) {
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "attn-copy";
    copy.textContent = document.body.dataset.copy;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("pre").textContent);
      copy.textContent = document.body.dataset.copied;
      setTimeout(() => { copy.textContent = document.body.dataset.copy; }, 1500);
    });
    block.append(copy);
  }

  // What is wider than its box can be scrolled by keyboard, and fades where it goes on; the rest
  // needs no tab stop.
  const boxes = document.querySelectorAll(
    "article pre, article div.math, article table.docutils, article .cell_output :is(figure, .output.image_png)",
  );
  const fade = (box) => {
    const left = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("attn-goes-on", left > 2);
  };
  const reach = () => {
    for (const box of boxes) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      fade(box);
    }
  };
  for (const box of boxes) box.addEventListener("scroll", () => fade(box), { passive: true });
  addEventListener("resize", reach);
  addEventListener("load", reach);
  for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", reach);
  document.fonts.ready.then(reach);
  reach();

  const links = new Map();
  for (const link of document.querySelectorAll(".attn-sidebar a[href^='#']:not([href='#'])")) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) links.set(section, link);
  }
  if (!links.size) return;
  const mark = () => {
    let current = null;
    for (const section of links.keys()) {
      if (section.getBoundingClientRect().top < 120) current = section;
    }
    for (const [section, link] of links) {
      if (section === current) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; mark(); });
  }, { passive: true });
  mark();
})();
