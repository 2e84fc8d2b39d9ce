const sampleSize = 4_096;
/** More unprintable characters than this share make a text none. */
const maxUnprintable = 0.1;

/** Control characters without a meaning in terminals, and what bytes become that are no UTF-8. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const unprintable = /[\u0000-\u0006\u000e-\u001a\u001c-\u001f\ufffd]/;

/** First characters of common file types when their bytes are decoded as text. */
const beginnings: readonly (readonly [string, string])[] = [
  ['PNG\r\n', 'a PNG image'],
  ['JFIF', 'a JPEG image'],
  ['Exif', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['%PDF-', 'a PDF document'],
  ['PK\u0003\u0004', 'a ZIP archive'],
  ['\u007fELF', 'a program'],
  ['SQLite format', 'a SQLite database'],
];

/** Returns the kind of binary data in a string, such as an image; `undefined` for readable text. */
export const binaryKind = (text: string): string | undefined => {
  const sample = text.slice(0, sampleSize);
  if (!unprintable.test(sample)) return undefined;
  const count = sample.split(unprintable).length - 1;
  if (count <= sample.length * maxUnprintable && !sample.includes('\u0000')) return undefined;
  const start = sample.slice(0, 32);
  return beginnings.find(([beginning]) => start.includes(beginning))?.[1] ?? 'binary data';
};
