import type { FixtureFileResponse } from '@copilotkit/aimock';
import { expect } from 'vitest';

/** What a program printed, and the requests that it made. */
export interface Run {
  readonly output: string;
  readonly requests: readonly { readonly model: string; readonly body: string }[];
}

/** Runs the program with the answers of a scripted provider, and an input on the standard input. */
export type RunProgram = (script: readonly FixtureFileResponse[], input?: string) => Promise<Run>;

/** What a program must do. */
export interface Program {
  readonly name: string;
  readonly title: string;
  readonly check: (run: RunProgram) => Promise<void>;
}

const call = (name: string, input: unknown, id = `${name}-1`): FixtureFileResponse => ({
  toolCalls: [{ name, arguments: JSON.stringify(input), id }],
});

/** The programs of `src`, all of which two tests run: in one process, and each in a separate process. */
export const programs: readonly Program[] = [
  {
    name: 'failover',
    title: 'continues with the second key',
    check: async (run) => {
      const { output, requests } = await run([
        { error: { message: 'You exceeded your current quota.', type: 'insufficient_quota' }, status: 429 },
        { content: 'Hello.' },
      ]);
      expect(requests.map(({ model }) => model)).toEqual(['gpt-5-mini', 'gpt-5-mini']);
      expect(output.trimEnd().split('\n').slice(-3)).toEqual([
        'team calls openai/gpt-5-mini',
        'reserve calls openai/gpt-5-mini',
        'Hello.',
      ]);
      expect(requests.map(({ model }) => model)).toEqual(['gpt-5-mini', 'gpt-5-mini']);
    },
  },

  {
    name: 'guardrails',
    title: 'makes the last step of the budget a summary',
    check: async (run) => {
      const searches = ['a', 'b', 'c'].map((query) => call('search', { query }, query));
      const { output, requests } = await run([...searches, { content: 'Nothing was found.' }]);
      expect(output).toBe('Nothing was found.\n');
      expect(requests).toHaveLength(4);
      expect(requests[3]?.body).toContain('"tool_choice":"none"');
    },
  },

  {
    name: 'commands',
    title: 'runs the harmless command and refuses the other one',
    check: async (run) => {
      const { output } = await run([
        call('bash', { command: 'echo build' }),
        call('bash', { command: 'rm -rf /' }),
        { content: 'Cleaned.' },
      ]);
      expect(output).toContain('$ echo build\nbuild\n');
      expect(output).toContain('$ rm -rf /\nNot run: ');
      expect(output).toContain('Cleaned.');
    },
  },

  {
    name: 'claude-code-hook',
    title: 'denies, asks, and leaves everything else to Claude Code',
    check: async (run) => {
      const judge = async (command: string): Promise<unknown> => {
        const input = {
          session_id: 's',
          cwd: '/work',
          hook_event_name: 'PreToolUse',
          tool_name: 'Bash',
          tool_input: { command },
        };
        const { output } = await run([], JSON.stringify(input));
        return output === '' ? undefined : (JSON.parse(output) as { hookSpecificOutput: object }).hookSpecificOutput;
      };
      expect(await judge('git status')).toBeUndefined();
      expect(await judge('sudo rm -rf / || true')).toMatchObject({
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringMatching(/./) as string,
      });
      expect(await judge('git reset --hard')).toMatchObject({ permissionDecision: 'ask' });
    },
  },

  {
    name: 'compaction',
    title: 'keeps each request within the window',
    check: async (run) => {
      const pages = Array.from({ length: 8 }, (_, page) => call('readPage', { page }, `page-${page}`));
      const { requests, output } = await run(pages);
      expect(
        output
          .trimEnd()
          .split('\n')[0]
          ?.split(', ')
          .map(Number)
          .every((tokens) => tokens < 10_000),
      ).toBe(true);
      expect(requests.filter(({ model }) => model === 'gpt-5-mini').every(({ body }) => body.length < 40_000)).toBe(
        true,
      );
      expect(requests.map(({ model }) => model)).toContain('gpt-5-nano');
    },
  },

  {
    name: 'tools',
    title: 'caps a result of a megabyte',
    check: async (run) => {
      const { output, requests } = await run([call('readLog', { service: 'mail' }), { content: 'It is.' }]);
      expect(output).toMatch(/^[34]\d{3} characters It is\.\n$/);
      expect(requests[1]?.body.length).toBeLessThan(6000);
      expect(requests[1]?.body).toContain('mail 49999: ok');
    },
  },

  {
    name: 'hooks',
    title: 'interrupts the graph, and deploys after the approval',
    check: async (run) => {
      const { output } = await run([call('deploy', { version: '1.2.3' }), { content: 'Released.' }]);
      expect(output).toContain('"reason":"A deployment needs approval."');
      expect(output).toContain('Version 1.2.3 is live.\nReleased.');
    },
  },

  {
    name: 'loop-detect',
    title: 'denies the calls of a loop and ends the run with the reason',
    check: async (run) => {
      const calls = Array.from({ length: 30 }, (_, index) => call('run_tests', {}, `run-${index}`));
      const { output, requests } = await run(calls);
      expect(output).toMatch(/^loop-detected: .*\n\d+ calls\n$/);
      expect(requests.length).toBeLessThan(10);
    },
  },

  {
    name: 'security',
    title: 'redacts what the model reads',
    check: async (run) => {
      const { output, requests } = await run([call('read_config', {}), { content: 'In Europe.' }]);
      expect(output).toContain('In Europe.');
      expect(requests[1]?.body).toContain('region: eu');
      expect(`${output}${requests[1]?.body}`).not.toContain('r7Vq');
    },
  },

  {
    name: 'queue',
    title: 'answers the messages of a user in order',
    check: async (run) => {
      const { requests } = await run([]);
      const bodies = requests.map(({ body }) => body);
      expect(bodies).toHaveLength(4);
      expect(bodies.find((body) => body.includes('What is my name?'))).toContain('My name is Alice.');
    },
  },

  {
    name: 'observe',
    title: 'adds up the cost of a session',
    check: async (run) => {
      const { output } = await run([{ content: 'Hello.' }, { content: 'Goodbye.' }]);
      expect(output).toContain('Hello.{"type":"run.completed"');
      expect(output).toMatch(/\n\$0\.0000 \(\d+ input \/ \d+ output tokens\)\n$/);
    },
  },

  {
    name: 'prompt',
    title: 'reports what broke the cache',
    check: async (run) => {
      const { output, requests } = await run([]);
      expect(output).toContain('The cache was broken by {"part":"session","id":"rules","change":"changed"');
      expect(requests[1]?.body).toContain('Answer in two sentences.');
    },
  },
];
