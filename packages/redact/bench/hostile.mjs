/**
 * Measures texts that repeat the beginning of a secret, for every literal in the rules. Prints the slowest ones per MB,
 * compared with source code.
 *
 *   node bench/hostile.mjs [how many to show]        (after a build)
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRedactor } from '@h/redact';

const shown = Number(process.argv[2] ?? 15);
const folder = new URL('../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'));

/** All words of the string literals: prefixes, names, commands, encodings. */
const words = sources.flatMap((source) =>
  [...source.matchAll(/'([^'\n\\]{1,400})'/g)].flatMap(([, literal]) => literal.split(' ')),
);
const endings = ['', ' ', ':', '=', '="', ' | ', '/', '-', '\n', '%3A', '://', '=a1,', '.b2C'];
const frames = [
  '-----BEGIN',
  '-----BEGIN PRIVATE KEY-----',
  'Bearer ',
  'Basic ',
  'eyJ',
  'eyJabcdefgh.',
  'eyJabcdefgh-',
  '"',
  "'",
  '\\"',
  ':',
  '::',
  '=',
  '*:*:*:*:',
  'a://',
  'a://b:c',
  'a@b://',
  ' -p',
  ' -u a:',
  'curl -u a:b ',
  '"name":"password","value":',
  'mysql -p',
  '<password>',
  '\u001b[',
  '\u001b[0m',
  '\\u001b[',
  'Cookie: a=b;',
  'Authorization=Bearer ',
  '--password a ',
  '[0m',
  '[1;',
  '{"data":{"a":"b",',
  '(password) VALUES (1),',
  '"auth" "a',
  '"a"; // ',
  '- a # ',
  ' s/a/',
  '"a".toCharArray()',
  '("a", "b"), ',
  'password is ',
  'machine a login b password ',
  'A',
  'ü',
  '漢',
];
const seeds = [
  ...new Set([...frames, ...words.filter((word) => word !== '').flatMap((word) => endings.map((end) => word + end))]),
];

const { redact } = createRedactor();
const millisecondsPerMB = (text, runs) => {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const before = process.cpuUsage();
    redact(text);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return (best / text.length) * 1_000_000;
};
const repeated = (seed, length) => Buffer.from(seed.repeat(Math.ceil(length / seed.length))).toString();

const code = sources.join('').repeat(3);
for (let warm = 0; warm < 10; warm += 1) redact(code);
for (const seed of seeds) redact(repeated(seed, 500));
const plain = millisecondsPerMB(code, 9);
const first = seeds
  .map((seed) => ({ seed, spent: millisecondsPerMB(repeated(seed, 10_000), 2) }))
  .toSorted((one, other) => other.spent - one.spent);
const slowest = first
  .slice(0, 120)
  .map(({ seed }) => ({ seed, spent: millisecondsPerMB(repeated(seed, 100_000), 7) }))
  .toSorted((one, other) => other.spent - one.spent);

console.log(
  `Node ${process.version}, milliseconds of CPU per MB; source code ${plain.toFixed(1)}; ${seeds.length} texts`,
);
for (const { seed, spent } of slowest.slice(0, shown)) {
  console.log(spent.toFixed(0).padStart(6), `${(spent / plain).toFixed(1)} ×`.padStart(8), JSON.stringify(seed));
}
