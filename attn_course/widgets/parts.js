// Fetches a large file in parts. The browser keeps each complete part, so that a later visit
// resumes an interrupted download.
import { wrong } from "./shared.js";

const KEPT = "attn-model"; // The name of the browser's Cache API storage, unless a manifest has another.

/**
 * Load the parts of a manifest, { file, bytes, sha256 } each, one after the other into an array. `hear` is called
 * with the share that is loaded. The browser keeps the parts under the name `kept` of the manifest.
 */
export async function partsInto(whole, base, { parts, kept: name = KEPT }, hear) {
  // Both exist at https and localhost only. Elsewhere the parts are fetched at each visit.
  const kept = await globalThis.caches?.open(name).catch(() => null);
  let start = 0;
  for (const part of parts) {
    const place = whole.subarray(start, start + part.bytes);
    const address = new URL(part.file, base).href;
    const before = start;
    const arrived = (n) => hear((before + n) / whole.length);
    if (!(await isKept(kept, address, part, place))) {
      await fetchInto(place, address, arrived);
      if (!(await isPart(place, part))) throw wrong(part.file, `the sha256 ${part.sha256}`, "another");
      // A browser without room keeps nothing, and fetches the part again next time.
      await kept?.put(address, new Response(place.slice())).catch(() => {});
    }
    arrived(part.bytes);
    start += part.bytes;
  }
}

async function isKept(kept, address, part, place) {
  const answer = await kept?.match(address).catch(() => null);
  if (!answer) return false;
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (bytes.length !== place.length) return false;
  place.set(bytes);
  return isPart(place, part);
}

async function isPart(place, { sha256 }) {
  if (!globalThis.crypto?.subtle) return true;
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", place.slice()));
  return sha256 === Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function fetchInto(place, address, arrived) {
  const answer = await fetch(address, { cache: "no-store" });
  if (!answer.ok) throw wrong(address, "a part of the model", `the answer ${answer.status}`);
  const reader = answer.body.getReader();
  let done = 0;
  for (let { value, done: isLast } = await reader.read(); !isLast; { value, done: isLast } = await reader.read()) {
    if (done + value.length > place.length) throw wrong(address, `${place.length} bytes`, "more");
    place.set(value, done);
    arrived(done += value.length);
  }
  if (done < place.length) throw wrong(address, `${place.length} bytes`, done);
}

/** Whether the browser keeps every part, judged by their names. */
export async function areKept(base, { parts, kept = KEPT }) {
  // Opening a missing cache would create it.
  const found = parts.map(({ file }) => globalThis.caches?.match(new URL(file, base).href, { cacheName: kept }));
  return (await Promise.all(found).catch(() => [null])).every(Boolean);
}

/** Delete what the browser keeps of a model. */
export const forget = ({ kept = KEPT }) => globalThis.caches?.delete(kept);
