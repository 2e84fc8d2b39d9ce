import { codeAt } from './text/characters.js';
import type { Finder, Secret } from './text/replace.js';

/** Minimum length of a known value; a shorter one would occur in ordinary words. */
export const minKnownValue = 6;

/** Returns the encoded forms of a value: plain, in URLs, in JSON and nested JSON, in HTML, and inside base64. */
export const formsOf = (value: string): readonly string[] => {
  const bytes = new TextEncoder().encode(value);
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from([...new Uint8Array(shift), ...bytes]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const inUrlBase64 = inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const inUrl = encodeURIComponent(Buffer.from(bytes).toString());
  const inJson = JSON.stringify(value).slice(1, -1);
  const forms = [
    value,
    inUrl,
    inUrl.replaceAll('%20', '+'),
    inUrl.replace(/%../g, (escaped) => escaped.toLowerCase()),
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    inHtml(value),
    ...inBase64,
    ...inUrlBase64,
  ];
  return [...new Set(forms)].filter((form) => form.length >= minKnownValue);
};

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const inHtml = (value: string): string => value.replace(/[&<>"']/g, (character) => entities[character] ?? character);

/** Creates a finder for known values. It looks up the first two characters and prefers the longest value. */
export const knownValueFinder = (values: readonly string[]): Finder | undefined => {
  const byStart = new Map<number, string[]>();
  for (const form of new Set(values.flatMap(formsOf))) {
    const start = startOf(form, 0);
    byStart.set(
      start,
      [...(byStart.get(start) ?? []), form].toSorted((one, other) => other.length - one.length),
    );
  }
  if (byStart.size === 0) return undefined;
  const starts = [...byStart.keys()].map((start): readonly [number, number] => [
    Math.floor(start / 65_536),
    start % 65_536,
  ]);
  const firsts = new Set(starts.map(([first]) => first));
  const mayStart = new Uint8Array(65_536);
  for (const [first, second] of starts) mayStart[((first & 255) << 8) | (second & 255)] = 1;

  return (text, { from, isWhole }) => {
    const secrets: Secret[] = [];
    // Reading bytes takes half the time of reading characters. Candidates are checked in the text.
    const bytes = Buffer.from(text, 'latin1');
    const last = text.length - 1;
    let index = from;
    while (index < last) {
      if (mayStart[((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0)] === 1) {
        if (!isWhole && mayContinue(byStart, text, index)) return { secrets, settled: index, ahead: [] };
        const form = byStart.get(startOf(text, index))?.find((one) => text.startsWith(one, index));
        if (form !== undefined) {
          secrets.push({ kind: 'known', start: index, end: index + form.length });
          index += form.length;
          continue;
        }
      }
      index += 1;
    }
    const isOpen = !isWhole && index === last && firsts.has(codeAt(text, last));
    return { secrets, settled: isOpen ? last : text.length, ahead: [] };
  };
};

const startOf = (text: string, index: number): number => codeAt(text, index) * 65_536 + codeAt(text, index + 1);

/** Whether the text ends within a possible value. */
const mayContinue = (byStart: ReadonlyMap<number, readonly string[]>, text: string, index: number): boolean => {
  const left = text.length - index;
  return (
    byStart.get(startOf(text, index))?.some((form) => form.length > left && text.endsWith(form.slice(0, left))) === true
  );
};
