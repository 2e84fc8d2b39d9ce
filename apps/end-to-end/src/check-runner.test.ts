import { hooks } from '@h/hooks';
import { commitGate } from '@h/hooks/commands';
import type { CheckRunner } from '@h/process';
import { harness, reply } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';

describe('a check runner', () => {
  it.each<[string, Awaited<ReturnType<CheckRunner>>, string]>([
    [
      'what failed',
      { exitCode: 2, output: 'one test is red' },
      'failed with exit code 2. Fix that, then commit again.\n\nIts output:\none test is red',
    ],
    [
      'the failure that the runner reports',
      { exitCode: undefined, output: '', failure: 'was lost with its machine' },
      'npm test was lost with its machine. Fix that',
    ],
    [
      'the default reason after a timeout',
      { exitCode: undefined, output: '', failure: 'timed-out' },
      'npm test did not end within 5000 ms. Fix that',
    ],
  ])('gives the commit gate %s', async (_, end, reason) => {
    const run: CheckRunner = () => Promise.resolve(end);
    const model = scriptedModel([response(call('1', 'bash', { command: 'git commit -m x' })), 'Not yet.']);
    const tools = scriptedTools({ bash: () => 'committed' });
    const agent = harness({ model, tools }).pipe(
      hooks([commitGate({ command: 'npm test', cwd: '/work', run, timeoutMs: 5000 })]),
    );
    const { messages } = await reply(agent.turn({ session: 's', input: 'Commit.' }));
    expect(JSON.stringify(messages)).toContain(JSON.stringify(reason).slice(1, -1));
    expect(tools.ran).toHaveLength(0);
  });
});
