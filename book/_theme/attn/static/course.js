// The page's own behaviour: colour scheme, menu, copying code, wide boxes, printing, the current
// section.
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

  // Paper is white, and shows the outputs and the tables that are folded. What else is folded is code,
  // or an answer: paper.js prints those at the end, and an open one where it stands as well.
  const folded = [];
  addEventListener("beforeprint", () => {
    root.dataset.screen = root.dataset.theme;
    root.dataset.theme = "light";
    for (const details of document.querySelectorAll("main details:is(.below-input, .attn-fold):not([open])")) {
      details.open = true;
      folded.push(details);
    }
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = root.dataset.screen;
    for (const details of folded.splice(0)) details.open = false;
  });

  // Content that the reader has scrolled near stays laid out, as it would be without lazy rendering
  // (course.css).
  document.addEventListener("contentvisibilityautostatechange", ({ target, skipped }) => {
    if (!skipped) target.classList.add("attn-near");
  }, true); // in Firefox it does not bubble
  // From here on the whole page is laid out, so that positions are computed from true heights.
  const layOutAll = () => { delete root.dataset.layout; };


  const menu = document.querySelector(".attn-menu");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("click", (event) => {
    const chosen = event.target.closest(".attn-menu a[href^='#']"); // it leads under the menu
    if (menu.open && (chosen || !menu.contains(event.target))) menu.open = false;
  });

  // Only where the browser allows it: the clipboard needs https or this machine.
  for (const block of navigator.clipboard ? document.querySelectorAll(".cell_input .highlight, .highlight-bash .highlight") : []) {
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "attn-copy";
    copy.textContent = document.body.dataset.copy;
    copy.addEventListener("click", async () => {
      const code = block.querySelector("pre");
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch { // the browser refuses: what is selected can be copied by hand
        getSelection().selectAllChildren(code);
        return;
      }
      copy.textContent = document.body.dataset.copied;
      copy.toggleAttribute("data-done", true);
      setTimeout(() => {
        copy.textContent = document.body.dataset.copy;
        copy.removeAttribute("data-done");
      }, 1500);
    });
    block.append(copy);
  }

  // Some widgets load their script when the reader comes near.
  for (const late of document.querySelectorAll("[data-late]")) {
    const near = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      document.head.append(Object.assign(document.createElement("script"), { src: late.dataset.late }));
    }, { rootMargin: "1200px" });
    document.querySelectorAll(`[data-anywidget="${late.dataset.for}"]`).forEach((widget) => near.observe(widget));
  }

  // What is wider than its box can be scrolled by keyboard, and fades where it goes on; the rest
  // needs no tab stop. A box is measured once it has been laid out: to ask before would have the
  // browser lay out every answer that is still closed.
  const boxes = document.querySelectorAll(
    "article pre, article div.math, article table:is(.docutils, .attn-table), article .cell_output :is(figure, .output.image_png)",
  );
  const isCut = (box) => box.scrollWidth - box.clientWidth - box.scrollLeft > 2;
  const fade = (box) => box.classList.toggle("attn-goes-on", isCut(box));
  // All sizes are read before anything is written, or the browser would lay out the page after
  // each.
  const sizes = new ResizeObserver((changes) => {
    const found = changes.map(({ target: box }) => ({ box, isWide: box.scrollWidth > box.clientWidth, goesOn: isCut(box) }));
    for (const { box, isWide, goesOn } of found) {
      if (isWide) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      box.classList.toggle("attn-goes-on", goesOn);
    }
  });
  const reach = () => {
    sizes.disconnect();
    for (const box of boxes) sizes.observe(box);
  };
  for (const box of boxes) box.addEventListener("scroll", () => fade(box), { passive: true });
  document.fonts.addEventListener("loadingdone", reach);
  reach();

  // What a citation refers to stands beside its line where there is room, and is shown by a tap where
  // there is none. The link holds the whole reference; in the margin its title and its place do.
  const article = document.querySelector("article");
  const notes = new Map(); // from each work to its note, the links to it, and the one it stands beside
  for (const link of document.querySelectorAll("article .bibtex-citation a[title]")) {
    if (notes.has(link.hash)) {
      notes.get(link.hash).links.push(link);
      continue;
    }
    const note = document.createElement("span");
    note.className = "attn-note";
    note.ariaHidden = "true"; // the link says the same, and more
    // A name's initial has a full stop too.
    note.textContent = link.title.replace(/^.*?(?<![\s.-]\p{Lu})\.\s/u, "").replace(/\s*(doi:|URL:).*$/, "");
    notes.set(link.hash, { note, links: [link], beside: null });
    article.append(note);
  }
  /** Put each note beside its line, or a little above, clear of what is wide; or nowhere. */
  function placeNotes() {
    if (!notes.size) return;
    const origin = article.getBoundingClientRect();
    const room = matchMedia("(min-width: 75rem)").matches;
    const wide = [];
    if (room) {
      const left = [...notes.values()][0].note.getBoundingClientRect().left;
      for (const box of article.querySelectorAll(".cell, figure, .highlight, table, [data-anywidget], .attn-machine, .attn-erratum")) {
        const { top, bottom, right } = box.getBoundingClientRect();
        if (bottom > top && right > left) wide.push([top - origin.top, bottom - origin.top]);
      }
    }
    for (const known of notes.values()) {
      const { note, links } = known;
      const height = note.offsetHeight;
      const clear = (y) => wide.every(([top, bottom]) => y + height + 8 <= top || y >= bottom + 8);
      known.beside = room ? links.find((link) => !link.closest("details:not([open])")) ?? null : null; // the first that is not folded away
      const line = known.beside ? known.beside.getBoundingClientRect().top - origin.top : NaN;
      const y = [0, 40, 80, 120, 160].map((up) => line - up).find(clear);
      if (y === undefined || Number.isNaN(line)) known.beside = null;
      note.classList.toggle("attn-placed", known.beside !== null);
      if (!known.beside) continue;
      note.style.top = `${y}px`;
      wide.push([y, y + height]);
    }
  }
  const sourceBox = document.createElement("div");
  sourceBox.className = "attn-source";
  sourceBox.popover = "auto"; // Escape and a tap elsewhere close it
  if (notes.size && sourceBox.showPopover) {
    document.body.append(sourceBox);
    new ResizeObserver(placeNotes).observe(article);
    document.fonts.ready.then(placeNotes);
  }
  article.addEventListener("click", (event) => {
    const link = event.target.closest(".bibtex-citation a[title]");
    if (!link || !sourceBox.isConnected || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (notes.get(link.hash).beside === link) return; // it is visible already
    event.preventDefault();
    const more = Object.assign(document.createElement("a"), { href: link.href, textContent: document.body.dataset.source, autofocus: true });
    sourceBox.replaceChildren(link.title.replace(/\s*(doi:|URL:)\s*(?=\S)/g, " "), " ", more);
    sourceBox.showPopover();
  });

  // A figure can be seen as large as the window.
  const large = document.createElement("dialog");
  large.className = "attn-large";
  for (const figure of document.querySelectorAll("article .cell_output :is(figure, .output.image_png, .attn-figure):has(img, .attn-figure > svg, > svg.attn-wide)")) {
    if (figure.parentElement.closest("figure")) continue;
    const enlarge = document.createElement("button");
    enlarge.type = "button";
    enlarge.className = "attn-enlarge";
    enlarge.ariaLabel = enlarge.title = document.body.dataset.enlarge;
    enlarge.textContent = "⤢";
    const open = () => {
      const close = Object.assign(document.createElement("button"), { type: "button", className: "attn-close", textContent: "×", ariaLabel: document.body.dataset.close });
      close.addEventListener("click", () => large.close());
      const copy = figure.cloneNode(true);
      copy.querySelector(".attn-enlarge").remove();
      copy.classList.remove("attn-goes-on");
      for (const image of copy.querySelectorAll("img")) image.loading = "eager";
      for (const link of copy.querySelectorAll("a:has(img)")) link.replaceWith(...link.childNodes);
      const output = document.createElement("div");
      output.className = "cell_output";
      output.append(copy);
      const cell = document.createElement("div");
      cell.className = figure.closest(".cell").className;
      cell.append(output);
      large.replaceChildren(close, cell);
      const shown = figure.querySelector("img, .attn-figure svg, svg");
      large.ariaLabel = figure.querySelector("figcaption")?.textContent.trim() ?? shown.alt ?? shown.getAttribute("aria-label");
      if (!large.isConnected) document.body.append(large);
      large.showModal();
    };
    enlarge.addEventListener("click", open);
    // Without a script the image is a link to its file.
    for (const link of figure.querySelectorAll("a:has(img)")) link.tabIndex = -1;
    figure.addEventListener("click", (event) => {
      if (!event.target.closest("img, .attn-figure svg")) return;
      event.preventDefault();
      open();
    });
    figure.prepend(enlarge);
  }
  large.addEventListener("click", (event) => { if (event.target === large) large.close(); });

  // A figure that moves can be saved as it stands. What draws it is loaded when it is needed first.
  const { src } = document.currentScript;
  globalThis.drawingOf = async (element) => {
    await new Promise((onload, onerror) => document.head.append(Object.assign(document.createElement("script"), { src: new URL("drawn.js", src).href, onload, onerror })));
    return globalThis.drawingOf(element); // The script has put the true one in this one's place.
  };
  for (const figure of document.querySelectorAll('[data-anywidget]:not([data-anywidget="quiz"], [data-anywidget="ribbons"])')) {
    const { save, unsaved } = document.body.dataset;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "attn-save", textContent: save });
    button.addEventListener("click", async () => {
      try {
        const { text } = await globalThis.drawingOf(figure.querySelector(".attn-w"));
        const [page] = location.pathname.split("/").pop().split(".");
        Object.assign(document.createElement("a"), { href: `data:image/svg+xml,${encodeURIComponent(text)}`, download: `${page}-${figure.dataset.anywidget}.svg` }).click();
      } catch { button.textContent = unsaved; }
    });
    figure.append(button);
  }

  // Mark the words of the search that led here, without changing the page itself.
  const sought = new Set(new URLSearchParams(location.search).get("highlight")?.split(" "));
  if (sought.size && CSS.highlights) {
    const ranges = [];
    const texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest("script, style, .katex, [data-anywidget]")) continue;
      for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)) {
        if (!sought.has(word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, ""))) continue;
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("attn-found", new Highlight(...ranges));
  }

  // The other edition opens at the same place. Its sections have other names but the same order,
  // so the place is the number of a section and the part of it that is above the top, in thousandths.
  const sections = [...document.querySelectorAll("main section[id], .attn-api dt[id]")];
  const TOP = 100; // pixels from the top of the window, under the header
  const after = (i) => sections[i + 1] ?? document.querySelector("footer");
  const heightOf = (i) => after(i).getBoundingClientRect().top;
  const READER = ["wheel", "touchmove", "keydown", "pointerdown"];
  const arrived = /^#place-(\d+)-(\d+)$/.exec(location.hash);
  if (arrived && sections[arrived[1]]) {
    const section = sections[arrived[1]];
    const go = () => {
      const { top } = section.getBoundingClientRect();
      const above = (heightOf(Number(arrived[1])) - top) * arrived[2] / 1000;
      scrollBy({ top: top + above - TOP, behavior: "instant" });
    };
    // Figures reach their final heights one by one: keep the position meanwhile, unless the reader
    // moves.
    const settle = new ResizeObserver(go);
    settle.observe(document.querySelector("main"));
    for (const own of READER) addEventListener(own, () => settle.disconnect(), { once: true, passive: true });
    addEventListener("load", () => setTimeout(() => {
      settle.disconnect();
      // A URL to keep. If it were set earlier, the browser would scroll to the section's beginning.
      history.replaceState(null, "", `#${section.id}`);
    }, 1000));
  }
  const twin = document.querySelector("a.attn-twin");
  const page = twin?.href;
  function keepPlace() {
    if (!twin) return;
    const i = sections.findLastIndex((section) => section.getBoundingClientRect().top <= TOP);
    if (scrollY === 0 || i < 0) {
      twin.href = page;
      return;
    }
    const { top } = sections[i].getBoundingClientRect();
    const above = Math.min(0.999, (TOP - top) / (heightOf(i) - top));
    twin.href = `${page}#place-${i}-${Math.round(1000 * above)}`;
  }

  twin?.addEventListener("click", async (event) => {
    layOutAll();
    keepPlace();
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey; // in another tab or window
    if (elsewhere || !location.protocol.startsWith("http")) return;
    event.preventDefault();
    const { href } = twin;
    // A copy of the site may hold one edition alone.
    const isGone = await fetch(page, { method: "HEAD" }).then(({ status }) => status === 404, () => false);
    if (!isGone) location.assign(href);
    else if (!document.querySelector(".attn-twin-gone")) {
      const note = document.createElement("p");
      note.className = "attn-twin-gone";
      note.lang = twin.lang;
      note.setAttribute("role", "status");
      twin.parentElement.append(note);
      note.textContent = twin.dataset.gone;
    }
  });

  // The current section is marked in the contents, and scrolled into view there.
  const links = new Map(); // from a section to its links, beside the text and in the menu
  for (const link of document.querySelectorAll(":is(.attn-sidebar, .attn-menu, .attn-own) a[href^='#']:not([href='#'])")) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) links.set(section, [...(links.get(section) ?? []), link]);
  }
  /** Scroll a list of contents until what is marked is well inside it; the page itself stays. */
  function bringMarked(nav) {
    const section = nav.querySelector("[aria-current=location]");
    const link = section ?? nav.querySelector("[aria-current=page]");
    if (!link) nav.scrollTop = 0; // one is above the first of them
    if (!link || !nav.clientHeight) return;
    const [box, needed] = [nav, section ?? link.parentElement].map((node) => node.getBoundingClientRect());
    const margin = section ? Math.min(80, box.height / 4) : 0; // a page brings all its sections
    if (needed.top < box.top + margin || needed.bottom > box.bottom - margin) {
      nav.scrollTop += needed.top - box.top - box.height / (section ? 3 : 8);
    }
  }
  /** The lists that stand beside the text. */
  const bringInLists = () => { for (const nav of document.querySelectorAll(".attn-sidebar, .attn-own")) bringMarked(nav); };
  const read = document.querySelector(".attn-read");
  let asked = null; // the section whose link was followed: it may be too short to reach the top
  let marked = null;
  function mark() {
    // The last screen has no room to scroll its sections to the top: there the line that decides
    // goes down to meet them.
    const left = root.scrollHeight - innerHeight - scrollY;
    read.style.backgroundSize = `${(100 * scrollY) / (scrollY + left || 1)}% 100%`;
    const line = Math.max(120, innerHeight - left);
    let current = null;
    for (const section of links.keys()) {
      if (section.getBoundingClientRect().top < line) current = section;
    }
    const place = asked?.getBoundingClientRect().top;
    if (place >= 0 && place < innerHeight) current = asked;
    if (current === marked) return;
    for (const link of links.get(marked) ?? []) link.removeAttribute("aria-current");
    for (const link of links.get(current) ?? []) link.setAttribute("aria-current", "location");
    marked = current;
    bringInLists();
    remember(current);
  }
  // The opening page links to the section that was read last.
  const PLACE = `attn-place-${root.lang}`;
  const opening = document.querySelector("article .attn-button");
  const heading = (section) => section?.querySelector("h1, h2, h3")?.firstChild.textContent.trim() ?? "";
  function remember(section) {
    const chapter = heading(article);
    if (opening || !chapter || !scrollY) return;
    const title = [chapter, heading(section)].filter((text, i, all) => text && all.indexOf(text) === i).join(" › ");
    try {
      localStorage.setItem(PLACE, JSON.stringify({ address: location.pathname.split("/").pop() + (section ? `#${section.id}` : ""), title }));
    } catch (error) {
      // Storage is off: nothing is remembered.
    }
  }
  if (opening) {
    let place = null;
    try {
      place = JSON.parse(localStorage.getItem(PLACE));
    } catch (error) {
      // Nothing was remembered.
    }
    if (place) {
      const link = Object.assign(document.createElement("a"), { href: place.address, textContent: place.title });
      const line = Object.assign(document.createElement("p"), { className: "attn-resume" });
      line.append(`${document.body.dataset.resume} `, link);
      opening.parentElement.after(line);
    }
  }
  const follow = (hash) => {
    const place = document.getElementById(hash), fold = place?.closest("details:not([open])");
    asked = links.has(place) ? place : null;
    if (!fold) return;
    fold.open = true; // not every browser opens a fold for a link into it
    place.scrollIntoView();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    layOutAll();
    follow(decodeURIComponent(link.hash.slice(1)));
  });
  for (const own of READER) addEventListener(own, () => { asked = null; }, { passive: true });
  menu.addEventListener("toggle", () => bringMarked(menu.querySelector("nav")));
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
      keepPlace();
    });
  }, { passive: true });
  if (!arrived) follow(decodeURIComponent(location.hash.slice(1)));
  bringInLists();
  mark();
  keepPlace();
})();
