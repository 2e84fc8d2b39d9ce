/**
 * Trains the weights of `src/scan/letters.ts` and writes `src/scan/letter-weights.ts`.
 *
 * Usage: node training/train-letters.mjs
 *
 * Reads only files of this folder, and the weights of the words, so that each run writes the same weights.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decoded } from './clean.mjs';
import { fit, passageOfNumbers, written } from './letters-model.mjs';
import { levels, root } from './model.mjs';

/** Added to the bias, so that the levels of `worded-passages.ts` hold for the sum of both scores. */
const shift = 0.25;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const count = 2 * levels + 1;

const clean = decoded(readFileSync(join(root, 'training/clean-letters.bin'))).map(passageOfNumbers);
const model = fit(written(), clean);
const table = Array.from(
  { length: model.quantized.length / 2 },
  (_, index) => alphabet[(model.quantized[2 * index] + levels) * count + model.quantized[2 * index + 1] + levels],
).join('');
writeFileSync(
  join(root, 'src/scan/letter-weights.ts'),
  `/* Written by \`training/train-letters.mjs\`. */

/** The score of a sentence without features. */
export const letterBias = ${(model.bias + 5 + shift).toFixed(4)};

const scale = ${model.scale.toFixed(5)};
const alphabet = '${alphabet}';
// prettier-ignore
const table =
  '${table}';

/** The weights of the features. A character of the table has two. */
export const letterWeights: Float32Array = Float32Array.from({ length: 2 * table.length }, (_, index) => {
  const pair = alphabet.indexOf(table.charAt(index >> 1));
  return ((index % 2 === 0 ? Math.floor(pair / ${count}) : pair % ${count}) - ${levels}) * scale;
});
`,
);
