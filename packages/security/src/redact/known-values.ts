import { wellFormed } from '@h/turn';
import type { Finder, Secret } from './finder.js';

/** A shorter one would be found in ordinary words. */
export const minKnownValue = 6;

/**
 * The forms in which a value appears: as it is, in URLs, in JSON, and inside of base64, whatever stands around it there.
 */
export const formsOf = (value: string): readonly string[] => {
  const bytes = new TextEncoder().encode(value);
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from([...new Uint8Array(shift), ...bytes]).toString('base64');
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const inUrlBase64 = inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const forms = [
    value,
    encodeURIComponent(wellFormed(value)),
    JSON.stringify(value).slice(1, -1),
    ...inBase64,
    ...inUrlBase64,
  ];
  return [...new Set(forms)].filter((form) => form.length >= minKnownValue);
};

/**
 * Finds exact texts, however many they are: by their first two characters, of several the longest.
 */
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
    // Bytes are looked through in half the time that characters take; what they say is checked on the text.
    const bytes = Buffer.from(text, 'latin1');
    const last = text.length - 1;
    let index = from;
    while (index < last) {
      if (mayStart[((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0)] === 1) {
        if (!isWhole && mayGoOn(byStart, text, index)) return { secrets, settled: index };
        const form = byStart.get(startOf(text, index))?.find((one) => text.startsWith(one, index));
        if (form !== undefined) {
          secrets.push({ kind: 'known', start: index, end: index + form.length });
          index += form.length;
          continue;
        }
      }
      index += 1;
    }
    const isOpen = !isWhole && index === last && firsts.has(text.charCodeAt(last));
    return { secrets, settled: isOpen ? last : text.length };
  };
};

const startOf = (text: string, index: number): number => text.charCodeAt(index) * 65_536 + text.charCodeAt(index + 1);

/** Whether the text ends within something that may become one of the values. */
const mayGoOn = (byStart: ReadonlyMap<number, readonly string[]>, text: string, index: number): boolean => {
  const left = text.length - index;
  return (
    byStart.get(startOf(text, index))?.some((form) => form.length > left && text.endsWith(form.slice(0, left))) === true
  );
};
