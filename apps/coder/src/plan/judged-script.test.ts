import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localChecks } from '@h/process';
import type { ApprovalDecision } from '@h/turn';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { refuser, type Questioner } from '../view/questions.js';
import { judgedScript } from './judged-script.js';

const answering = (decision: ApprovalDecision['decision']) => {
  const ask = vi.fn<Questioner['ask']>(() => Promise.resolve({ decision } as ApprovalDecision));
  return { ask, abandon: () => undefined } satisfies Questioner;
};

const runnerOf = (script: string, questions?: Questioner, signal = new AbortController().signal) => {
  const cwd = temporaryFolder();
  const path = join(cwd, 'workspace.sh');
  writeFileSync(path, script);
  const run = judgedScript(localChecks(), { path, questions });
  return async () => run({ command: 'bash workspace.sh', cwd, timeoutMs: 10_000, maxChars: 1_000, signal });
};

const doubtful = 'echo ran\ngit push origin main 2>/dev/null || true\n';

describe('judgedScript', () => {
  it('runs a script that the rules allow, without a question', async () => {
    const questions = answering('deny');
    const run = runnerOf('set -e\nmkdir -p tmp\necho ran\n', questions);
    expect(await run()).toMatchObject({ exitCode: 0, output: 'ran\n' });
    expect(questions.ask).not.toHaveBeenCalled();
  });

  it('does not run a script that the rules deny, and reports the command', async () => {
    const questions = answering('once');
    const run = runnerOf('echo ran\nrm -rf ~/\n', questions);
    expect(await run()).toMatchObject({
      output: '',
      failure: expect.stringMatching(/^not run: rm -rf .*: /) as string,
    });
    expect(questions.ask).not.toHaveBeenCalled();
  });

  it.each([
    ['nobody answers', undefined],
    ['every question is refused', refuser],
    ['the answer is no', answering('deny')],
  ])('does not run a doubtful script if %s', async (_, questions) => {
    expect(await runnerOf(doubtful, questions)()).toMatchObject({
      output: '',
      failure: expect.stringContaining('push') as string,
    });
  });

  it('asks once about a doubtful script', async () => {
    const questions = answering('once');
    const run = runnerOf(doubtful, questions);
    expect((await run()).output).toContain('ran');
    expect((await run()).output).toContain('ran');
    expect(questions.ask).toHaveBeenCalledTimes(1);
    expect(questions.ask.mock.calls[0]?.[0]?.lines?.[0]).toContain('git push origin main');
  });

  it('withdraws the question when the check is aborted', async () => {
    const check = new AbortController();
    let deny = (): void => undefined;
    const ask = (): Promise<ApprovalDecision> => {
      queueMicrotask(() => check.abort());
      return new Promise((resolve) => (deny = () => resolve({ decision: 'deny' })));
    };
    const run = runnerOf(doubtful, { ask, abandon: () => deny() }, check.signal);
    expect(await run()).toMatchObject({ output: '', failure: expect.stringContaining('push') as string });
  });
});
