// The translator that the course trains, ready to translate in the page.
import { wrong } from "./shared.js";
import { WordTokenizer } from "./tokenizer.js";
import { loadTransformer } from "./transformer.js";

// Known only while a classic script runs; a module, as in JupyterLab, has no such address.
const home = globalThis.document?.currentScript?.src;
let loading = null;

/**
 * { transformer, source, target, maxLen }: from the kernel where there is one, else from the
 * script beside this one, asked for once and only when somebody wants to translate.
 */
export function loadTranslator(model) {
  loading ??= parts(model).then(({ weights, source, target, maxLen }) => ({
    transformer: loadTransformer(weights), source: new WordTokenizer(source), target: new WordTokenizer(target), maxLen,
  })).catch((error) => {
    loading = null; // the next one may fare better
    throw error;
  });
  return loading;
}

/** What a model is made of: from the kernel, or from the script that holds it for the page. */
export async function parts(model, script = "translator", held = "attnTranslator") {
  const trained = model.get("trained");
  if (trained?.weights) {
    const { buffer, byteOffset, byteLength } = trained.weights;
    return { ...trained, weights: new Uint8Array(buffer, byteOffset, byteLength) };
  }
  if (!globalThis[held]) await runScript(script, new URL(`${script}.js`, home).href);
  const { weights, ...rest } = globalThis[held];
  return { ...rest, weights: Uint8Array.from(atob(weights), (character) => character.charCodeAt(0)) };
}

/** A classic script may be loaded from file:// too, where fetch may not. */
function runScript(name, src) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src, onload: resolve });
    script.onerror = () => reject(wrong(name, "a model beside the page", `nothing at ${src}`));
    document.head.append(script);
  });
}

/**
 * The ids of a sentence, and what there is to say against it: { ids, unknown, tooLong }. As in
 * Python, a full stop at the end is a habit of writing that there is nothing to translate of.
 */
export function encodeSource({ source, maxLen }, text) {
  const sentence = source.ids.has(".") ? text : text.trimEnd().replace(/\.$/, "");
  const ids = source.encode(sentence);
  return { ids, unknown: source.unknown(sentence), tooLong: ids.length > maxLen };
}
