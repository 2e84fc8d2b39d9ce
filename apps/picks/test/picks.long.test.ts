import { LLMock, type FixtureFileResponse, type FixtureResponse } from '@copilotkit/aimock';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const sources = new URL('../src/', import.meta.url);
/** Inside the app, so that the programs find the frameworks. */
const programs = new URL('../.cache/', import.meta.url);
const maxLines = 40;
/** Loaded as they are installed; the packages of h come from their sources. */
const frameworks = [
  'ai',
  '@ai-sdk/openai',
  '@earendil-works/pi-agent-core',
  '@earendil-works/pi-ai',
  'langchain',
  '@langchain/core',
  '@langchain/langgraph',
  '@langchain/openai',
  '@openai/agents',
  'zod',
];

const introduction = `# Picks

Short programs, each with one package of \`h\` in an agent that does not know the rest. Copy one, and set \`OPENAI_API_KEY\`. They are in
[apps/picks](../apps/picks), and the tests run each of them against a scripted provider.
`;

const call = (name: string, input: unknown, id = `${name}-1`): FixtureFileResponse => ({
  toolCalls: [{ name, arguments: JSON.stringify(input), id }],
});

interface Run {
  readonly output: string;
  readonly requests: readonly { readonly model: string; readonly body: string }[];
}

