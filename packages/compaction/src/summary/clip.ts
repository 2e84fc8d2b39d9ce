/**
 * Truncates a text to N characters: its beginning and its end, with a note about the rest. Errors appear at the end,
 * which therefore gets two fifths. Never splits a surrogate pair.
 */
export const clip = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text;
  const note = (missing: number): string => `\n[… ${missing} characters left out …]\n`;
  const room = maxChars - note(text.length).length;
  if (room <= 0) return text.slice(0, wholeStart(text, maxChars));
  const headEnd = wholeStart(text, Math.ceil(room * 0.6));
  const tailStart = wholeEnd(text, text.length - Math.floor(room * 0.4));
  return `${text.slice(0, headEnd)}${note(tailStart - headEnd)}${text.slice(tailStart)}`;
};

const isLow = (text: string, place: number): boolean => {
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff;
};

const wholeStart = (text: string, place: number): number => (isLow(text, place) ? place - 1 : place);
const wholeEnd = (text: string, place: number): number => (isLow(text, place) ? place + 1 : place);
