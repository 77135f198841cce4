// An editor in the place of a cell, the code that runs it, and its output.
"use strict";

window.attnPanel = (function () {
  const { settings: { base, ui }, storage, keys, language } = window.attnPython;
  const SECONDS = 10; // the time limit of a run
  const LONGER = 60; // the time limit of a translation: a right function may be slow, and the machine names the slow one
  const DRAWS = /^\s*(import|from)\s+(matplotlib|attn_course\b.*\bplots)\b/m; // the code that needs matplotlib
  const all = [...document.querySelectorAll(".attn-py-setup, .attn-py-run, .attn-py-draws")];
  const panels = new Map(); // from a cell to its panel
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  /* Python --------------------------------------------------------------- */

  let worker = null;
  let ready = null; // a promise while Python starts and afterwards
  let abandon = null; // ends the wait for a Python that starts
  let busy = null; // the panel whose code runs
  let ran = new Set(); // the cells that this Python has run
  let brought = null; // a promise while the translator's weights load and afterwards
  let drawing = null; // the same for matplotlib

  function stop() {
    worker?.terminate();
    worker = ready = brought = drawing = null;
    ran = new Set();
  }

  function start() {
    ready ??= new Promise((resolve, reject) => {
      abandon = () => reject(new Error(ui.stopped));
      worker = new Worker(`${base}worker.js`);
      worker.onerror = (event) => reject(new Error(event.message ?? "worker.js"));
      worker.onmessage = ({ data }) => {
        if (data.kind === "progress") busy?.progress(data.part);
        if (data.kind === "failed") reject(new Error(data.why));
        if (data.kind === "ready") resolve();
      };
      worker.postMessage({ kind: "start", base: new URL(base, location.href).href, language });
    });
    ready.catch(stop);
    return ready;
  }

  /** Send a further loading request to the running Python. */
  function more(message) {
    const came = new Promise((resolve, reject) => {
      abandon = () => reject(new Error(ui.stopped));
      worker.onmessage = ({ data }) => {
        if (data.kind === "failed") reject(new Error(data.why));
        if (data.kind === "ready") resolve();
      };
      worker.postMessage(message);
    });
    came.catch(stop);
    return came;
  }

  function bring() {
    brought ??= more({ kind: "bring", file: new URL(`${base}translator.zip`, location.href).href });
    return brought;
  }

  /** Matplotlib comes with a session that has run nothing yet. */
  function draw() {
    drawing ??= more({ kind: "draw", base: new URL(base, location.href).href }).then(() => { ran = new Set(); });
    return drawing;
  }

  /** Forget what has run; a Python that cannot do so is replaced. */
  const forget = () => {
    ran = new Set();
    if (ready) more({ kind: "begin" }).catch(() => {});
  };

  const filesOf = async () => (await fetch(`${base}files.json`)).json();
  const megabytes = (sizes) => Math.round(Object.values(sizes).reduce((sum, one) => sum + one, 0) / 1e6);

  /** Run a request; the answer is null if it was stopped or took too long. */
  function ask(request, panel) {
    const seconds = panel.machine ? LONGER : SECONDS;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        stop();
        panel.say(fill(ui.late, { seconds }));
        resolve(null);
      }, 1000 * seconds);
      panel.interrupt = () => {
        clearTimeout(late);
        stop();
        panel.say(ui.stopped);
        resolve(null);
      };
      worker.onmessage = ({ data }) => {
        if (data.kind === "print") panel.print(data.text + (data.cut ? `\n${ui.cut}` : ""));
        if (data.kind !== "done") return;
        clearTimeout(late);
        resolve(data);
      };
      worker.postMessage({ kind: "run", request });
    });
  }

  /* One cell ------------------------------------------------------------- */

  const storedOf = (cell) => cell.querySelector(".cell_input pre").textContent.replace(/\n$/, "");
  const sourceOf = (cell) => panels.get(cell)?.editor.get() ?? storedOf(cell);

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  /** The code of every exercise that this browser keeps as solved. */
  function solved() {
    const found = {};
    for (const name of storage.names()) {
      const exercise = /^attn-solved-(\w+)$/.exec(name)?.[1];
      if (exercise) found[exercise] = storage.get(name);
    }
    return found;
  }

  /** A text field instead of the code that translates a sentence, with the interface of an editor. */
  function sentenceIn(place, code, onRun) {
    const sentence = /translate\("(.*)"\)/;
    const input = element("input", { type: "text", value: sentence.exec(code)[1], autocomplete: "off", lang: "en" });
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") onRun(); });
    place.className = "attn-py-sentence";
    place.append(element("label", {}, ui.sentence, input));
    return {
      get: () => code.replace(sentence, () => `translate(${JSON.stringify(input.value)})`),
      set: (text) => { input.value = sentence.exec(text)[1]; },
      focus: () => input.focus(),
    };
  }

  function make(cell) {
    const exercise = cell.querySelector(".attn-py-bar button")?.dataset.exercise;
    const original = cell.querySelector(".cell_input pre").textContent
      .replace(/\n$/, "").replace(/\n+check\("\w+", \w+\)$/, exercise ? "\n" : "$&");
    const kept = exercise && storage.get(keys.code(exercise));
    const button = (text, act) => element("button", { type: "button", textContent: text, onclick: act });
    const machine = cell.matches(".attn-py-machine");
    const shown = [...cell.querySelectorAll(":scope > .cell_output :is(svg[role=img]:not(.attn-narrow), img)")]
      .map((figure) => figure.getAttribute("aria-label") ?? figure.alt);
    const run = button(machine ? ui.machine : ui.run, () => go(false));
    const check = exercise && button(ui.check, () => go(true));
    // A button that is disabled loses the focus, and the reader would be thrown to the top of the page.
    const rest = (resting) => [run, check, reset].forEach((one) => one?.setAttribute("aria-disabled", resting));
    const halt = element("button", { type: "button", textContent: ui.stop, hidden: true, onclick: () => panel.interrupt() });
    const reset = button(ui.reset, () => {
      if (busy) return;
      editor.set(original);
      forget();
      output.replaceChildren();
      panel.say("");
      if (exercise) storage.remove(keys.code(exercise));
      editor.focus();
    });
    const bar = element("progress", { max: 1, hidden: true });
    const status = element("p", { className: "attn-py-status" });
    status.setAttribute("role", "status");
    const output = element("div", { className: "attn-py-output" });
    const place = element("div", { className: "attn-py-editor" });
    const hint = element("p", { className: "attn-py-keys", id: `keys-${panels.size}`, textContent: ui.keys });
    const controls = element("div", { className: "attn-py-controls" }, ...(check ? [check] : []), run, halt, reset);
    const whole = element("div", { className: "attn-py-panel" }, place, controls, bar, status, output, hint);
    bar.setAttribute("aria-label", ui.run);
    cell.querySelector(".cell_input").hidden = true;
    cell.querySelector(".attn-py-bar")?.setAttribute("hidden", "");
    cell.append(whole);
    const editor = machine ? sentenceIn(place, original, () => go(false)) : window.attnEditor(place, {
      doc: kept ?? original,
      label: ui.code,
      describedBy: hint.id,
      onChange: (text) => {
        if (exercise && !adopting && !storage.set(keys.code(exercise), text)) panel.say(ui.unkept);
      },
      onRun: () => go(Boolean(exercise)),
    });

    if (machine) hint.remove();

    let printed = null;
    let adopting = false; // while the text comes from another tab, which has stored it
    const panel = {
      editor,
      machine,
      say: (text) => { status.textContent = text; },
      progress: (part) => { bar.value = part; },
      print(text) {
        if (!printed) output.append(printed = element("pre", { tabIndex: 0 }));
        printed.append(text);
      },
      interrupt() { stop(); },
    };

    function notes(answer, before) {
      const said = [];
      if (before) said.push(fill(before === 1 ? ui.before.one : ui.before.many, { n: before }));
      const named = (names) => names.join(", ");
      if (answer.used?.length) said.push(fill(ui.yours, { names: named(answer.used) }));
      if (answer.lent?.length) said.push(fill(ui.lent, { names: named(answer.lent) }));
      return said.join(" ");
    }

    async function go(checked) {
      if (busy) return;
      busy = panel;
      rest(true);
      halt.hidden = false;
      output.replaceChildren();
      printed = null;
      let answer = null;
      let before = [];
      try {
        if (!ready) {
          bar.hidden = false;
          panel.say(fill(ui.loading, { size: megabytes((await filesOf()).sizes) }));
          panel.interrupt = () => abandon();
        }
        await start();
        if (machine) {
          panel.interrupt = () => abandon();
          await bring();
        }
        if (!drawing && (cell.matches(".attn-py-draws") || DRAWS.test(editor.get())) && Object.keys((await filesOf()).drawing).length) {
          panel.say(fill(ui.drawing, { size: megabytes((await filesOf()).drawing) }));
          panel.interrupt = () => abandon();
          await draw();
        }
        bar.hidden = true;
        panel.say(ui.running);
        const request = { code: editor.get(), solved: solved() };
        if (exercise) {
          Object.assign(request, { exercise, check: checked });
        } else if (!machine) {
          before = all.slice(0, all.indexOf(cell)).filter((one) => !ran.has(one) && (drawing || !one.matches(".attn-py-draws")));
          request.before = before.map((one) => ({ code: sourceOf(one), stored: sourceOf(one) === storedOf(one) }));
        }
        answer = await ask(request, panel);
        if (answer?.ended) {
          stop();
          panel.say(fill(ui.ended, { why: answer.ended }));
        } else if (answer) {
          for (const one of before) ran.add(one);
          panel.say(notes(answer, before.length));
          show(answer);
        }
      } catch (error) {
        panel.say(error.message === ui.stopped ? ui.stopped : fill(ui.failed, { why: error.message }));
      }
      if (document.activeElement === halt) (check ?? run).focus();
      bar.hidden = halt.hidden = true;
      rest(false);
      busy = null;
      whole.scrollIntoView({ block: "nearest" });
      output.firstElementChild?.scrollIntoView({ block: "nearest" });
    }

    function show(answer) {
      if (!exercise) cell.querySelector(":scope > .cell_output")?.remove(); // what was stored gives way
      // Pictures, so that nothing in them can act. Those that they replace have said what they show.
      answer.figures?.forEach((svg, n) => {
        const src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
        output.append(element("img", { className: "attn-py-figure", src, alt: shown[Math.min(n, shown.length - 1)] ?? "" }));
      });
      if (answer.error) output.append(element("pre", { className: "attn-py-error", tabIndex: 0, textContent: answer.error }));
      else if (answer.html) output.append(element("div", { innerHTML: answer.html }));
      else if (answer.text) output.append(element("pre", { tabIndex: 0, textContent: answer.text + (answer.cut ? `\n${ui.cut}` : "") }));
      else if (!printed && !answer.figures) status.textContent ||= ui.nothing;
      if (answer.status === "passed") {
        if (!storage.set(keys.solved(exercise), answer.keep)) status.textContent = `${status.textContent} ${ui.unkept}`.trim();
        dispatchEvent(new CustomEvent("attn-solved", { detail: exercise }));
      }
    }
    // The same exercise in another tab: what is written there stands here too.
    if (exercise) addEventListener("storage", ({ key, newValue }) => {
      if (key !== keys.code(exercise) || whole.contains(document.activeElement)) return;
      adopting = true;
      editor.set(newValue ?? original);
      adopting = false;
    });
    panels.set(cell, panel);
    return { panel, go };
  }

  function open(cell) {
    const { panel, go } = make(cell);
    panel.editor.focus();
    if (!cell.matches(".attn-py-exercise")) go(false);
  }
  return { open };
})();
