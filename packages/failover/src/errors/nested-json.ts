const maxLength = 65_536;

/**
 * The JSON that a text is or ends with: gateways quote the body of the provider as a text, behind a few words of their own.
 *
 * @returns nothing where there is none
 */
export const readJsonIn = (text: string): unknown => {
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  if (end < 0 || text.length > maxLength) return undefined;
  // Only the first few places are tried, so that a text full of braces costs no more than a few readings.
  let start = -1;
  for (let tries = 0; tries < 4; tries += 1) {
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
