/**
 * Writes a corpus of sessions in the forms of Claude Code, Codex and pi. The same arguments write the same bytes, as long
 * as the installed packages are the same.
 *
 *   node bench/corpus.mjs <folder> [MB, 1000 by default]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeCode, codex, pi } from './formats.mjs';
import { createRandom } from './random.mjs';
import { projectOf, readSources, stepOf } from './work.mjs';

const [folder, megabytes = '1000'] = process.argv.slice(2);
if (folder === undefined || !(Number(megabytes) > 0)) {
  console.error('usage: node bench/corpus.mjs <folder> [MB]');
  process.exit(2);
}

/** Sessions by format. */
const formats = [
  [claudeCode, 60],
  [codex, 30],
  [pi, 10],
];
/** Shares of steps that repeat an earlier one: a retry of the same call, and a call with the same result. */
const retried = 0.02;
const reread = 0.12;
/** Shares of sessions of Claude Code that start a sub-agent, and that are resumed in a new file with all entries before. */
const delegated = 0.2;
const resumed = 0.08;
/** Seconds from the start of a session to that of its continuation. */
const resumedAfter = 86_400;

const random = createRandom(20);
const sources = readSources();
const projects = Array.from({ length: 40 }, () => projectOf(random, sources));
let written = 0;
let count = 0;

const write = (name, lines) => {
  const text = lines.join('');
  const bytes = Buffer.byteLength(text);
  const path = join(folder, `${name}.jsonl`);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  written += bytes;
};

const stepsOf = (project, length) => {
  const steps = [];
  while (steps.length < length) {
    const last = steps.at(-1);
    if (last !== undefined && random.chance(retried)) steps.push(last);
    else if (last !== undefined && random.chance(reread)) steps.push({ ...random.pick(steps), said: undefined });
    else steps.push(stepOf(random, project));
  }
  return steps;
};

while (written < Number(megabytes) * 1e6) {
  count += 1;
  const project = random.pick(projects);
  const format = random.weighted(formats);
  const id = random.uuid();
  const name = `${format.name}/${String(count).padStart(5, '0')}`;
  const steps = stepsOf(project, random.skewed(10, 300));
  const lines = [...format(random, { id, steps })];
  write(name, lines);
  if (format !== claudeCode) continue;
  if (random.chance(delegated)) {
    const own = stepsOf(project, random.skewed(5, 60));
    write(`${name}/subagents/agent-${random.hex(16)}`, [...claudeCode(random, { id, steps: own, isSidechain: true })]);
  }
  if (random.chance(resumed)) {
    const later = { id: random.uuid(), steps: stepsOf(project, random.skewed(5, 60)), startSecond: resumedAfter };
    write(`${name}-resumed`, [...lines, ...claudeCode(random, later)]);
  }
}
console.log(`${count} sessions, ${(written / 1e6).toFixed(1)} MB`);
