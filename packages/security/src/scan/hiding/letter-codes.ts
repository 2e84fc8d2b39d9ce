/** The letters of the Morse code, by the signs of each letter. */
const morse: ReadonlyMap<string, string> = new Map(
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'
    .split(' ')
    .map((signs, index) => [signs, String.fromCharCode(97 + index)]),
);

/** Decodes Morse code: spaces separate letters, and a slash, a bar or three spaces separate words. */
export const fromMorse = (span: string): string =>
  span
    .trim()
    .split(/ ?[/|] ?|\s{3,}/)
    .map((word) => Array.from(word.split(/\s+/), (signs) => morse.get(signs) ?? '').join(''))
    .join(' ');

/** The letters by the dots of their Braille cells, in the order of the alphabet. */
const cells = '⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵';

/** Decodes Braille letters. Other cells, such as the frames of spinners, are spaces. */
export const fromBraille = (span: string): string =>
  span.replace(/[\u2800-\u28ff]/g, (cell) => {
    const place = cells.indexOf(cell);
    return place === -1 ? ' ' : String.fromCharCode(97 + place);
  });

/** Decodes Ascii85 between its delimiters. */
export const fromBase85 = (span: string): string => {
  const digits = span.slice(2, -2).replace(/\s/g, '').replaceAll('z', '!!!!!');
  const bytes: number[] = [];
  for (let place = 0; place < digits.length; place += 5) {
    const group = digits.slice(place, place + 5);
    let value = 0;
    for (let index = 0; index < 5; index += 1) {
      value = value * 85 + (index < group.length ? group.charCodeAt(index) - 33 : 84);
    }
    for (let index = 0; index < group.length - 1; index += 1) bytes.push(Math.floor(value / 256 ** (3 - index)) & 255);
  }
  return Buffer.from(bytes).toString('utf8');
};
