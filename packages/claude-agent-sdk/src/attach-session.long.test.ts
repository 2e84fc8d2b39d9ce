import { deny, type TurnEvent } from '@h/turn';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bash, calls, canRun, Claude } from '../test/claude.js';
import { operator, redact, spy } from '../test/operators.js';
import { attach } from './index.js';

/** Runs the real Claude Code with a scripted model on loopback. */
describe.skipIf(!canRun)('attach in Claude Code', { timeout: 60_000 }, () => {
  let claude: Claude;
  beforeEach(async () => {
    claude = await Claude.start();
  });
  afterEach(() => claude.stop());
  const path = (name: string): string => join(claude.folder, name);

  it('denies, rewrites and redacts in a session and its sub-agent, and keeps everything else', async () => {
    writeFileSync(path('notes.txt'), 'first line\nthe password is hunter2\n');
    const events: TurnEvent[] = [];
    const rules = operator({
      'tool.call': (event) => {
        const { command } = event.call.input as { readonly command?: string };
        if (command?.startsWith('rm')) return deny(event, 'Files are not deleted here.');
        if (command === 'echo raw') return { ...event, call: { ...event.call, input: { command: 'echo changed' } } };
        return undefined;
      },
    });
    const run = await claude.run(
      [
        calls(bash('denied', `rm ${path('notes.txt')}`), bash('changed', 'echo raw')),
        calls(['read', 'Read', { file_path: path('notes.txt') }], bash('both', 'echo hunter2; echo hunter2 >&2')),
        calls(['written', 'Write', { file_path: path('new.txt'), content: 'x' }], ['unknown', 'Nope', {}]),
        calls([
          'agent',
          'Agent',
          { description: 'x', prompt: 'Sub.', subagent_type: 'general-purpose', run_in_background: false },
        ]),
        calls(bash('inner', `rm ${path('notes.txt')}`), bash('secret', 'echo hunter2')),
        { content: 'The sub-agent is done.' },
      ],
      attach(rules, redact('hunter2'), spy(events)).options,
    );
    expect(run.error).toBeUndefined();
    expect(run.text).toBe('Done.');
    expect(run.results['denied']).toContain('Files are not deleted here.');
    expect(run.results['inner']).toContain('Files are not deleted here.');
    // Claude Code may add a reminder to any result.
    expect(run.results['secret']).toMatch(/^\[redacted\](?!\w)/);
    expect(existsSync(path('notes.txt'))).toBe(true);
    expect(run.results['changed']).toMatch(/^changed(?!\w)/);
    expect(run.results['read']).toContain('the password is [redacted]');
    expect(run.results['both']).toMatch(/^\[redacted\]\n\[redacted\](?!\w)/);
    expect(run.results['written']).toContain('File created');
    expect(run.lastRequest).not.toContain('password is hunter2');
    expect(events.filter(({ type }) => type === 'model.request')).toHaveLength(run.requests);
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(9);
    const starts = events.filter((event) => event.type === 'turn.start');
    expect(starts.map(({ trigger }) => trigger)).toEqual(['user', 'subagent']);
    expect(starts[1]?.session.startsWith(`${starts[0]?.session}/`)).toBe(true);
    const ends = events.filter((event) => event.type === 'turn.end');
    expect(ends).toMatchObject([
      { outcome: 'completed', steps: 2 },
      { outcome: 'completed', steps: 5 },
    ]);
  });
});
