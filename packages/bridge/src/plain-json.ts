import type { JSONValue } from '@h/turn';

/**
 * Converts the value of a tool to JSON. Never throws: a bigint becomes a string, a reference to an object around it
 * `[Circular]`, and a value whose conversion throws the name of its type.
 */
export const plainJSON = (value: unknown): JSONValue => {
  try {
    return JSON.parse(JSON.stringify(value, withoutCycles()) ?? 'null') as JSONValue;
  } catch {
    return `[${typeof value}]`;
  }
};

/** Returns a replacer for one call of `JSON.stringify`. */
const withoutCycles = (): ((this: unknown, key: string, value: unknown) => unknown) => {
  /** The objects around the current member, the outermost first. */
  const around: unknown[] = [];
  return function replace(_key, value) {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    while (around.length > 0 && around.at(-1) !== this) around.pop();
    if (around.includes(value)) return '[Circular]';
    around.push(value);
    return value;
  };
};
