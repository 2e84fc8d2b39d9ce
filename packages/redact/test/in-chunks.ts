import type { RedactionStream } from '../src/index.js';

const lengths = [1, 2, 3, 5, 7, 11, 16];

/** Redacts a text in chunks of each of these lengths. */
export const inChunks = (stream: () => RedactionStream, text: string): readonly string[] =>
  lengths.map((length) => {
    const redaction = stream();
    let output = '';
    for (let index = 0; index < text.length; index += length) {
      output += redaction.push(text.slice(index, index + length));
    }
    return output + redaction.end();
  });