/** Runs a program as a user would, against a scripted provider. Fails unless it exits by itself with code 0. */
const run = async (name: string, script: readonly FixtureFileResponse[], input = ''): Promise<Run> => {
  const answers = [...script];
  const mock = new LLMock({ port: 0 });
  mock.on({ predicate: () => true }, () => (answers.shift() ?? { content: 'Done.' }) as FixtureResponse);
  await mock.start();
  try {
    const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}.mjs`, programs))], {
      env: {
        PATH: process.env['PATH'],
        OPENAI_BASE_URL: `${mock.url}/v1`,
        OPENAI_API_KEY: 'sk-first',
        OPENAI_RESERVE_KEY: 'sk-second',
      },
    });
    child.stdin.end(input);
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    expect({ code: child.exitCode, errors }).toEqual({ code: 0, errors: '' });
    const requests = mock.getRequests().map(({ body }) => ({
      model: String((body as { readonly model?: string }).model),
      body: JSON.stringify(body),
    }));
    return { output, requests };
  } finally {
    await mock.stop();
  }
};

/** Bundled CommonJS modules call `require` for built-in modules. */
const requireInBundle = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`;

const names = (await readdir(sources)).map((file) => file.replace(/\.ts$/, ''));

beforeAll(async () => {
  await build({
    entryPoints: names.map((name) => fileURLToPath(new URL(`${name}.ts`, sources))),
    outdir: fileURLToPath(programs),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@h/source'],
    plugins: [
      {
        name: 'frameworks',
        setup: ({ onResolve }) => {
          onResolve({ filter: /^[^./]/ }, ({ path }) =>
            frameworks.some((name) => path === name || path.startsWith(`${name}/`))
              ? { path, external: true }
              : undefined,
          );
        },
      },
    ],
    banner: { js: requireInBundle },
    logLevel: 'error',
  });
}, 60_000);
afterAll(() => rm(programs, { recursive: true, force: true }));

describe.each(names)('%s', (name) => {
  it(`has at most ${maxLines} lines and a comment that says what it shows`, async () => {
    const source = await readFile(new URL(`${name}.ts`, sources), 'utf8');
    expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(maxLines);
    expect(source).toMatch(/^(#!.*\n)?\/\/ [A-Z].*\.\n/);
  });
});

it('shows the programs in the documentation', async () => {
  const shown = await Promise.all(
    names.map(async (name) => {
      const source = await readFile(new URL(`${name}.ts`, sources), 'utf8');
      return `## ${name}\n\n\`\`\`ts\n${source}\`\`\`\n`;
    }),
  );
  await expect(`${introduction}\n${shown.join('\n')}`).toMatchFileSnapshot('../../../docs/picks.md');
});

describe('each program', () => {
  it('failover: continues with the second key', async () => {
    const { output, requests } = await run('failover', [
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
  });

  it('guardrails: makes the last step of the budget a summary', async () => {
    const searches = ['a', 'b', 'c'].map((query) => call('search', { query }, query));
    const { output, requests } = await run('guardrails', [...searches, { content: 'Nothing was found.' }]);
    expect(output).toBe('Nothing was found.\n');
    expect(requests).toHaveLength(4);
    expect(requests[3]?.body).toContain('"tool_choice":"none"');
  });

  it('commands: runs the harmless command and refuses the other one', async () => {
    const { output } = await run('commands', [
      call('bash', { command: 'echo build' }),
      call('bash', { command: 'rm -rf /' }),
      { content: 'Cleaned.' },
    ]);
    expect(output).toContain('$ echo build\nbuild\n');
    expect(output).toContain('$ rm -rf /\nNot run: ');
    expect(output).toContain('Cleaned.');
  });

  it('claude-code-hook: denies, asks, and leaves everything else to Claude Code', async () => {
    const judge = async (command: string): Promise<unknown> => {
      const input = {
        session_id: 's',
        cwd: '/work',
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command },
      };
      const { output } = await run('claude-code-hook', [], JSON.stringify(input));
      return output === '' ? undefined : (JSON.parse(output) as { hookSpecificOutput: object }).hookSpecificOutput;
    };
    expect(await judge('git status')).toBeUndefined();
    expect(await judge('sudo rm -rf / || true')).toMatchObject({
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(/./) as string,
    });
    expect(await judge('git reset --hard')).toMatchObject({ permissionDecision: 'ask' });
  });

  it.each(['', 'no JSON', '{}', '{"cwd":"/work","tool_input":{}}', '{"cwd":"/work","tool_input":{"command":["rm"]}}'])(
    'claude-code-hook: denies a call that it cannot read: %j',
    async (input) => {
      const child = spawn(process.execPath, [fileURLToPath(new URL('claude-code-hook.mjs', programs))]);
      child.stdin.end(input);
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect({ code: child.exitCode, output }).toEqual({ code: 2, output: '' });
      expect(errors).toMatch(/^The command could not be judged: /);
    },
  );

  it('compaction: keeps each request within the window', async () => {
    const pages = Array.from({ length: 8 }, (_, page) => call('readPage', { page }, `page-${page}`));
    const { requests, output } = await run('compaction', pages);
    expect(
      output
        .trimEnd()
        .split('\n')[0]
        ?.split(', ')
        .map(Number)
        .every((tokens) => tokens < 10_000),
    ).toBe(true);
    expect(requests.filter(({ model }) => model === 'gpt-5-mini').every(({ body }) => body.length < 40_000)).toBe(true);
    expect(requests.map(({ model }) => model)).toContain('gpt-5-nano');
  });

  it('tools: caps a result of a megabyte', async () => {
    const { output, requests } = await run('tools', [call('readLog', { service: 'mail' }), { content: 'It is.' }]);
    expect(output).toMatch(/^[34]\d{3} characters It is\.\n$/);
    expect(requests[1]?.body.length).toBeLessThan(6000);
    expect(requests[1]?.body).toContain('mail 49999: ok');
  });

  it('hooks: interrupts the graph, and deploys after the approval', async () => {
    const { output } = await run('hooks', [call('deploy', { version: '1.2.3' }), { content: 'Released.' }]);
    expect(output).toContain('"reason":"A deployment needs approval."');
    expect(output).toContain('Version 1.2.3 is live.\nReleased.');
  });

  it('loop-detect: denies the calls of a loop and ends the run with the reason', async () => {
    const calls = Array.from({ length: 30 }, (_, index) => call('run_tests', {}, `run-${index}`));
    const { output, requests } = await run('loop-detect', calls);
    expect(output).toMatch(/^loop-detected: .*\n\d+ calls\n$/);
    expect(requests.length).toBeLessThan(10);
  });

  it('security: redacts what the model reads', async () => {
    const { output, requests } = await run('security', [call('read_config', {}), { content: 'In Europe.' }]);
    expect(output).toContain('In Europe.');
    expect(requests[1]?.body).toContain('region: eu');
    expect(`${output}${requests[1]?.body}`).not.toContain('r7Vq');
  });

  it('queue: answers the messages of a user in order', async () => {
    const { requests } = await run('queue', []);
    const bodies = requests.map(({ body }) => body);
    expect(bodies).toHaveLength(4);
    expect(bodies.find((body) => body.includes('What is my name?'))).toContain('My name is Alice.');
  });

  it('observe: adds up the cost of a session', async () => {
    const { output } = await run('observe', [{ content: 'Hello.' }, { content: 'Goodbye.' }]);
    expect(output).toContain('Hello.{"type":"run.completed"');
    expect(output).toMatch(/\n\$0\.0000 \(\d+ input \/ \d+ output tokens\)\n$/);
  });

  it('prompt: reports what broke the cache', async () => {
    const { output, requests } = await run('prompt', []);
    expect(output).toContain('The cache was broken by {"part":"session","id":"rules","change":"changed"');
    expect(requests[1]?.body).toContain('Answer in two sentences.');
  });
});
