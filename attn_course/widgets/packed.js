// Products of packed matrices with vectors. Nearly all the time of a language model goes into them.
// packed.ts computes the same several times faster, where the build has compiled it and the browser has
// SIMD instructions.
import { rowOf } from "./gguf.js";

const SCRATCH = 2 ** 22; // The kernel has room for this many numbers besides the file.

/**
 * Room for a file: `bytes`, to be filled, and `multiply`, for the matrices that are read from it. The bytes
 * lie in the memory of the kernel, a compiled WebAssembly.Module, if there is one.
 */
export function roomFor(nBytes, kernel = null) {
  if (!kernel) return { bytes: new Uint8Array(nBytes), multiply: multiplyPlainly, isFast: false };
  const start = Math.ceil(nBytes / 16) * 16;
  const memory = new WebAssembly.Memory({ initial: Math.ceil((start + 4 * SCRATCH) / 65536) });
  const { multiply } = new WebAssembly.Instance(kernel, { env: { memory } }).exports;
  const numbers = new Float32Array(memory.buffer, start, SCRATCH);
  return { bytes: new Uint8Array(memory.buffer, 0, nBytes), multiply: multiplier(multiply, numbers), isFast: true };
}

/** x Wᵀ for a list of vectors x. */
export function multiplyPlainly(matrix, x) {
  const rows = x.map(() => new Float32Array(matrix.nOut));
  const weight = new Float32Array(matrix.nIn);
  for (let o = 0; o < matrix.nOut; o++) {
    rowOf(matrix, o, weight);
    for (let i = 0; i < x.length; i++) rows[i][o] = dotOf(weight, x[i]);
  }
  return rows;
}

/** A dot product in four sums, which a processor adds to at the same time. */
function dotOf(a, b) {
  let one = 0, two = 0, three = 0, four = 0, i = 0;
  for (; i + 3 < a.length; i += 4) {
    one += a[i] * b[i];
    two += a[i + 1] * b[i + 1];
    three += a[i + 2] * b[i + 2];
    four += a[i + 3] * b[i + 3];
  }
  for (; i < a.length; i++) one += a[i] * b[i];
  return one + two + three + four;
}

function multiplier(kernel, numbers) {
  return (matrix, x) => {
    const { kind, nIn, nOut, at } = matrix;
    const most = Math.floor((SCRATCH - 2 * nIn) / (nIn + nOut) / 4) * 4; // vectors in one call
    if (nIn % 32 || most < 4) return multiplyPlainly(matrix, x);
    const place = (n) => numbers.byteOffset + 4 * n;
    const rows = [];
    for (let start = 0; start < x.length; start += most) {
      const some = x.slice(start, start + most);
      // One vector, or a multiple of four; the missing ones are zero.
      const count = some.length === 1 ? 1 : Math.ceil(some.length / 4) * 4;
      some.forEach((row, i) => numbers.set(row, i * nIn));
      numbers.fill(0, some.length * nIn, count * nIn);
      const [spare, out] = [count * nIn, (count + 2) * nIn];
      if (!kernel(kind, at, nOut, nIn, place(0), count, place(spare), place(out))) return multiplyPlainly(matrix, x);
      some.forEach((_, i) => rows.push(numbers.slice(out + i * nOut, out + (i + 1) * nOut)));
    }
    return rows;
  };
}
