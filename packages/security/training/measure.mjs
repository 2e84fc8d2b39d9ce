/**
 * Prints the scores that a share of ordinary files exceeds, with the committed weights.
 *
 * Usage: node training/measure.mjs FOLDER_OR_LIST...
 */
import { scoreOf, textsIn } from './model.mjs';

const best = textsIn(process.argv.slice(2))
  .map(scoreOf)
  .toSorted((one, other) => other - one);
for (const share of [0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.02]) {
  console.log(`${share * 100} % of ${best.length} files: ${best[Math.floor(share * best.length)]?.toFixed(2)}`);
}
