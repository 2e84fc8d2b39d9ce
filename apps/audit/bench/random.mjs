import { createRandom as createBasic } from '../../../bench/value/random.mjs';

/** The seeded generator of `bench/value`, with the ids and the lengths that transcripts contain. */
export const createRandom = (seed) => {
  const random = createBasic(seed);
  const { next, pick, hex } = random;
  const letters = (alphabet, length) => {
    let text = '';
    while (text.length < length) text += pick(alphabet);
    return text;
  };
  return {
    ...random,
    uuid: () => [8, 4, 4, 4, 12].map(hex).join('-'),
    id: (length) => letters('ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789', length),
    base64: (length) => letters('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', length),
    /** A length between the bounds whose logarithm is evenly distributed: many short ones, few long ones. */
    skewed: (from, to) => Math.round(from * (to / from) ** next()),
    weighted: (entries) => {
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      return (entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0])[0];
    },
  };
};
