/**
 * Trains the weights of `src/scan/wording.ts` and writes `src/scan/wording-weights.ts`.
 *
 * Usage: node training/train.mjs
 *
 * Reads only files of this folder and the features of the source code, so that runs of one version write the same weights.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decoded } from './clean.mjs';
import { fit, levels, root, written } from './model.mjs';

/** Added to the bias, so that the levels of `worded-passages.ts` hold after a change of the training data. */
const shift = -0.15;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const model = fit(written(), decoded(readFileSync(join(root, 'training/clean.bin'))));
const table = Array.from(model.quantized, (one) => alphabet[one + levels]).join('');
writeFileSync(
  join(root, 'src/scan/wording-weights.ts'),
  `/* Written by \`training/train.mjs\`. */

/** The score of a passage without features. */
export const bias = ${(model.bias + shift).toFixed(4)};

/** The value of one unit of the weights. */
export const scale = ${model.scale.toFixed(5)};
const alphabet = '${alphabet}';
// prettier-ignore
const table =
  '${table}';

/** The weights of the features, in small units, so that the table fits the cache of a processor. */
export const weights: Int8Array = Int8Array.from(table, (one) => alphabet.indexOf(one) - ${levels});
`,
);
