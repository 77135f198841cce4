// The products of a matrix with vectors, four numbers at a time. Nearly all the time of a model goes
// into them, and WebAssembly computes them several times faster than JavaScript: see `linear` in
// transformer.js, which does without where a browser has no such instructions.

const MOST_ROWS = 16; // One call multiplies at most this many vectors.
const rooms = new WeakMap(); // Each buffer that holds a model's numbers leads to its kernel.
let compiled = null;

/**
 * Return a Float32Array for the matrices of a model, whose sides are at most `widest`. It lies in
 * the memory of the kernel, or is an ordinary array if the browser has no SIMD instructions.
 */
export function room(length, widest) {
  try {
    compiled ??= new WebAssembly.Module(assemble());
    const across = 4 * Math.ceil(widest / 4);
    // The kernel reads four rows at once, and ignores the sums of rows beyond the last of a matrix.
    const input = 4 * Math.ceil(length / 4) + 3 * across;
    const output = input + MOST_ROWS * across;
    const memory = new WebAssembly.Memory({ initial: Math.ceil((4 * (output + MOST_ROWS * across)) / 65536) });
    const { multiply } = new WebAssembly.Instance(compiled, { attn: { memory } }).exports;
    rooms.set(memory.buffer, { multiply, numbers: new Float32Array(memory.buffer), input, output });
    return new Float32Array(memory.buffer, 0, length);
  } catch {
    return new Float32Array(length);
  }
}

/** Return x Wᵀ for a list of vectors x, or null if W is not in a `room` or the length of its rows is no multiple of 4. */
export function multiply(weight, x) {
  const kernel = rooms.get(weight.buffer);
  const nIn = x[0].length;
  if (!kernel || nIn % 4) return null;
  const { numbers, input, output } = kernel;
  const nOut = weight.length / nIn;
  const across = 4 * Math.ceil(nOut / 4);
  const rows = [];
  for (let start = 0; start < x.length; start += MOST_ROWS) {
    const some = x.slice(start, start + MOST_ROWS);
    some.forEach((row, i) => numbers.set(row, input + i * nIn));
    kernel.multiply(weight.byteOffset, 4 * nIn, 4 * input, 4 * (input + some.length * nIn), 4 * output, 4 * across);
    some.forEach((_, i) => rows.push(numbers.slice(output + i * across, output + i * across + nOut)));
  }
  return rows;
}

/**
 * Assemble the module. For four rows of the matrix and one vector it keeps four sums, each in
 * four lanes. All addresses and sizes are in bytes:
 *
 *   multiply(matrix, row, x, xEnd, out, across):
 *     for (o = 0; o < across; o += 16, matrix += 4 * row)
 *       for (v = x, to = out + o; v < xEnd; to += across) {
 *         sums = 0; m = matrix;
 *         for (end = v + row; v < end; v += 16, m += 16) sums[k] += v[0..3] * (m + k * row)[0..3];
 *         to[k] = the lanes of sums[k] added up; }
 */
function assemble() {
  const [matrix, row, x, xEnd, out, across, o, v, to, m, end] = Array(11).keys();
  const [sums, four] = [[11, 12, 13, 14], 15];
  const [I32, V128, VOID] = [0x7f, 0x7b, 0x40];
  const get = (i) => [0x20, i];
  const set = (i) => [0x21, i];
  const constant = (n) => [0x41, n]; // of -64 to 63
  const [plus, times, below] = [[0x6a], [0x6c], [0x49]];
  const [load, zero] = [[0xfd, 0, 4, 0], [0xfd, 12, ...Array(16).fill(0)]];
  const [fourTimes, fourPlus] = [[0xfd, 0xe6, 1], [0xfd, 0xe4, 1]];
  const add = (i, ...amount) => [...get(i), ...amount, ...plus, ...set(i)];
  const loop = (...body) => [0x03, VOID, ...body.flat(), 0x0b];
  const again = (i, limit) => [...get(i), ...get(limit), ...below, 0x0d, 0]; // while i < limit
  const lanes = (sum) => [0, 1, 2, 3].flatMap((lane) => [...get(sum), 0xfd, 31, lane, ...(lane ? [0x92] : [])]);
  const body = [
    ...constant(0), ...set(o),
    ...loop(
      [...get(x), ...set(v), ...get(out), ...get(o), ...plus, ...set(to)],
      loop(
        sums.flatMap((sum) => [...zero, ...set(sum)]),
        [...get(matrix), ...set(m), ...get(v), ...get(row), ...plus, ...set(end)],
        loop(
          [...get(v), ...load, ...set(four)],
          sums.flatMap((sum, k) => [
            ...get(sum), ...get(m), ...get(row), ...constant(k), ...times, ...plus, ...load, ...get(four), ...fourTimes, ...fourPlus, ...set(sum),
          ]),
          add(m, ...constant(16)), add(v, ...constant(16)), again(v, end),
        ),
        sums.flatMap((sum, k) => [...get(to), ...lanes(sum), 0x38, 2, 4 * k]),
        add(to, ...get(across)), again(v, xEnd),
      ),
      add(matrix, ...get(row), ...constant(4), ...times), add(o, ...constant(16)), again(o, across),
    ),
  ];
  const size = (n) => (n < 128 ? [n] : [(n & 127) | 128, n >> 7]);
  const section = (id, content) => [id, ...size(content.length), ...content];
  const name = (text) => [text.length, ...new TextEncoder().encode(text)];
  const code = [2, 5, I32, 5, V128, ...body, 0x0b];
  return new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [1, 0x60, 6, ...Array(6).fill(I32), 0]), // one type: six numbers, no result
    ...section(2, [1, ...name("attn"), ...name("memory"), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name("multiply"), 0, 0]),
    ...section(10, [1, ...size(code.length), ...code]),
  ]);
}
