// x Wᵀ for a matrix that is packed as in a GGUF file: what multiplyPlainly of packed.js does, with
// four numbers in each instruction. AssemblyScript; gguf.js says how a block of 32 numbers is packed.
// Arguments are addresses in bytes, and counts; vectors lie one behind the other.

const Q4_1 = 3, Q8_0 = 8;

/** The two numbers of 16 bits at an address as float32, in the first two lanes. */
// @ts-ignore: decorator
@inline function halves(at: usize): v128 {
  const two = v128.extend_low<u16>(v128.load32_zero(at));
  // 2^112, whose bits these are, moves the bias of the exponent from 15 to 127.
  const size = v128.mul<f32>(v128.shl<i32>(v128.and(two, i32x4.splat(0x7fff)), 13), f32x4.splat(reinterpret<f32>(0x77800000)));
  return v128.or(size, v128.shl<i32>(v128.and(two, i32x4.splat(0x8000)), 16));
}

/** The first or the second sixteen steps of a block, a byte each. */
// @ts-ignore: decorator
@inline function steps(kind: i32, block: usize, half: i32): v128 {
  if (kind == Q8_0) return v128.load(block + 2 + 16 * half);
  const two = v128.load(block, 4);
  return v128.and(half ? v128.shr<u16>(two, 4) : two, i8x16.splat(15));
}

/** Four of sixteen steps as float32. */
// @ts-ignore: decorator
@inline function four(bytes: v128, i: i32): v128 {
  const eight = i < 2 ? v128.extend_low<i8>(bytes) : v128.extend_high<i8>(bytes);
  return v128.convert<i32>(i & 1 ? v128.extend_high<i16>(eight) : v128.extend_low<i16>(eight));
}

// @ts-ignore: decorator
@inline function times(bytes: v128, x: usize): v128 {
  const a = v128.add<f32>(v128.mul<f32>(v128.load(x), four(bytes, 0)), v128.mul<f32>(v128.load(x, 16), four(bytes, 1)));
  const b = v128.add<f32>(v128.mul<f32>(v128.load(x, 32), four(bytes, 2)), v128.mul<f32>(v128.load(x, 48), four(bytes, 3)));
  return v128.add<f32>(a, b);
}

// @ts-ignore: decorator
@inline function lanes(v: v128): f32 {
  return v128.extract_lane<f32>(v, 0) + v128.extract_lane<f32>(v, 1) + v128.extract_lane<f32>(v, 2) + v128.extract_lane<f32>(v, 3);
}

/** A row times one vector: d (q · x) + m (1 · x), block by block; `sums` holds four parts of each 1 · x. */
// @ts-ignore: decorator
@inline function one(kind: i32, block: usize, size: usize, nBlocks: usize, x: usize, sums: usize): f32 {
  let total = f32x4.splat(0);
  for (let i: usize = 0; i < nBlocks; i++, block += size, x += 128, sums += 16) {
    const dm = halves(block);
    const dot = v128.add<f32>(times(steps(kind, block, 0), x), times(steps(kind, block, 1), x + 64));
    total = v128.add<f32>(total, v128.mul<f32>(v128.shuffle<f32>(dm, dm, 0, 0, 0, 0), dot));
    if (kind == Q4_1) total = v128.add<f32>(total, v128.mul<f32>(v128.shuffle<f32>(dm, dm, 1, 1, 1, 1), v128.load(sums)));
  }
  return lanes(total);
}

/** A row as numbers, which several vectors share. */
// @ts-ignore: decorator
@inline function unpack(kind: i32, block: usize, size: usize, nBlocks: usize, to: usize): void {
  for (let i: usize = 0; i < nBlocks; i++, block += size) {
    const dm = halves(block), d = v128.shuffle<f32>(dm, dm, 0, 0, 0, 0);
    const m = kind == Q4_1 ? v128.shuffle<f32>(dm, dm, 1, 1, 1, 1) : f32x4.splat(0);
    for (let half = 0; half < 2; half++, to += 64) {
      const bytes = steps(kind, block, half);
      v128.store(to, v128.add<f32>(m, v128.mul<f32>(d, four(bytes, 0))));
      v128.store(to, v128.add<f32>(m, v128.mul<f32>(d, four(bytes, 1))), 16);
      v128.store(to, v128.add<f32>(m, v128.mul<f32>(d, four(bytes, 2))), 32);
      v128.store(to, v128.add<f32>(m, v128.mul<f32>(d, four(bytes, 3))), 48);
    }
  }
}

// @ts-ignore: decorator
@inline function product(kind: i32, size: usize, matrix: usize, nOut: i32, nIn: i32, x: usize, nRows: i32, spare: usize, out: usize): void {
  const nBlocks: usize = nIn >> 5, row = nIn << 2, across = nOut << 2;
  if (nRows == 1) {
    for (let i: usize = 0; i < nBlocks; i++) {
      let sum = v128.load(x + 128 * i);
      for (let part = 16; part < 128; part += 16) sum = v128.add<f32>(sum, v128.load(x + 128 * i + part));
      v128.store(spare + 16 * i, sum);
    }
    for (let o = 0; o < nOut; o++, matrix += nBlocks * size) store<f32>(out + (o << 2), one(kind, matrix, size, nBlocks, x, spare));
    return;
  }
  for (let o = 0; o < nOut; o++, matrix += nBlocks * size, out += 4) {
    unpack(kind, matrix, size, nBlocks, spare);
    for (let i = 0; i < nRows; i += 4) {
      let a = f32x4.splat(0), b = a, c = a, d = a, v = x + i * row;
      for (let w = spare; w < spare + row; w += 16, v += 16) {
        const weight = v128.load(w);
        a = v128.add<f32>(a, v128.mul<f32>(weight, v128.load(v)));
        b = v128.add<f32>(b, v128.mul<f32>(weight, v128.load(v + row)));
        c = v128.add<f32>(c, v128.mul<f32>(weight, v128.load(v + 2 * row)));
        d = v128.add<f32>(d, v128.mul<f32>(weight, v128.load(v + 3 * row)));
      }
      const to = out + i * across;
      store<f32>(to, lanes(a)); store<f32>(to + across, lanes(b)); store<f32>(to + 2 * across, lanes(c)); store<f32>(to + 3 * across, lanes(d));
    }
  }
}

/**
 * Multiply `nRows` vectors of `nIn` numbers at x, one or a multiple of four, into vectors of `nOut` numbers
 * at `out`. `spare` has room for two rows. Return whether matrices of this kind are known.
 */
export function multiply(kind: i32, matrix: usize, nOut: i32, nIn: i32, x: usize, nRows: i32, spare: usize, out: usize): bool {
  if (kind == Q4_1) product(Q4_1, 20, matrix, nOut, nIn, x, nRows, spare, out);
  else if (kind == Q8_0) product(Q8_0, 34, matrix, nOut, nIn, x, nRows, spare, out);
  else return false;
  return true;
}
