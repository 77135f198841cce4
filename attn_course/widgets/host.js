// The mount for a page without a kernel: each div[data-anywidget] holds its state as
// JSON and a fallback. The widget is the same one that JupyterLab shows.

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

function mount(div) {
  const state = div.querySelector(':scope > script[type="application/json"]');
  const widget = widgets[div.dataset.anywidget];
  if (!state || !widget || div.dataset.attnMounted) return;
  const el = document.createElement("div");
  try {
    widget.render({ model: makeModel(JSON.parse(state.textContent)), el });
  } catch (error) {
    console.error(error);
    div.dataset.attnFailed = "true"; // the fallback stays
    return;
  }
  div.append(el);
  div.dataset.attnMounted = "true"; // from here on the fallback is for paper only
}

function mountAll() {
  document.querySelectorAll("div[data-anywidget]").forEach(mount);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mountAll);
else mountAll();
