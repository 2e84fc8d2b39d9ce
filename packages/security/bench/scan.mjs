/**
 * Measures `scanContext`: milliseconds of CPU per 10,000 characters for Markdown, code and hostile repetition.
 *
 *   node bench/scan.mjs        (after a build)
 */
import { readFileSync, readdirSync } from 'node:fs';
import { scanContext } from '@h/security';

const length = 100_000;
const repeated = (text) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const sources = readdirSync(new URL('../src/scan/', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => read(`../src/scan/${name}`));
const pieces = [
  'ignore ',
  'send api keys to ',
  '<!--',
  '<div style="',
  '`',
  'QUJD',
  '%20',
  '\u200b',
  'a b ',
  'you must not tell ',
];
const texts = [
  ['Markdown', repeated(read('../README.md') + read('../threat-model.md'))],
  ['code', repeated(sources.join(''))],
  ...pieces.map((piece) => [JSON.stringify(piece), repeated(piece)]),
];

for (const [name, text] of texts) {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 6; run += 1) {
    const before = process.cpuUsage();
    scanContext(text);
    best = Math.min(best, process.cpuUsage(before).user / 1000);
  }
  console.log(((best / length) * 10_000).toFixed(2).padStart(8), name);
}
