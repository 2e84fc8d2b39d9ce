import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder } from './coder-process.js';
import { sampleProject } from './folders.js';
import { call, startModelServer, type Answer } from './model-server.js';

const run = async (
  answers: readonly Answer[],
  words: readonly string[],
  environment: Record<string, string> = { ANTHROPIC_API_KEY: 'first-key' },
) => {
  const server = await startModelServer(answers);
  const finished = await runCoder({
    words: [
      '--model',
      'anthropic/claude-sonnet-4-5',
      '--base-url',
      `${server.url}/v1`,
      '--workspace',
      await sampleProject(),
      ...words,
      'Continue',
    ],
    environment,
  });
  return { ...finished, server };
};

const refusal = (status: number, type: string, message: string): Answer => ({ status, error: { type, message } });

describe('a model that fails', () => {
  it('falls back to the next model', async () => {
    const { code, stdout, server } = await run(
      [refusal(404, 'not_found_error', 'model: claude-sonnet-4-5'), 'Here I am.'],
      ['--fallback', 'anthropic/claude-haiku-4-5'],
    );
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Here I am.') as string });
    expect(server.requests.map(({ model }) => model)).toEqual(['claude-sonnet-4-5', 'claude-haiku-4-5']);
    expect(stdout).toContain('↻ not-found: switching to anthropic/claude-haiku-4-5');
    expect(stdout).toMatch(/ · 1 switch/);
  });

  it('is retried with the next key', async () => {
    const environment = { ANTHROPIC_API_KEY: 'first-key', ANTHROPIC_API_KEY_2: 'second-key' };
    const { code, stdout } = await run(
      [refusal(401, 'authentication_error', 'invalid x-api-key'), 'Here I am.'],
      [],
      environment,
    );
    expect(code).toBe(0);
    expect(stdout).toContain('with anthropic:ANTHROPIC_API_KEY_2');
    expect(stdout).not.toContain('second-key');
  });

  it('reports an invalid --fallback in one line', async () => {
    const { code, stderr } = await run([], ['--fallback', 'openai/gpt-5.1']);
    expect([code, stderr]).toEqual([2, 'openai/gpt-5.1 requires a key. Set OPENAI_API_KEY.\n']);
  });
});

describe('observation', () => {
  it('shows the cost', async () => {
    const { stdout } = await run([{ content: 'Hello.', usage: { input_tokens: 1_000_000, output_tokens: 0 } }], []);
    expect(stdout).toMatch(/ out, reasoning \(\w+\) · \$[3-6]\.00 · /);
  });

  it('records a turn for the trace viewer', async () => {
    const file = join(temporaryFolder(), 'turn.jsonl');
    await run([call('glob', { pattern: '*' }), 'Done.'], ['--record', file]);
    expect((await readFile(file, 'utf8')).trimEnd().split('\n').length).toBeGreaterThan(5);
    const cli = join(dirname(createRequire(import.meta.url).resolve('@h/trace/package.json')), 'dist/cli.js');
    const { stdout } = await promisify(execFile)(process.execPath, [cli, file]);
    expect(stdout).toContain('glob');
    expect(await readFile(`${file}.html`, 'utf8')).toContain('<html');
  });

  it('exports to a collector', async () => {
    const paths: string[] = [];
    const collector = createServer((request, response) => {
      paths.push(request.url ?? '');
      request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void collector.close());
    const { code } = await run(['Hello.'], ['--otel', `http://127.0.0.1:${(collector.address() as AddressInfo).port}`]);
    expect(code).toBe(0);
    expect(new Set(paths)).toEqual(new Set(['/v1/traces', '/v1/metrics']));
  });

  it('completes the turn if the collector is unreachable', async () => {
    const { code, stderr } = await run(['Hello.'], ['--otel', 'http://127.0.0.1:9']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^--otel: exporting to http:\/\/127\.0\.0\.1:9 failed: .+\n$/);
  });
});
