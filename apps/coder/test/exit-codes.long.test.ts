import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder } from './coder-process.js';
import { call, startModelServer, type Answer } from './model-server.js';

const wordsFor = async (answers: readonly Answer[], ...more: readonly string[]): Promise<readonly string[]> => {
  const server = await startModelServer(answers);
  return [
    '--model',
    'anthropic/x',
    '--base-url',
    `${server.url}/v1`,
    '--workspace',
    temporaryFolder(),
    ...more,
    'Continue',
  ];
};
const environment = { ANTHROPIC_API_KEY: 'k' };

describe('the exit code', () => {
  it('is 1 for an error and prints the error', async () => {
    const words = await wordsFor([
      { status: 401, error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    ]);
    const { code, stdout } = await runCoder({ words, environment });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^■ error · .*invalid x-api-key/m);
  });

  it('is 1 if the server is unreachable', async () => {
    const words = [
      '--model',
      'ollama/x',
      '--base-url',
      'http://127.0.0.1:9/v1',
      '--workspace',
      temporaryFolder(),
      'Hi',
    ];
    const { code, stdout } = await runCoder({ words });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^■ error · /m);
  });

  it('is 3 at the step limit', async () => {
    const words = await wordsFor(
      [call('glob', { pattern: '*' }, '1'), call('glob', { pattern: '*' }, '2'), call('glob', { pattern: '*' }, '3')],
      '--max-steps',
      '2',
    );
    const { code, stdout } = await runCoder({ words, environment });
    expect(code).toBe(3);
    expect(stdout).toMatch(/^■ max-steps · The turn has made 2 of the 2 steps that it may make\.$/m);
  });
});
