import { call, response, scriptedTools } from '@h/turn/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTurn } from '../../test/turns.js';
import { hooks } from '../hooks.js';
import { approvals, type ApprovalsOptions } from './approvals.js';

const asked = async (
  name: string,
  input: unknown,
  options: ApprovalsOptions = {},
  effect?: 'destructive' | 'read-only',
) => {
  const tools = scriptedTools({ [name]: 'done' }, { [name]: { ...(effect && { effect }) } });
  const ran = await runTurn([hooks([approvals({ cwd: '/work', ...options })])], {
    tools,
    script: [response(call('c1', name, input)), 'Done.'],
    on: (event, agent) => void (event.type === 'approval.request' && agent.answer(event.id, 'once')),
  });
  expect(ran.tools.ran).toHaveLength(1);
  return ran.of('approval.request');
};

describe('approvals', () => {
  it.each([
    'git push',
    'cd app && git push origin main',
    'git -C app push --tags',
    'gh pr create --fill',
    'npx prisma migrate deploy',
    'kubectl apply -f prod.yaml',
    'vercel --prod',
    'bash -c "git push"',
  ])('are required for %s', async (command) => {
    expect(await asked('bash', { command })).toHaveLength(1);
  });

  it.each([
    'git status',
    'echo "git push"',
    'git commit -m "git push later"',
    'grep -r "gh pr create" docs',
    'npm test',
    'git push --dry-run',
  ])('are not required for %s', async (command) => {
    expect(await asked('bash', { command })).toHaveLength(0);
  });

  it('are required for tools with risky names or a destructive effect', async () => {
    expect(await asked('mcp__github__create_pull_request', { title: 'x' })).toHaveLength(1);
    expect(await asked('deploy_app', {})).toHaveLength(1);
    expect(await asked('mcp__github__list_pull_requests', {})).toHaveLength(0);
    expect(await asked('wipe', {}, {}, 'destructive')).toHaveLength(1);
    expect(await asked('mcp__github__create_pull_request', {}, { tools: [] })).toHaveLength(0);
    expect(await asked('mail', {}, { tools: [{ tool: 'ma*', why: 'It writes to people.' }] })).toMatchObject([
      { reason: 'It writes to people.' },
    ]);
  });

  it('offer a pattern only if it covers the whole command', async () => {
    const patternsOf = async (command: string) => (await asked('bash', { command }))[0]?.annotations?.['hooks'];
    expect(await patternsOf('git push origin main')).toMatchObject({ patterns: ['git push *'] });
    expect(await patternsOf('make test && git push')).toMatchObject({ patterns: [] });
  });

  it('are required for every call or for none, depending on the mode', async () => {
    expect(await asked('bash', { command: 'ls' }, { mode: 'always' })).toHaveLength(1);
    expect(await asked('read', { path: 'a' }, { mode: 'always' }, 'read-only')).toHaveLength(0);
    expect(await asked('bash', { command: 'git push' }, { mode: 'never' })).toHaveLength(0);
  });

  it('use the given judge, which receives the folder', async () => {
    const folders: string[] = [];
    const judge: ApprovalsOptions['judge'] = (command, { cwd }) => {
      folders.push(cwd);
      return { findings: [{ argv: [command], why: 'Because.' }] };
    };
    expect(await asked('bash', { command: 'ls', cwd: 'app' }, { judge })).toMatchObject([{ reason: 'Because.' }]);
    await asked('bash', { command: 'ls', cwd: '/elsewhere' }, { judge });
    await asked('bash', { command: 'ls' }, { judge });
    expect(folders).toEqual(['/work/app', '/elsewhere', '/work']);
  });

  it('never throw for any call', () => {
    const hook = approvals({ cwd: '/work' });
    const context = {
      turn: 't',
      session: 's',
      step: 1,
      at: 0,
      trigger: 'user',
      signal: new AbortController().signal,
      notify: () => undefined,
    };
    const input = fc.oneof(fc.anything(), fc.record({ command: fc.string(), cwd: fc.option(fc.string()) }));
    fc.assert(
      fc.property(fc.string(), input, (name, value) => {
        hook.beforeTool?.({ ...context, call: { id: '1', name, input: value } });
      }),
      { numRuns: 300 },
    );
  });

  it.each([{ mode: 'sometimes' }, { judge: 1 }, { tools: [{ name: 'x' }] }, { cwd: 1 }, { folder: '/' }])(
    'reject %j',
    (options) => {
      expect(() => approvals(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error);
    },
  );
});
