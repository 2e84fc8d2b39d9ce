/**
 * Measures the truncation of a text of ten million characters, compared with a naive version that splits lines into an
 * array and removes the middle.
 *
 *   node --expose-gc bench/truncate.mjs        (after a build)
 */
import { truncate } from '@h/tools';

const size = 10 * 1024 * 1024;
const maxChars = 64_000;
const rounds = 15;

const texts = {
  'one line': 'x'.repeat(size),
  'short lines': 'some words on a line\n'.repeat(size / 21),
  'no Latin text': '日本語の文章。'.repeat(size / 7),
  'JSON on one line': `[${'{"name":"value","count":1},'.repeat(size / 27)}0]`,
  'a log that fails': `${'[info] all is well\n'.repeat(size / 19)}Error: it broke\n    at main (app.js:1:1)\n`,
};

const naive = (text) => {
  const lines = text.split('\n');
  const half = maxChars / 2;
  const [head, tail] = [[], []];
  let room = half;
  for (const line of lines) {
    if ((room -= line.length + 1) < 0) break;
    head.push(line);
  }
  room = half;
  for (const line of lines.toReversed()) {
    if ((room -= line.length + 1) < 0) break;
    tail.unshift(line);
  }
  return [...head, `… ${lines.length - head.length - tail.length} lines omitted …`, ...tail].join('\n');
};

const median = (numbers) => numbers.toSorted((left, right) => left - right)[Math.floor(numbers.length / 2)];

/** Returns the time in milliseconds and the allocated memory in megabytes. */
const measure = (cut, text) => {
  const times = [];
  const heaps = [];
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    const before = performance.now();
    const { length } = cut(text);
    times.push(performance.now() - before);
    heaps.push((process.memoryUsage().heapUsed - heap) / 1024 / 1024);
    if (length === 0) throw new Error('Nothing is left.');
  }
  return `${median(times).toFixed(2)} ms  ${median(heaps).toFixed(1)} MB`;
};

console.log(
  `Node ${process.version}, ${size.toLocaleString('en')} characters cut to ${maxChars.toLocaleString('en')}\n`,
);
console.log(''.padEnd(18), 'truncate()'.padStart(20), 'split and join'.padStart(20));
for (const [name, text] of Object.entries(texts)) {
  text.charCodeAt(0);
  console.log(
    name.padEnd(18),
    measure((each) => truncate(each, { maxChars }), text).padStart(20),
    measure(naive, text).padStart(20),
  );
}
