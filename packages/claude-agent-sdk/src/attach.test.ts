import { deny, intercept, type TurnEvent } from '@h/turn';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bash, calls, canRun, Claude } from '../test/claude.js';
import { operator, redact, spy } from '../test/operators.js';
import { attach } from './index.js';

/** Runs the real Claude Code, whose model is scripted, on loopback. */
describe.skipIf(!canRun)('attach in Claude Code', () => {
  let claude: Claude;
  beforeEach(async () => {
    claude = await Claude.start();
  });
  afterEach(() => claude.stop());
  const path = (name: string): string => join(claude.folder, name);

  it('denies, rewrites, redacts and keeps everything else', async () => {
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
      ],
      attach(rules, redact('hunter2'), spy(events)).options,
    );
    expect(run.error).toBeUndefined();
    expect(run.text).toBe('Done.');
    expect(run.results['denied']).toContain('Files are not deleted here.');
    expect(existsSync(path('notes.txt'))).toBe(true);
    expect(run.results['changed']).toBe('changed');
    expect(run.results['read']).toContain('the password is [redacted]');
    expect(run.results['both']).toBe('[redacted]\n[redacted]');
    expect(run.results['written']).toContain('File created');
    expect(run.lastRequest).not.toContain('password is hunter2');
    expect(events.filter(({ type }) => type === 'model.request')).toHaveLength(run.requests);
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(6);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed', steps: 4 });
  });

  it('withholds a result if an operator throws at it', async () => {
    const crash = operator({
      'tool.result': () => {
        throw new RangeError('The redactor has a bug.');
      },
    });
    const run = await claude.run([calls(bash('a', 'echo hunter2'))], attach(crash).options);
    expect(run.requests).toBe(1);
    expect(JSON.stringify(run.messages.filter(({ type }) => type === 'user'))).not.toContain('hunter2');
  });

  it('applies the rules to a sub-agent, which has its own turn', async () => {
    const events: TurnEvent[] = [];
    const rules = intercept('rules', () => {
      let count = 0;
      return {
        decide: {
          'tool.call': (event) => {
            count += 1;
            return event.call.name === 'Bash' ? deny(event, `Call ${count} of this turn is denied.`) : undefined;
          },
        },
      };
    });
    const task = { description: 'x', prompt: 'SUB', subagent_type: 'general-purpose', run_in_background: false };
    const run = await claude.run(
      [calls(['agent', 'Agent', task]), calls(bash('inner', `touch ${path('ran')}`)), { content: 'Sub done.' }],
      attach(rules, spy(events)).options,
    );
    expect(run.text).toBe('Done.');
    expect(run.results['inner']).toContain('Call 1 of this turn is denied.');
    expect(existsSync(path('ran'))).toBe(false);
    const starts = events.filter((event) => event.type === 'turn.start');
    expect(starts.map(({ trigger }) => trigger)).toEqual(['user', 'subagent']);
    expect(starts[1]?.session.startsWith(`${starts[0]?.session}/`)).toBe(true);
  });
});
