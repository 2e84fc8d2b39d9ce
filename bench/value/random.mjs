/** A seeded generator of numbers (mulberry32), so that every run of the benchmark has the same fixtures. */
export const createRandom = (seed) => {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (from, to) => from + Math.floor(next() * (to - from + 1));
  const pick = (list) => list[Math.floor(next() * list.length)];
  const hex = (length) => Array.from({ length }, () => '0123456789abcdef'[integer(0, 15)]).join('');
  const shuffled = (list) => {
    const copy = [...list];
    for (let last = copy.length - 1; last > 0; last -= 1) {
      const other = integer(0, last);
      [copy[last], copy[other]] = [copy[other], copy[last]];
    }
    return copy;
  };
  return { next, integer, pick, hex, shuffled, chance: (share) => next() < share };
};
