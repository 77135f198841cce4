// Cells that run in the page. This script has only their buttons: the code that runs them is loaded
// on first use.
(function () {
  "use strict";
  const settings = JSON.parse(document.body.dataset.python);
  const { base, ui } = settings;
  const language = document.documentElement.lang;

  const storage = {
    get(name) { try { return localStorage.getItem(name); } catch { return null; } },
    /** Return whether it was stored: storage may be off, or full. */
    set(name, value) { try { localStorage.setItem(name, value); return true; } catch { return false; } },
    remove(name) { try { localStorage.removeItem(name); } catch { /* it is off */ } },
    names() { try { return Object.keys(localStorage); } catch { return []; } },
  };
  const keys = {
    code: (exercise) => `attn-code-${language}-${exercise}`,
    solved: (exercise) => `attn-solved-${exercise}`,
    figure: (exercise) => `attn-figure-${exercise}`, // What is solved in a figure has no code.
  };

  const load = (file) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = base + file;
    script.onload = resolve;
    script.onerror = () => reject(new Error(file));
    document.head.append(script);
  });
  let panel = null;
  async function open(cell) {
    if (location.protocol === "file:") {
      if (!cell.querySelector(".attn-py-note")) {
        const note = document.createElement("p");
        note.className = "attn-py-note";
        note.setAttribute("role", "status");
        cell.append(note);
        note.textContent = ui.file;
      }
      return;
    }
    if (!panel) {
      const style = document.createElement("link");
      style.rel = "stylesheet";
      style.href = `${base}panel.css`;
      document.head.append(style);
      panel = Promise.all([load("panel.js"), load("editor.js")]);
      panel.catch(() => { panel = null; });
    }
    try {
      await panel;
      window.attnPanel.open(cell);
    } catch (error) {
      cell.append(ui.failed.replace("{why}", error.message));
    }
  }
  window.attnPython = { settings, storage, keys, language };

  for (const button of document.querySelectorAll(".attn-py-bar button")) {
    const state = document.createElement("span");
    const { exercise, parts } = button.dataset;
    const tell = () => {
      if (parts) {
        const names = parts.split(" ");
        const own = names.filter((name) => storage.get(keys.solved(name))).length;
        state.textContent = ui.parts.replace("{own}", own).replace("{all}", names.length);
        // The stored output is that of a reader who has solved nothing: only its translation is
        // still right.
        const stored = button.closest(".cell").querySelectorAll(".cell_output :is(.attn-translated > p + p, .attn-machine)");
        for (const part of stored) part.hidden = own > 0;
      } else if (storage.get(keys.solved(exercise))) state.textContent = `✓ ${ui.solved}`;
      else state.textContent = storage.get(keys.code(exercise)) ? ui.tried : "";
    };
    tell();
    // What another tab has solved, this page, or another one from which the reader goes back.
    for (const change of ["storage", "attn-solved", "pageshow"]) addEventListener(change, tell);
    button.after(state);
    button.addEventListener("click", () => open(button.closest(".cell")));
  }
  for (const cell of document.querySelectorAll(".attn-py-run, .attn-py-draws, .attn-py-local")) {
    const draws = cell.matches(".attn-py-draws"); // most of that code is folded, and is changed all the same
    const code = cell.querySelector(`${draws ? "" : ":scope > "}.cell_input .highlight`);
    if (!code) continue; // it is folded
    const runs = draws || cell.matches(".attn-py-run");
    const corner = document.createElement(runs ? "button" : "span");
    corner.className = "attn-py-corner";
    corner.textContent = runs ? "▶" : ui.local;
    corner.title = runs ? ui.runThis : ui.localLong;
    if (runs) {
      corner.type = "button";
      corner.setAttribute("aria-label", ui.runThis);
      corner.addEventListener("click", () => open(cell));
    }
    code.append(corner);
  }

  // The notebook with the reader's code in it.
  const download = document.querySelector(".attn-launch a[download]");
  if (download && location.protocol !== "file:" && document.querySelector(".attn-py-bar")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "attn-py-export";
    button.textContent = ui.export;
    button.addEventListener("click", async () => {
      const notebook = await (await fetch(download.href)).json();
      for (const cell of notebook.cells) {
        const asked = cell.cell_type === "code" && /^check\("(\w+)", \w+\)$/m.exec([cell.source].flat().join(""));
        if (!asked || cell.metadata.tags?.includes("hide-cell")) continue;
        const code = storage.get(keys.code(asked[1]));
        if (code) cell.source = `${code.trimEnd()}\n\n${asked[0]}`;
      }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([JSON.stringify(notebook, null, 1)], { type: "application/x-ipynb+json" }));
      link.download = decodeURIComponent(download.href.split("/").pop());
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    download.after(" · ", button);
  }

  // The page of progress.
  const progress = document.querySelector(".attn-progress");
  if (progress) {
    const counts = { solved: 0, exercises: 0, right: 0, questions: 0 };
    let any = false, next = null;
    for (const item of progress.querySelectorAll("[data-exercise]")) {
      const name = item.dataset.exercise;
      const solved = storage.get(keys["figure" in item.dataset ? "figure" : "solved"](name)), tried = !solved && storage.get(keys.code(name));
      counts.exercises += 1;
      if (solved) counts.solved += 1;
      else if (!next || (tried && !next.matches(".attn-tried"))) next = item;
      if (!solved && !tried) continue;
      any = true;
      item.className = solved ? "attn-solved" : "attn-tried";
      item.firstChild.title += `: ${solved ? ui.solved : ui.tried}`;
      item.querySelector("span").append(`: ${solved ? ui.solved : ui.tried}`);
    }
    for (const right of progress.querySelectorAll("[data-quiz]")) {
      const kept = storage.get(`attn-quiz-${right.dataset.quiz}`);
      counts.questions += Number(right.nextSibling.data.replace("/", ""));
      if (!kept) continue;
      any = true;
      right.textContent = Object.values(JSON.parse(kept)).filter(([, correct]) => correct).length;
      counts.right += Number(right.textContent);
    }
    progress.querySelector(".attn-progress-none").hidden = any;
    const sum = progress.querySelector(".attn-progress-sum");
    if (any) sum.append(`${sum.dataset.sum.replace(/\{(\w+)\}/g, (_, name) => counts[name])} `);
    if (next) {
      const link = document.createElement("a"), code = document.createElement("code");
      link.href = next.firstChild.href;
      code.textContent = next.dataset.exercise;
      link.append(code);
      sum.append(`${sum.dataset.next} `, link, ".");
    }
    const erase = progress.querySelector(".attn-progress-erase button");
    erase.addEventListener("click", () => {
      if (!confirm(erase.dataset.sure)) return;
      for (const name of storage.names()) if (/^attn-(code|solved|figure|quiz)-/.test(name)) storage.remove(name);
      location.reload();
    });
  }
})();
