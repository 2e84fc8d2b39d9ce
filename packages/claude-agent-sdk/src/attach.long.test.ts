import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { deny, intercept, keep, proceed, stop, type TurnEvent } from '@h/turn';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bash, calls, canRun, Claude } from '../test/claude.js';
import { approval, operator, redact, spy } from '../test/operators.js';
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

  it('asks a person before a call, in the permission mode that skips all prompts', async () => {
    const asked: string[] = [];
    const { options } = attach(
      {
        canUseTool: async (_name, { command }, { decisionReason }) => {
          asked.push(`${decisionReason} ${String(command)}`);
          if (command === 'echo allowed') {
            return { behavior: 'allow', updatedInput: { command, description: 'A command.' } };
          }
          if (command === 'echo edited') return { behavior: 'allow', updatedInput: { command: 'echo other' } };
          if (command === 'echo denied') return { behavior: 'deny', message: 'Not today.' };
          throw new RangeError('no terminal');
        },
      },
      approval(({ call }) => call.name === 'Bash'),
    );
    const commands = ['allowed', 'edited', 'denied', 'failed'];
    const run = await claude.run([calls(...commands.map((id) => bash(id, `echo ${id}`)))], options);
    expect(asked.toSorted()).toEqual(commands.map((id) => `May Bash run? echo ${id}`).toSorted());
    expect(run.results['allowed']).toBe('allowed');
    expect(run.results['edited']).toContain('"command":"echo other"');
    expect(run.results['denied']).toContain('Not today.');
    expect(run.results['failed']).toContain('The approval failed: no terminal');
  });

  it('denies a call that needs approval if no person can be asked', async () => {
    const { options } = attach(approval(() => true));
    const run = await claude.run([calls(bash('a', `touch ${path('ran')}`))], options);
    expect(run.results['a']).toContain('No person can be asked');
    expect(existsSync(path('ran'))).toBe(false);
  });

  it('stops before the next model call', async () => {
    const limit = operator({
      'tool.call': () => undefined,
      'model.request': ({ step }) => (step > 2 ? stop('max-steps', 'Two steps are enough.') : undefined),
    });
    const run = await claude.run(
      [1, 2, 3, 4].map((id) => calls(bash(`${id}`, 'echo x'))),
      attach(limit).options,
    );
    expect(run.requests).toBe(2);
    expect(run.error).toBeUndefined();
  });

  it('stops at a tool call, of which none runs any more', async () => {
    const events: TurnEvent[] = [];
    const loop = operator({
      'tool.call': ({ step }) => (step > 1 ? stop('loop-detected', 'The calls go in circles.') : undefined),
    });
    const run = await claude.run(
      [calls(bash('1', 'echo x')), calls(bash('2', `touch ${path('ran')}`), bash('3', `touch ${path('ran')}`))],
      attach(loop, spy(events)).options,
    );
    expect(run.requests).toBe(2);
    expect(existsSync(path('ran'))).toBe(false);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'loop-detected' });
  });

  it('rejects a prompt without a model call', async () => {
    const run = await claude.run(
      [],
      attach(operator({ 'turn.start': () => stop('blocked', 'It is Sunday.') })).options,
    );
    expect(run.requests).toBe(0);
    expect(run.text).toContain('It is Sunday.');
  });

  it.each(['tool.call', 'turn.start', 'model.request'] as const)(
    'denies the call if an operator throws at %s',
    async (type) => {
      const crash = operator({
        'tool.result': () => undefined,
        [type]: () => {
          throw new RangeError('The rule has a bug.');
        },
      });
      const run = await claude.run([calls(bash('a', `touch ${path('ran')}`))], attach(crash).options);
      expect(existsSync(path('ran'))).toBe(false);
      expect(run.requests).toBeLessThanOrEqual(1);
    },
  );

  it('does not run a call that operators hold for too long', async () => {
    const hold = operator({ 'tool.call': () => new Promise(() => undefined) });
    const run = await claude.run(
      [calls(bash('a', `touch ${path('ran')}`))],
      attach({ timeoutSeconds: 1 }, hold).options,
    );
    expect(run.results['a']).toContain('not executed');
    expect(existsSync(path('ran'))).toBe(false);
  });

  it('stops before the model reads a failed output from which operators removed something', async () => {
    const run = await claude.run([calls(bash('a', 'echo hunter2; exit 3'))], attach(redact('hunter2')).options);
    expect(run.requests).toBe(1);
    const { options } = attach({ failedOutput: 'warn' }, redact('hunter2'));
    const lax = await claude.run([calls(bash('a', 'echo hunter2; exit 3'))], options);
    expect(lax.requests).toBe(2);
  });

  it('adds the notes of operators to results, requests and failures', async () => {
    const notes = operator({
      'tool.result': (event) =>
        'value' in event.output && typeof event.output.value === 'string'
          ? { ...event, output: { type: 'text', value: `${event.output.value}\n\n[note ${event.call.id}]` } }
          : undefined,
      'model.request': (event) => ({ ...event, tail: [{ role: 'user', content: `[tail ${event.step}]` }] }),
    });
    const run = await claude.run([calls(bash('ok', 'echo x'), bash('bad', 'echo y; exit 3'))], attach(notes).options);
    for (const note of ['[note ok]', '[note bad]', '[tail 1]', '[tail 2]']) expect(run.lastRequest).toContain(note);
  });

  it('notices that another hook has replaced a redacted output', async () => {
    const { hooks } = attach(redact('hunter2')).options;
    const identity = async (input: object) => ({
      hookSpecificOutput: {
        hookEventName: 'PostToolUse' as const,
        updatedToolOutput: (input as { tool_response?: unknown }).tool_response,
      },
    });
    const PostToolUse = [...(hooks.PostToolUse ?? []), { hooks: [identity] }];
    const run = await claude.run([calls(bash('a', 'echo hunter2'))], { hooks: { ...hooks, PostToolUse } });
    const read = run.requests > 1 ? run.lastRequest : '';
    expect(read).not.toContain('hunter2\\n');
    expect(run.results['a'] ?? '[redacted]').toBe('[redacted]');
  });

  it('judges the input that another hook gave a call, and ends the turn if operators do not allow it', async () => {
    const events: TurnEvent[] = [];
    const rules = operator({
      'tool.call': (event) =>
        JSON.stringify(event.call.input).includes('forbidden') ? deny(event, 'It is forbidden.') : undefined,
    });
    const { hooks } = attach(rules, spy(events)).options;
    const run = (command: string) => {
      const other = async () => ({
        hookSpecificOutput: { hookEventName: 'PreToolUse' as const, updatedInput: { command, description: 'x' } },
      });
      const PreToolUse = [...(hooks.PreToolUse ?? []), { hooks: [other] }];
      return claude.run([calls(bash('a', 'echo first'))], { hooks: { ...hooks, PreToolUse } });
    };
    const allowed = await run('echo second');
    expect([allowed.results['a'], allowed.requests]).toEqual(['second', 2]);
    const judged = events.filter((event) => event.type === 'tool.result').map(({ call }) => call.input);
    expect(judged).toContainEqual({ command: 'echo second', description: 'x' });
    const denied = await run('echo forbidden');
    expect(denied.requests).toBe(1);
    expect(denied.results['a']).toBeUndefined();
    expect(events.filter((event) => event.type === 'turn.end').map((event) => event.error?.code)).toContain(
      'input-not-allowed',
    );
  });

  it('separates sessions that run at once and keeps the state of a session for its next prompt', async () => {
    const starts: unknown[] = [];
    const counter = intercept('counter', () => {
      let before = 0;
      return {
        observe: {
          'session.loaded': ({ session, state }) => {
            before = Number(state['counter'] ?? 0);
            starts.push([session, before]);
          },
        },
        decide: { 'turn.stop': (event) => [keep('counter', before + 1), event] },
      };
    });
    const { options } = attach(counter);
    const other = await Claude.start();
    try {
      const [first, second] = await Promise.all([claude.run([], options), other.run([], options)]);
      const sessionOf = ({ messages }: typeof first): string => messages[0]?.session_id ?? '';
      const again = await claude.run([], { ...options, resume: sessionOf(first) });
      expect(again.error).toBeUndefined();
      expect(new Set(starts.slice(0, 2).map(String))).toEqual(
        new Set([`${sessionOf(first)},0`, `${sessionOf(second)},0`]),
      );
      expect(starts[2]).toEqual([sessionOf(first), 1]);
    } finally {
      await other.stop();
    }
  });

  it('continues a turn with the message of an operator', async () => {
    const again = intercept('again', () => {
      let isSent = false;
      return {
        decide: {
          'turn.stop': ({ outcome }) => {
            if (isSent || outcome !== 'completed') return undefined;
            isSent = true;
            return proceed([{ role: 'user', content: 'Run the tests first.' }], 'tests');
          },
        },
      };
    });
    const run = await claude.run([{ content: 'Finished.' }], attach(again).options);
    expect(run.requests).toBe(2);
    expect(run.lastRequest).toContain('Run the tests first.');
  });

  it('ends a turn that was interrupted in a tool when the next prompt begins', async () => {
    const events: TurnEvent[] = [];
    let next: (() => void) | undefined;
    const prompt = async function* (): AsyncGenerator<SDKUserMessage> {
      const message = { type: 'user', parent_tool_use_id: null } as const;
      yield { ...message, message: { role: 'user', content: 'First.' } };
      await new Promise<void>((resolve) => {
        next = resolve;
      });
      yield { ...message, message: { role: 'user', content: 'Second.' } };
    };
    const run = await claude.run(
      [calls(bash('slow', `touch ${path('started')}; sleep 60`))],
      attach(
        operator({
          'tool.call': (event) => void event,
        }),
        spy(events),
      ).options,
      {
        prompt: prompt(),
        onMessage: async (message, running) => {
          if (message.type === 'assistant' && JSON.stringify(message).includes('sleep 60')) void running.interrupt();
          if (message.type === 'result') next?.();
          if (message.type === 'result' && message.subtype === 'success') running.close();
        },
      },
    );
    expect(run.text).toBe('Done.');
    const ends = events.filter((event) => event.type === 'turn.end');
    expect(ends.map(({ outcome }) => outcome)).toEqual(['cancelled', 'completed']);
    expect(events.filter((event) => event.type === 'tool.result').map(({ status }) => status)).toEqual(['cancelled']);
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

  it('stops only a sub-agent, and tells the model of its session why', async () => {
    const events: TurnEvent[] = [];
    const limit = intercept('limit', () => {
      let isChild = false;
      return {
        observe: { 'turn.start': ({ session }) => void (isChild = session.includes('/')) },
        decide: {
          'tool.call': () => undefined,
          'model.request': ({ step }) =>
            isChild && step > 1 ? stop('loop-detected', 'It goes in circles.') : undefined,
        },
      };
    });
    const task = { description: 'x', prompt: 'SUB', subagent_type: 'general-purpose', run_in_background: false };
    const run = await claude.run(
      [calls(['agent', 'Agent', task]), calls(bash('inner', 'echo 1')), calls(bash('outer', 'echo 2'))],
      attach(limit, spy(events)).options,
    );
    expect([run.text, run.requests]).toEqual(['Done.', 4]);
    expect(run.lastRequest).toContain('An operator stopped the sub-agent: It goes in circles.');
    const ends = events.filter((event) => event.type === 'turn.end');
    expect(ends.map(({ outcome }) => outcome)).toEqual(['loop-detected', 'completed']);
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
