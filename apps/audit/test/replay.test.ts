import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hooks } from '@h/hooks';
import { intercept, proceed } from '@h/turn';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { audit, type AuditedSession } from '../src/audit.js';
import { totalsOf } from '../src/analysis/totals.js';
import { findFiles } from '../src/read/find-files.js';
import { defaultStack, loadStack, type Stack } from '../src/replay/stack.js';
import { textReport } from '../src/report/text.js';
import { htmlReport } from '../src/report/html.js';
import picocolors from 'picocolors';
import { claudeCode, codex, openAI, pi, type Step } from './transcripts.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'h-audit-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bash = (command: string, result = 'ok', more: Partial<Step> = {}): Step => ({
  name: 'Bash',
  input: { command },
  result,
  ...more,
});

const replayed = async (text: string, stack: Stack): Promise<AuditedSession> => {
  await writeFile(join(folder, 'a.jsonl'), text);
  const { sessions, skipped } = await audit(await findFiles([folder]), { stack });
  expect(skipped).toEqual([]);
  return sessions[0] as AuditedSession;
};

describe('replay', () => {
  const steps = [bash('npm test', '1 failing'), bash('rm -rf /'), bash('ls', 'a b')];

  it.each([
    ['claude-code', claudeCode],
    ['codex', codex],
    ['pi', pi],
    ['messages', openAI],
  ])('runs every call of %s where no operator interferes', async (_, format) => {
    const { replay } = await replayed(format(steps), () => []);
    expect(replay?.without).toMatchObject({ modelCalls: 4, toolCalls: 3, denied: {}, outcomes: { completed: 1 } });
    expect(replay?.with).toEqual(replay?.without);
  });

  it('counts what the packages deny, stop and cap', async () => {
    const { replay } = await replayed(
      claudeCode([
        bash('rm -rf /'),
        { name: 'Read', input: { path: 'a' }, result: 'word '.repeat(40_000) },
        ...Array.from({ length: 12 }, () => bash('npm test', '1 failing', { isError: true })),
      ]),
      defaultStack,
    );
    expect(replay?.without).toMatchObject({ toolCalls: 14, denied: {}, outcomes: { completed: 1 } });
    expect(replay?.with.denied).toMatchObject({ 'destructive-commands': 1 });
    expect(replay?.with.outcomes).toEqual({ 'loop-detected': 1 });
    expect(replay?.with.toolCalls).toBeLessThan(10);
    expect(replay?.with.largest).toBeLessThan(0.6 * (replay?.without.largest ?? 0));
  });

  it('answers a question once, so that the run continues', async () => {
    const asking: Stack = () => [hooks([{ name: 'ask', beforeTool: () => ({ decision: 'ask', reason: 'Sure?' }) }])];
    const { replay } = await replayed(claudeCode(steps), asking);
    expect(replay?.with).toMatchObject({ approvals: 3, toolCalls: 3, outcomes: { completed: 1 } });
  });

  it('ends where an operator continues a turn beyond its recording', async () => {
    let left = 3;
    const continuing: Stack = () => [
      intercept('continuing', () => ({
        decide: {
          'turn.stop': () => {
            left -= 1;
            return left < 0 ? undefined : proceed([{ role: 'user', content: 'Go on.' }], 'more');
          },
        },
      })),
    ];
    const { replay } = await replayed(claudeCode(steps), continuing);
    expect(replay?.with).toMatchObject({ modelCalls: 7, toolCalls: 3, outcomes: { completed: 1 } });
  });

  it('shows both columns in the reports, equal in each run', async () => {
    const first = await replayed(claudeCode(steps), defaultStack);
    const second = await replayed(claudeCode(steps), defaultStack);
    expect(second).toEqual(first);
    const totals = totalsOf([first], []);
    expect(textReport(totals, [first], picocolors.createColors(false))).toMatch(/calls that ran +3 +2\n/);
    expect(htmlReport(totals, [first])).toContain('<th scope="col">With operators</th>');
  });
});

describe('loadStack', () => {
  it('loads the operators of a module', async () => {
    const path = join(folder, 'stack.mjs');
    await writeFile(path, 'export default () => [(events) => events];');
    expect((await loadStack(path))()).toHaveLength(1);
  });

  it.each([
    ['export const stack = [];', /no default export that is a function/],
    ['export default () => "loopDetect";', /must return a list of operators/],
  ])('rejects %s', async (code, message) => {
    const path = join(folder, 'stack.mjs');
    await writeFile(path, code);
    await expect(loadStack(path).then((stack) => stack())).rejects.toThrow(message);
  });
});
