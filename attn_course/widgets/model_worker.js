// What the workers of models share: the file in its parts, and the messages of the page.
import { roomFor } from "./packed.js";
import { partsInto } from "./parts.js";

/** Fetch the file of a manifest, as book/_ext/attn_model.py packs it; return its `roomFor`. */
export async function loaded({ base, manifest, kernel }, tell) {
  const room = roomFor(manifest.bytes, kernel);
  await partsInto(room.bytes, base, manifest, (share) => tell({ kind: "loading", share }));
  return room;
}

/** The compiled kernel beside the model; null where there is none, or no SIMD. */
async function kernelAt(address) {
  try {
    return await WebAssembly.compile(await (await fetch(address)).arrayBuffer());
  } catch {
    return null;
  }
}

/**
 * In a worker, answer the messages of the page: `make(tell, pause)` returns what hears them, where `tell` sends a
 * message to the page and `pause` lets other messages in.
 */
export function serve(make) {
  if (!globalThis.WorkerGlobalScope) return;
  const { port1, port2 } = new MessageChannel(); // A timer would wait four milliseconds each time.
  let woken = () => {};
  port1.onmessage = () => woken();
  const pause = () => new Promise((resolve) => { woken = resolve; port2.postMessage(null); });
  const hear = make((message) => postMessage(message), pause);
  onmessage = async ({ data }) => {
    if (data.kind === "load") data.kernel = data.manifest.kernel && await kernelAt(data.base + data.manifest.kernel);
    hear(data);
  };
}
