import { call, response, scriptedTools } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { runTurn } from '../../test/turns.js';
import { hooks } from '../hooks.js';
import { destructiveCommands, type DestructiveCommandsOptions } from './destructive-commands.js';

const run = async (input: unknown, options: DestructiveCommandsOptions = {}, name = 'bash') => {
  const tools = scriptedTools({ [name]: 'done' });
  const ran = await runTurn([hooks([destructiveCommands({ cwd: '/work/app', home: '/home/me', ...options })])], {
    tools,
    script: [response(call('c1', name, input)), 'Done.'],
    on: (event, agent) => void (event.type === 'approval.request' && agent.answer(event.id, 'once')),
  });
  return {
    result: ran.of('tool.result')[0],
    asked: ran.of('approval.request').map(({ reason }) => reason),
    ran: tools.ran.length,
  };
};

describe('destructiveCommands', () => {
  it('denies a destructive command and suggests an alternative', async () => {
    const { result, ran, asked } = await run({ command: 'git add -A && git push origin main --force' });
    expect(ran).toBe(0);
    expect(asked).toEqual([]);
    expect(result).toMatchObject({ status: 'denied', by: 'destructive-commands' });
    expect(result).toMatchObject({
      reason:
        'git push origin main --force: It overwrites commits of other people on the remote. Push a new commit; git push --force-with-lease requires approval.',
    });
  });

  it('requests approval for a doubtful command, and runs it if approved', async () => {
    const { ran, asked } = await run({ command: 'git reset --hard' });
    expect(asked).toEqual([expect.stringContaining('git reset --hard: It discards uncommitted changes.')]);
    expect(ran).toBe(1);
  });

  it('allows all other commands', async () => {
    expect(await run({ command: 'rm -rf node_modules dist && npm ci' })).toMatchObject({ ran: 1, asked: [] });
    expect(await run({ path: 'rm -rf /' }, {}, 'write')).toMatchObject({ ran: 1 });
    expect(await run('rm -rf /', {}, 'note')).toMatchObject({ ran: 1 });
  });

  it('finds commands in argument lists, under other keys and with a folder', async () => {
    expect(await run({ command: ['bash', '-lc', 'rm -rf /'] }, {}, 'shell')).toMatchObject({ ran: 0 });
    expect(await run({ command: ['rm', '-rf', "it's"] }, {}, 'shell')).toMatchObject({ ran: 1 });
    expect(await run({ cmd: 'rm -rf /' }, {}, 'exec')).toMatchObject({ ran: 0 });
    expect(await run({ command: 'rm -rf ../b/dist', cwd: 'packages/a' })).toMatchObject({ ran: 1, asked: [] });
    expect((await run({ command: 'rm -rf ../../../other', cwd: 'packages/a' })).asked).toHaveLength(1);
    expect(await run({ command: 'rm -rf etc', cwd: '/' })).toMatchObject({ ran: 0 });
  });

  it('checks only the given tools and the given command', async () => {
    expect(await run({ command: 'rm -rf /' }, { tools: ['shell'] })).toMatchObject({ ran: 1 });
    expect(await run({ command: 'rm -rf /' }, { tools: ['bash'] })).toMatchObject({ ran: 0 });
    const commandOf = ({ input }: { readonly input: unknown }) => (input as { readonly line: string }).line;
    expect(await run({ line: 'rm -rf /' }, { commandOf })).toMatchObject({ ran: 0 });
  });

  it('denies doubtful commands with `doubtful: "deny"`', async () => {
    expect(await run({ command: 'git reset --hard' }, { doubtful: 'deny' })).toMatchObject({ ran: 0, asked: [] });
  });

  it('accepts the options of a policy', async () => {
    expect(await run({ command: 'git push -f' }, { allow: ['git push -f'] })).toMatchObject({ ran: 1, asked: [] });
    expect(await run({ command: 'npm install left-pad' }, { deny: ['npm install *'] })).toMatchObject({ ran: 0 });
    expect(await run({ command: 'git clean -fd' }, { decisions: { 'git/clean': 'allow' } })).toMatchObject({
      ran: 1,
      asked: [],
    });
  });

  it('reports five findings and the number of other findings', async () => {
    const command = Array.from({ length: 8 }, (_, index) => `rm -rf /usr/${index} /etc`).join(';');
    const { result } = await run({ command });
    expect(result).toMatchObject({ reason: expect.stringMatching(/\nAnd 11 more\.$/) as string });
    expect((result as { reason: string }).reason.split('\n')).toHaveLength(6);
  });

  it.each([{ tool: 'x' }, { doubtful: 'allow' }, { tools: 'bash' }, { commandOf: 1 }, { deny: ['*'] }])(
    'rejects %j',
    (options) => {
      expect(() => destructiveCommands(options as never)).toThrow(
        expect.objectContaining({ code: 'invalid-option' }) as Error,
      );
    },
  );
});
