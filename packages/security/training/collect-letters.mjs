/**
 * Collects sentences of real files in the languages besides English and writes `clean-letters.bin`: a sample, and the
 * sentences that a model of the sample and of the written texts scores highest.
 *
 * Usage: node training/collect-letters.mjs [--add] FOLDER_OR_LIST...
 *
 * With `--add`, the sentences that `clean-letters.bin` already contains are kept.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decoded, encoded } from './clean.mjs';
import { fit, numbersOf, passageOfNumbers, sentencesIn, written } from './letters-model.mjs';
import { root, scored, textsIn } from './model.mjs';

/** Number of sentences of the sample, and of those that each later model adds. */
const [first, added, rounds] = [9_000, 6_000, 3];
/** Maximum number of sentences of a file that are read. */
const perFile = 60;

const places = process.argv.slice(2).filter((one) => one !== '--add');
const path = join(root, 'training/clean-letters.bin');
const earlier = process.argv.includes('--add') ? decoded(readFileSync(path)).map(passageOfNumbers) : [];

const known = new Set(earlier.map(({ features }) => features.join()));
const all = textsIn(places).flatMap((text) => {
  const list = sentencesIn(text).filter(({ features }) => {
    const key = features.join();
    return !known.has(key) && known.add(key);
  });
  return list.length <= perFile
    ? list
    : Array.from({ length: perFile }, (_, index) => list[Math.floor((index * list.length) / perFile)]);
});
const own = written();
const size = Math.min(first, all.length);
const sample = Array.from({ length: size }, (_, index) => all[Math.floor((index * all.length) / size)]);
const chosen = new Set([...earlier, ...sample]);
for (let round = 0; round < rounds; round += 1) {
  const model = fit(own, [...chosen]);
  const hardest = all
    .filter((one) => !chosen.has(one))
    .map((one) => [scored(model, one.features) + one.score, one])
    .toSorted(([one], [other]) => other - one)
    .slice(0, added);
  for (const [, one] of hardest) chosen.add(one);
}
const buffer = encoded([...chosen].map(numbersOf));
writeFileSync(path, buffer);
console.log(`${chosen.size} of ${all.length} sentences, ${buffer.length} bytes`);
