/**
 * Collects the real ordinary passages that resemble requests most, and writes their features to `clean.bin`.
 *
 * Usage: node training/collect.mjs [--add] FOLDER_OR_LIST...
 *
 * With `--add`, the passages that `clean.bin` already contains are kept. Reads the Markdown files in the folders, and the files that a `.txt` list names. `clean.bin` contains hashes of words and
 * pairs of words, not the texts. Run the script after a change of `featuresOf`, with other files than `measure.mjs`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decoded, encoded } from './clean.mjs';
import { fit, passagesIn, root, scored, textsIn, written } from './model.mjs';

/** Number of passages of the first model, and of those that each later one adds. */
const [first, added, rounds] = [3_000, 2_500, 4];
/** Maximum number of passages of one file that a round adds. */
const perFile = 8;
/** Score above which a round adds a passage. */
const hardest = -3.5;

const places = process.argv.slice(2).filter((one) => one !== '--add');
const path = join(root, 'training/clean.bin');
const earlier = process.argv.includes('--add') ? decoded(readFileSync(path)) : [];

const files = textsIn(places).map(passagesIn);
const own = written();

const known = new Set(earlier.map((one) => one.toSorted().join()));
const distinct = (one) => {
  const key = one.toSorted().join();
  return !known.has(key) && known.add(key);
};
const candidates = files.map((passages) => passages.filter(distinct));

const all = candidates.flat();
const sample = Array.from(
  { length: earlier.length === 0 ? first : 0 },
  (_, index) => all[Math.floor((index * all.length) / first)],
);
const chosen = new Set([...earlier, ...sample]);
for (let round = 0; round < rounds; round += 1) {
  const model = fit(own, [...chosen]);
  const hard = candidates
    .flatMap((passages) =>
      passages
        .filter((one) => !chosen.has(one))
        .map((one) => [scored(model, one), one])
        .filter(([score]) => score > hardest)
        .toSorted(([one], [other]) => other - one)
        .slice(0, perFile),
    )
    .toSorted(([one], [other]) => other - one);
  for (const [, one] of hard.slice(0, added)) chosen.add(one);
}
const buffer = encoded([...chosen]);
writeFileSync(path, buffer);
console.log(`${chosen.size} passages of ${files.length} files, ${buffer.length} bytes`);
