// Reads GGUF files, as attn.pretrained.gguf does. The numbers of a matrix stay packed in the file's
// bytes: a row is unpacked when it is needed, and packed.js multiplies without unpacking the whole.
import { wrong } from "./shared.js";

const [STRING, ARRAY] = [8, 9];
const BLOCK = 32; // A packed block holds this many neighbouring numbers of a row.

// The value of each number of 16 bits.
const halves = Float32Array.from({ length: 65536 }, (_, bits) => {
  const [sign, power, rest] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (power === 31) return rest ? NaN : sign * Infinity;
  return sign * (power ? 2 ** (power - 15) * (1 + rest / 1024) : (2 ** -14 * rest) / 1024);
});
const half = (bytes, at) => halves[bytes[at] | (bytes[at + 1] << 8)];

function unpackF32(bytes, at, out) {
  new Uint8Array(out.buffer, out.byteOffset, out.byteLength).set(bytes.subarray(at, at + out.byteLength));
}

/** A block is a scale d, an offset m and 32 steps q of four bits: d q + m. Byte i holds steps i and i + 16. */
function unpackQ41(bytes, at, out) {
  for (let start = 0; start < out.length; start += BLOCK, at += 20) {
    const d = half(bytes, at);
    const m = half(bytes, at + 2);
    for (let i = 0; i < 16; i++) {
      const two = bytes[at + 4 + i];
      out[start + i] = d * (two & 15) + m;
      out[start + 16 + i] = d * (two >> 4) + m;
    }
  }
}

/** A block is a scale d and 32 steps q of eight bits: d q. */
function unpackQ80(bytes, at, out) {
  for (let start = 0; start < out.length; start += BLOCK, at += 34) {
    const d = half(bytes, at);
    for (let i = 0; i < BLOCK; i++) out[start + i] = d * ((bytes[at + 2 + i] << 24) >> 24);
  }
}

export const [F32, Q4_1, Q8_0] = [0, 3, 8]; // The codes of these types in the format.
const KINDS = {
  [F32]: { nNumbers: 1, nBytes: 4, unpack: unpackF32 },
  [Q4_1]: { nNumbers: BLOCK, nBytes: 20, unpack: unpackQ41 },
  [Q8_0]: { nNumbers: BLOCK, nBytes: 34, unpack: unpackQ80 },
};

/**
 * The metadata and the tensors of a file. A matrix is { kind, nOut, nIn, at, rowBytes, bytes }, and a
 * vector has one row: `at` is the place of the first row in the file.
 */
export function readGguf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder();
  let at = 4;
  const take = (n) => (at += n) - n;
  const long = () => Number(view.getBigUint64(take(8), true));
  const text = () => {
    const n = long();
    return decoder.decode(bytes.subarray(take(n), at));
  };
  const scalars = {
    0: () => view.getUint8(take(1)), 1: () => view.getInt8(take(1)), 2: () => view.getUint16(take(2), true),
    3: () => view.getInt16(take(2), true), 4: () => view.getUint32(take(4), true), 5: () => view.getInt32(take(4), true),
    6: () => view.getFloat32(take(4), true), 7: () => view.getUint8(take(1)) !== 0, [STRING]: text, 10: long,
    11: () => Number(view.getBigInt64(take(8), true)), 12: () => view.getFloat64(take(8), true),
  };
  const value = (type) => {
    if (type !== ARRAY) return scalars[type]();
    const inner = scalars[4]();
    return Array.from({ length: long() }, scalars[inner]);
  };
  if (bytes.length < 24 || decoder.decode(bytes.subarray(0, 4)) !== "GGUF") throw wrong("bytes", "a file of the format GGUF", "something else");
  const version = scalars[4]();
  if (version !== 2 && version !== 3) throw wrong("version", "2 or 3", version);
  const [nTensors, nValues] = [long(), long()];
  const metadata = {};
  for (let i = 0; i < nValues; i++) {
    const name = text();
    metadata[name] = value(scalars[4]());
  }
  const entries = Array.from({ length: nTensors }, () => ({
    name: text(), shape: Array.from({ length: scalars[4]() }, long), kind: scalars[4](), offset: long(),
  }));
  const alignment = metadata["general.alignment"] ?? 32;
  const start = Math.ceil(at / alignment) * alignment;
  const tensors = {};
  for (const { name, shape: [nIn, nOut = 1], kind, offset } of entries) {
    if (!KINDS[kind]) throw wrong(name, "one of the types F32, Q4_1, Q8_0", `type ${kind} of ggml`);
    const rowBytes = (nIn / KINDS[kind].nNumbers) * KINDS[kind].nBytes;
    tensors[name] = { kind, nOut, nIn, at: start + offset, rowBytes, bytes };
    if (start + offset + nOut * rowBytes > bytes.length) throw wrong("bytes", `${start + offset + nOut * rowBytes} bytes or more`, bytes.length);
  }
  return { metadata, tensors };
}

/** A row of a matrix as numbers, or a whole vector. */
export function rowOf({ kind, nIn, at, rowBytes, bytes }, row = 0, out = new Float32Array(nIn)) {
  KINDS[kind].unpack(bytes, at + row * rowBytes, out);
  return out;
}
