// Random numbers that are the same for the same seed, and draws with them.

/** Numbers in [0, 1) that look random and are the same for the same seed (mulberry32). */
export function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sample an index according to the probabilities, with a uniform number in [0, 1). */
export function drawn(probabilities, random) {
  let left = random;
  const last = probabilities.findLastIndex((p) => p > 0);
  return probabilities.findIndex((p, i) => p > 0 && ((left -= p) < 0 || i === last));
}
