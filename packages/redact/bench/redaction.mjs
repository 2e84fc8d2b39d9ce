/**
 * Measures the CPU time of redaction per MB, compared with fifty regular expressions applied one after another.
 *
 *   node bench/redaction.mjs [folder of texts]        (after a build)
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRedactor } from '@h/redact';
import { redactNaively } from './naive.mjs';

const root = process.argv[2] ?? fileURLToPath(new URL('../../..', import.meta.url));
const size = 1_000_000;

/** Lists the files with these extensions, except installed and built ones. */
const filesOf = (folder, kinds) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist' || entry.name.startsWith('.')) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesOf(path, kinds);
    return kinds.test(entry.name) && statSync(path).size < 3_000_000 ? [path] : [];
  });
const corpus = (kinds) => {
  let text = '';
  for (const file of filesOf(root, kinds)) if (text.length < size) text += readFileSync(file, 'utf8');
  return text.repeat(Math.ceil(size / text.length)).slice(0, size);
};

const samples = {
  code: corpus(/\.[mc]?[jt]s$/),
  prose: corpus(/\.md$/),
  lockfile: corpus(/^pnpm-lock\.yaml$/),
  'hostile: password=': 'password='.repeat(size / 9),
  'hostile: sk-': 'sk-'.repeat(size / 3),
  'hostile: -----BEGIN PRIVATE KEY-----': '-----BEGIN PRIVATE KEY-----'.repeat(size / 27),
};

/** Returns the CPU time of the fastest run in milliseconds, because other processes only slow a run down. */
const time = (work) => {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 7; run += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
};

const { redact, stream } = createRedactor();
const known = createRedactor({
  values: Array.from({ length: 50 }, (_, index) => `value-${(index * 7919).toString(36)}-Zq9${index}`),
});
const inPieces = (text) => {
  const open = stream();
  for (let place = 0; place < text.length; place += 4096) open.push(text.slice(place, place + 4096));
  open.end();
};

const tools = [
  ['redact', redact],
  ['with 50 values', known.redact],
  ['stream, 4 kB', inPieces],
  ['50 expressions', redactNaively],
];
console.log(`Node ${process.version}, milliseconds of CPU per MB, best of 7`);
console.log(''.padEnd(40), ...tools.map(([name]) => name.padStart(15)));
for (const [name, text] of Object.entries(samples)) {
  console.log(
    name.padEnd(40),
    ...tools.map(([, tool]) => ((time(() => tool(text)) / text.length) * 1_000_000).toFixed(1).padStart(15)),
  );
}
