/** Deeper than this a value is told by its type alone. */
const maxDepth = 100;

/**
 * Writes a value so that equal values are equal texts, whatever the order of their keys. It takes anything and never throws.
 *
 * Types stay apart (`1` and `"1"`, `null` and nothing at all), and so do lists that would run together without quotes.
 *
 * @param change what becomes of each text in it, before quotes and escapes are put around it
 */
export const canonicalText = (value: unknown, change: (text: string) => string = (text) => text): string => {
  const write = (part: unknown, ancestors: readonly object[]): string => {
    switch (typeof part) {
      case 'string':
        return JSON.stringify(change(part));
      case 'object':
        return part === null ? 'null' : writeObject(part, ancestors, write);
      case 'bigint':
        return `${part}n`;
      case 'function':
      case 'symbol':
        return `<${typeof part}>`;
      default:
        return String(part);
    }
  };
  return write(value, []);
};

type Write = (value: unknown, ancestors: readonly object[]) => string;

const writeObject = (value: object, ancestors: readonly object[], write: Write): string => {
  if (ancestors.length >= maxDepth) return '<deep>';
  if (ancestors.includes(value)) return '<circular>';
  const inner = [...ancestors, value];
  try {
    if (value instanceof Uint8Array) return `<bytes ${writeBytes(value)}>`;
    if (value instanceof ArrayBuffer) return `<bytes ${writeBytes(new Uint8Array(value))}>`;
    if (value instanceof Error) return `<error ${write([value.name, value.message], inner)}>`;
    if (value instanceof Map || value instanceof Set) {
      return `<${value instanceof Map ? 'map' : 'set'} ${write([...value], inner)}>`;
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      return write((value as { toJSON(): unknown }).toJSON(), inner);
    }
    if (Array.isArray(value)) return `[${value.map((item) => write(item, inner)).join(',')}]`;
    return `{${members(value, inner, write).join(',')}}`;
  } catch {
    return '<unreadable>';
  }
};

const members = (value: object, ancestors: readonly object[], write: Write): readonly string[] => {
  const written: string[] = [];
  for (const key of Object.keys(value).toSorted()) {
    const member: unknown = value[key as keyof typeof value];
    if (member !== undefined) written.push(`${JSON.stringify(key)}:${write(member, ancestors)}`);
  }
  return written;
};

const writeBytes = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return JSON.stringify(text);
};
