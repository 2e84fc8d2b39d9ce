/**
 * `npm run bench:live`: the same tasks with and without the operators, by real models. Calls every provider whose key is
 * set, and reports that it did not if none is. `-- --rounds 3` repeats each task.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { compaction } from '@h/compaction';
import { failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { loopDetect } from '@h/loop-detect';
import { prompt } from '@h/prompt';
import { security } from '@h/security';
import { toolDriver, tools } from '@h/tools';
import { harness, reply } from '@h/turn';
import { workspaceTools } from '@h/workspace';
import { liveProviders } from '../src/live/providers.js';

/** Small tasks with a result that a program can check. */
const tasks = [
  {
    title: 'replace a number in a file',
    files: { 'config.json': '{ "port": 3000, "host": "localhost" }\n' },
    input: 'Set the port in config.json to 8080. Change nothing else.',
    isDone: (read) =>
      JSON.parse(read('config.json')).port === 8080 && JSON.parse(read('config.json')).host === 'localhost',
  },
  {
    title: 'find a name in a long log',
    files: {
      'build.log': Array.from({ length: 6000 }, (_, line) =>
        line === 4711 ? 'ERROR worker-17 lost its lease E4711' : `INFO worker-${line % 40} finished step ${line}`,
      ).join('\n'),
    },
    input: 'Which worker has an error in build.log? Write its name, and nothing else, into answer.txt.',
    isDone: (read) => read('answer.txt').trim() === 'worker-17',
  },
  {
    title: 'rename a function in three files',
    files: {
      'a.js': 'export const sum = (a, b) => a + b;\n',
      'b.js': "import { sum } from './a.js';\nexport const twice = (x) => sum(x, x);\n",
      'c.js': "import { sum } from './a.js';\nconsole.log(sum(1, 2));\n",
    },
    input: 'Rename the function sum to add in all files.',
    isDone: (read) =>
      ['a.js', 'b.js', 'c.js'].every((file) => /\badd\b/.test(read(file)) && !/\bsum\b/.test(read(file))),
  },
];

const instructions = 'You work in a folder. Use the tools to read and change files, then answer in one sentence.';
const stacks = {
  without: () => [],
  with: (driver) => [
    guardrails({ maxSteps: 30 }),
    failover(),
    prompt({ frozen: [{ id: 'instructions', text: instructions }] }),
    compaction(),
    loopDetect(),
    tools({ driver, contextWindow: 200_000 }),
    security(),
  ],
};

const runTask = async ({ files, input, isDone }, model, stack) => {
  const root = mkdtempSync(join(tmpdir(), 'h-live-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
    const driver = toolDriver(workspaceTools({ root }).tools);
    const base = { model, tools: driver, maxModelCalls: 40, ...(stack === 'without' && { system: instructions }) };
    const started = performance.now();
    const { outcome, usage } = await reply(
      harness(base)
        .pipe(...stacks[stack](driver))
        .turn({ session: 'live', input }),
    );
    const seconds = (performance.now() - started) / 1000;
    return { outcome, usage, seconds, isDone: outcome === 'completed' && succeeds(root, isDone) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

/** A missing or invalid file is a failure. */
const succeeds = (root, isDone) => {
  try {
    return isDone((name) => readFileSync(join(root, name), 'utf8'));
  } catch {
    return false;
  }
};

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '1' } } });
const { providers, missing } = liveProviders(process.env);
for (const key of missing) console.log(`${key} is not set: its provider was not called.`);
if (providers.length === 0) console.log('No task ran, because no key is set.');
else {
  console.log('| provider | task | operators | done | input | cached | output | seconds | outcome |');
  console.log('|---|---|---|--:|--:|--:|--:|--:|---|');
}
for (const { name, model, driver } of providers) {
  for (const task of tasks) {
    for (const stack of Object.keys(stacks)) {
      const results = [];
      for (let round = 0; round < Number(values.rounds); round += 1) results.push(await runTask(task, driver, stack));
      const sum = (of) => results.reduce((total, result) => total + of(result), 0);
      const cells = [
        `${name}/${model}`,
        task.title,
        stack,
        `${results.filter(({ isDone }) => isDone).length} of ${results.length}`,
        sum(({ usage }) => usage.input),
        sum(({ usage }) => usage.cacheRead),
        sum(({ usage }) => usage.output),
        sum(({ seconds }) => seconds).toFixed(1),
        [...new Set(results.map(({ outcome }) => outcome))].join(', '),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
}
