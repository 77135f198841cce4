// Mounts the widgets of a page without a kernel. Each div[data-anywidget] holds the state of a
// widget as JSON and a fallback. The widget runs the same module as in JupyterLab.

function makeModel(state) {
  const listeners = {};
  return {
    get: (name) => state[name],
    set(name, value) {
      if (Object.is(state[name], value)) return;
      state[name] = value;
      for (const listener of [...(listeners[`change:${name}`] ?? [])]) listener();
    },
    on(event, listener) { (listeners[event] ??= new Set()).add(listener); },
    off(event, listener) { listeners[event]?.delete(listener); },
    save_changes() {},
  };
}

/** Keep the answers to a chapter's questions in the browser, and restore them. */
function remember(model, state) {
  const place = `attn-quiz-${location.pathname.split("/").pop().replace(/\.html$/, "")}`;
  const read = () => {
    try { return JSON.parse(localStorage.getItem(place)) ?? {}; } catch { return {}; } // Storage is off, or another program has written there.
  };
  const kept = read();
  const own = state.questions.filter(({ id, options }) => options[kept[id]?.[0]]);
  model.set("answers", Object.fromEntries(own.map(({ id }) => [id, kept[id][0]])));
  model.on("change:answers", () => {
    const all = read();
    for (const { id, options } of state.questions) {
      const chosen = model.get("answers")[id];
      if (options[chosen]) all[id] = [chosen, options[chosen].correct];
    }
    try { localStorage.setItem(place, JSON.stringify(all)); } catch { /* nothing is kept */ }
  });
}

function mount(div) {
  const state = div.querySelector(':scope > script[type="application/json"]');
  const widget = widgets[div.dataset.anywidget];
  if (!state || !widget || div.dataset.attnMounted) return;
  const el = document.createElement("div");
  try {
    const values = JSON.parse(state.textContent);
    const model = makeModel(values);
    if (values.questions) remember(model, values);
    const fallback = div.querySelector(":scope > .attn-fallback"); // A widget of a kernel has no fallback.
    widget.render({ model, el, fallback });
  } catch (error) {
    console.error(error);
    div.dataset.attnFailed = "true"; // The fallback stays visible.
    return;
  }
  div.append(el);
  div.dataset.attnMounted = "true"; // The style sheets now show the fallback on paper only.
}

/** Mount one widget after the other, so that the page answers its reader in between. */
function mountAll() {
  const waiting = [...document.querySelectorAll("div[data-anywidget]")].filter((div) => widgets[div.dataset.anywidget]);
  const next = () => {
    if (!waiting.length) return;
    mount(waiting.shift());
    setTimeout(next);
  };
  next();
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mountAll);
else mountAll();
