/** Deeper values, such as circular ones, are not compared. */
const maxDepth = 200;

/**
 * Whether two values are certainly the same data: the same value, or plain objects and arrays whose members are. Returns
 * `false` for equal instances of classes and for very deep values.
 */
export const isSameData = (one: unknown, other: unknown, depth = 0): boolean => {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (depth > maxDepth) return false;
  if (Array.isArray(one)) return Array.isArray(other) && hasSameItems(one, other, depth + 1);
  return isPlain(one) && isPlain(other) && hasSameMembers(one, other, depth + 1);
};

const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

const hasSameItems = (one: readonly unknown[], other: readonly unknown[], depth: number): boolean => {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) {
    if (!isSameData(one[index], other[index], depth)) return false;
  }
  return true;
};

const hasSameMembers = (one: object, other: object, depth: number): boolean => {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(other, name)) return false;
    if (!isSameData(one[name as keyof typeof one], other[name as keyof typeof other], depth)) return false;
  }
  return true;
};
