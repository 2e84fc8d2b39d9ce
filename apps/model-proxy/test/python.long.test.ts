import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it } from 'vitest';
import { proxyFor } from './provider.js';
import { startTap } from './tap.js';

const run = promisify(execFile);
/** A Python with the packages `anthropic` and `openai`. */
const python = process.env['H_TEST_PYTHON'] ?? 'python3';
const hasSdks = await run(python, ['-c', 'import anthropic, openai']).then(
  () => true,
  () => false,
);
const script = fileURLToPath(new URL('python-client.py', import.meta.url));

describe('the SDKs for Python', () => {
  it('send and receive the same with and without the proxy', async (context) => {
    context.skip(!hasSdks, 'the Python packages anthropic and openai are not installed');
    const mock = new LLMock({ port: 0, host: '127.0.0.1', latency: 0, chunkSize: 5 });
    mock.on({ userMessage: 'overloaded' }, { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
    mock.on({ predicate: () => true }, { content: 'Sun in Oslo, 14 °C. ☀️' });
    const tap = await startTap(mock);
    const proxy = await proxyFor(tap);
    const through = async (base: string) => {
      const from = tap.exchanges.length;
      const { stdout } = await run(python, [script, base]);
      return { results: stable(stdout), exchanges: tap.exchanges.slice(from) };
    };
    try {
      const direct = await through(tap.url);
      const proxied = await through(proxy.url);
      expect(direct.exchanges).toHaveLength(7);
      expect(proxied.results).toEqual(direct.results);
      const sent = ({ exchanges }: typeof direct): readonly unknown[] =>
        exchanges.map(({ method, path, headers, body, status }) => ({
          method,
          path,
          headers,
          body: String(body),
          status,
        }));
      expect(sent(proxied)).toEqual(sent(direct));
    } finally {
      await proxy.close();
      await tap.close();
    }
  });
});

/** Removes the ids and times that the mock generates for each answer. */
const stable = (text: string): unknown =>
  JSON.parse(text.replaceAll(/"id": "[^"]*"/g, '"id": "_"').replaceAll(/"created(?:_at)?": \d+/g, '"created": 0'));
