// Loads models from scripts beside the page, only when they are needed.
import { fill, format, h, wrong } from "./shared.js";

// The URL of this script, where it is a classic one. In a module, as in JupyterLab, `currentScript` is
// null.
export const home = globalThis.document?.currentScript?.src;
const loading = new Map(); // For each name: the promise of its model, the share loaded, and the listeners.

/**
 * Return the promise of a model, which a page loads only once. `make` builds it from what the kernel
 * sent (`trained`), or else from the scripts beside this one, and `hear` is told the share that has arrived.
 */
export function loadModel(name, trained, make, hear = () => {}) {
  if (!loading.has(name)) {
    const one = { share: 0, listeners: new Set() };
    const tell = (share) => {
      one.share = share;
      one.listeners.forEach((listener) => listener(share));
    };
    one.model = parts(name, trained, tell).then(make);
    one.model.catch(() => loading.delete(name)); // The next call tries again.
    loading.set(name, one);
  }
  const { model, share, listeners } = loading.get(name);
  listeners.add(hear);
  if (share < 1) hear(share);
  return model;
}

async function parts(name, trained, tell) {
  if (trained?.weights) {
    const { buffer, byteOffset, byteLength } = trained.weights;
    return { ...trained, weights: new Uint8Array(buffer, byteOffset, byteLength) };
  }
  const held = () => globalThis.attnModels?.[name];
  if (!held()) await runScript(`${name}.js`, held);
  const { pieces } = held(); // Pieces that arrived before a failure are kept.
  const toCome = [...pieces.keys()].filter((i) => !pieces[i]);
  const share = () => pieces.filter(Boolean).length / pieces.length;
  const arrivals = await Promise.allSettled(toCome.map(async (i) => {
    await runScript(`${name}_${i + 1}.js`, () => pieces[i]);
    pieces[i] = bytesOf(pieces[i]);
    tell(share());
  }));
  const failed = arrivals.find(({ reason }) => reason);
  if (failed) throw failed.reason;
  const weights = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
  pieces.reduce((start, piece) => (weights.set(piece, start), start + piece.length), 0);
  return { ...held(), weights };
}

/** Load a classic script, which a page may do from file:// too, where `fetch` is not allowed. */
function runScript(file, brought) {
  const src = new URL(file, home).href;
  return new Promise((resolve, reject) => {
    const fail = () => reject(wrong(file, "a part of a model beside the page", `nothing at ${src}`));
    const script = Object.assign(document.createElement("script"), { src, onload: () => (brought() ? resolve() : fail()), onerror: fail });
    document.head.append(script);
  });
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * Show how much of a model has arrived, as a bar and as a sentence that is passed to `write`. Returns
 * { node, show, hide, told }: `show` takes a share, and `told` puts into a text the megabytes that have
 * arrived and those of the whole model.
 */
export function progressBar(t, megabytes, write) {
  let some = 0;
  const done = h("i", {});
  const node = h("div", {
    class: "attn-w-progress", role: "progressbar", "aria-label": t.progress, "aria-valuemin": 0, "aria-valuemax": 100, "data-attn": "progress",
  }, done);
  const told = (text) => fill(text, { some: format(some, 1), size: format(megabytes, 1) });
  function show(share) {
    some = share * megabytes;
    node.toggleAttribute("data-shown", true);
    done.style.width = `${100 * share}%`;
    node.setAttribute("aria-valuenow", Math.round(100 * share));
    node.setAttribute("aria-valuetext", told(t.loading));
    write(told(t.loading));
  }
  return { node, show, told, hide: () => node.removeAttribute("data-shown") };
}
