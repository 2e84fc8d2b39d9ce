const maxLength = 65_536;
const maxAttempts = 4;

/**
 * Parses the JSON that a string contains: gateways quote the provider's body inside their own sentences.
 *
 * @returns `undefined` if the string contains no JSON object or array
 */
export const readJsonIn = (text: string): unknown => {
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  if (end < 0 || text.length > maxLength) return undefined;
  // A bounded number of positions is tried, so that a string full of braces stays cheap.
  let start = -1;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    start = nextStart(text, start + 1);
    if (start < 0 || start >= end) return undefined;
    const found = parse(text.slice(start, end + 1));
    if (typeof found === 'object' && found !== null) return found;
  }
  return undefined;
};

const nextStart = (text: string, from: number): number => {
  const places = [text.indexOf('{', from), text.indexOf('[', from)].filter((place) => place >= 0);
  return places.length === 0 ? -1 : Math.min(...places);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
