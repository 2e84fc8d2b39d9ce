/** Values nested deeper than this are written as `<deep>`. */
const maxDepth = 100;

/**
 * Serializes a value so that equal values have equal strings, regardless of the order of keys. Accepts any value and
 * never throws.
 *
 * Types are distinguished: `1` and `"1"`, `null` and `undefined`, `["1,b"]` and `["1","b"]` differ.
 *
 * @param quote serializes a string; defaults to `JSON.stringify`
 */
export const canonicalText = (value: unknown, quote: (text: string) => string = JSON.stringify): string => {
  const ancestors: object[] = [];
  const write = (part: unknown): string => {
    switch (typeof part) {
      case 'string':
        return quote(part);
      case 'object':
        return part === null ? 'null' : writeObject(part);
      case 'bigint':
        return `${part}n`;
      case 'function':
      case 'symbol':
        return `<${typeof part}>`;
      default:
        return String(part);
    }
  };
  const writeObject = (part: object): string => {
    if (ancestors.length >= maxDepth) return '<deep>';
    if (ancestors.includes(part)) return '<circular>';
    ancestors.push(part);
    try {
      return writeKnown(part, write, quote);
    } catch {
      return '<unreadable>';
    } finally {
      ancestors.pop();
    }
  };
  return write(value);
};

const writeKnown = (value: object, write: (part: unknown) => string, quote: (text: string) => string): string => {
  if (value instanceof Uint8Array) return `<bytes ${bytesText(value)}>`;
  if (value instanceof ArrayBuffer) return `<bytes ${bytesText(new Uint8Array(value))}>`;
  if (value instanceof Error) return `<error ${write([value.name, value.message])}>`;
  if (value instanceof Map || value instanceof Set) {
    return `<${value instanceof Map ? 'map' : 'set'} ${write([...value])}>`;
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return write((value as { toJSON(): unknown }).toJSON());
  }
  if (Array.isArray(value)) return `[${Array.from(value, write).join(',')}]`;
  let text = '';
  for (const key of Object.keys(value).toSorted()) {
    const member: unknown = value[key as keyof typeof value];
    if (member !== undefined) text += `${text === '' ? '' : ','}${quote(key)}:${write(member)}`;
  }
  return `{${text}}`;
};

const bytesText = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return JSON.stringify(text);
};

/** Hashes a text, for telling texts apart. Fast, and not for secrets. */
export const hashOf = (text: string): number => {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  return finishHash(high, low);
};

/** Mixes two halves of a running hash to 52 bits. A number, because writing it as text takes longer than making it. */
export const finishHash = (high: number, low: number): number => {
  const mixedHigh = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  const mixedLow = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(mixedHigh ^ (mixedHigh >>> 13), 3266489909);
  return (mixedHigh >>> 0) * 2 ** 20 + (mixedLow >>> 12);
};
