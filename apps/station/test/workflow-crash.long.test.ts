import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';

const station = fileURLToPath(new URL('..', import.meta.url));

/** Runs a workflow over file records and file sessions, and kills itself before the given change of a record. */
const program = `
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { harness, memorySessions } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { fileSessions } from '@h/session';
import { openFileRecords } from './src/service/file-records.ts';
import { recordRuns } from './src/workflows/record-stores.ts';
import { createWorkflows } from './src/workflows/workflows.ts';
import { agentRunner } from './src/workflows/agent-runner.ts';
import { parseWorkflow } from './src/workflows/parse-workflow.ts';

const [folder, killAt] = process.argv.slice(2);
const step = (name, input, next, more = '') =>
  '  - { name: ' + name + ', type: agent, agent: a, input: "' + input + '", transition: ' + next + more + ' }\\n';
const text = 'id: flow\\nname: Flow\\nstates:\\n' + step('one', 'First', 'both', ', output: json') +
  '  - { name: both, type: parallel, transition: pause, branches: [{ name: x, agent: a, input: "X {{one.n}}" }, { name: y, agent: a, input: "Y {{one.n}}" }] }\\n' +
  '  - { name: pause, type: wait, for: 1ms, transition: ask }\\n  - { name: ask, type: approval, transition: last }\\n' +
  step('last', '{{both.x}} {{both.y}} {{ask}}', 'end');
const { workflow } = parseWorkflow(text, 'flow.yaml', ['a']);
const records = await openFileRecords(join(folder, 'records'));
let changes = 0;
const dying = {
  insert: (record) => records.insert(record),
  get: (...given) => records.get(...given),
  list: (...given) => records.list(...given),
  update: (...given) => {
    if (String((changes += 1)) === killAt) process.kill(process.pid, 'SIGKILL');
    return records.update(...given);
  },
};
const answer = (request) => {
  const last = request.messages.at(-1);
  const asked = JSON.stringify(last.content);
  appendFileSync(join(folder, 'calls'), asked + '\\n');
  return asked.includes('First') ? '{"n":7}' : asked.replace(/.*"text":"/, '').replace(/".*/, '');
};
const agent = harness({
  model: scriptedModel(Array.from({ length: 100 }, () => answer)),
  sessions: fileSessions({ directory: join(folder, 'sessions') }),
}).pipe();
const workflows = createWorkflows({
  workflows: [workflow],
  store: recordRuns(dying),
  runAgent: agentRunner(() => agent),
  askApproval: async () => 'approved',
  onError: (error) => { throw error; },
});
await workflows.start('t', 'flow', {}, 'one-run');
await workflows.resume();
await workflows.idle();
const [run] = await workflows.runs('t');
console.log(JSON.stringify({ changes, state: run.state, error: run.error, steps: run.steps.map((one) => [one.state, one.attempt, one.status, one.output]).sort() }));
process.exit(0);
`;

interface Outcome {
  readonly changes: number;
  readonly state: string;
}

describe('a workflow whose process is killed with SIGKILL', () => {
  it('continues at every record without a second model call', async () => {
    const folder = temporaryFolder();
    const main = join(folder, 'main.mjs');
    await build({
      stdin: { contents: program, resolveDir: station, loader: 'ts' },
      outfile: main,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@h/source'],
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    const start = async (data: string, killAt: number): Promise<Outcome | undefined> => {
      await appendFile(join(data, 'calls'), '');
      const child = spawn(process.execPath, [main, data, String(killAt)], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const [, signal] = (await once(child, 'close')) as [number | null, string | null];
      return signal === 'SIGKILL' ? undefined : (JSON.parse(output) as Outcome);
    };
    const calls = async (data: string): Promise<readonly string[]> =>
      (await readFile(join(data, 'calls'), 'utf8')).trim().split('\n').toSorted();
    const whole = temporaryFolder();
    const { changes = 0, ...expected } = (await start(whole, 0)) ?? {};
    expect(expected).toMatchObject({ state: 'completed', error: null });
    expect(await calls(whole)).toHaveLength(4);
    for (let killAt = 1; killAt <= changes; killAt += 1) {
      const data = temporaryFolder();
      expect(await start(data, killAt)).toBeUndefined();
      const { changes: _, ...resumed } = (await start(data, 0)) ?? { changes: 0 };
      expect(resumed).toEqual(expected);
      const made = await calls(data);
      const repeated = made.filter((each, index) => made.indexOf(each) !== index);
      expect([...new Set(made)]).toEqual(await calls(whole));
      // While one branch kills the process, the answer of the other may have arrived and not be stored.
      expect(repeated.filter((each) => !/\b[XY] 7/.test(each))).toEqual([]);
      expect(repeated.length).toBeLessThanOrEqual(1);
    }
    expect(changes).toBeGreaterThan(12);
  });
});
