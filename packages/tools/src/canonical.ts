/**
 * JSON text in which the order of keys makes no difference, so that equal inputs are equal texts.
 *
 * Only for values that are as JSON has them; `undefined` when something else is among them.
 */
export const canonicalJson = (value: unknown): string | undefined => {
  try {
    return written(value);
  } catch (error) {
    if (error === notJson) return undefined;
    throw error;
  }
};

const notJson = new Error('This is not JSON.');

const written = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value);
      break;
    case 'object':
      return writtenObject(value);
    default:
  }
  throw notJson;
};

const writtenObject = (value: object | null): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw notJson;
  const members: string[] = [];
  for (const key of Object.keys(value).toSorted()) {
    const member: unknown = value[key as keyof typeof value];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${written(member)}`);
  }
  return `{${members.join(',')}}`;
};
