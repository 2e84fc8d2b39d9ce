import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCoder, startCoder } from './coder-process.js';
import { temporaryFolder } from './folders.js';

const key = { ANTHROPIC_API_KEY: 'k' };

describe('wrong usage', () => {
  it.each<[words: readonly string[], environment: Record<string, string>, message: unknown]>([
    [['--modle', 'x'], key, "unknown option '--modle' (Did you mean --model?)"],
    [
      ['--max-steps', 'many', 'x'],
      key,
      "option '--max-steps <count>' argument 'many' is invalid. It takes a whole number.",
    ],
    [
      ['--model', 'anthropic/claude-sonnet-4-5', 'fix it'],
      {},
      'anthropic/claude-sonnet-4-5 needs a key: set ANTHROPIC_API_KEY.',
    ],
    [
      ['fix it'],
      {},
      'No model to ask: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, or name a model with --model provider/model.',
    ],
    [
      ['--model', 'acme/large', 'fix it'],
      key,
      'The provider "acme" is unknown: use anthropic, openai, google, ollama, or give the address of an OpenAI-compatible server with --base-url.',
    ],
    [
      ['--workspace', '/no/such/folder', 'fix it'],
      key,
      'The folder /no/such/folder cannot be used: it does not exist.',
    ],
    [
      ['--model', 'ollama/llama3.2'],
      {},
      'Say what to do: give a prompt, or "-" to read it from standard input. A conversation needs a terminal.',
    ],
    [['--toolset', 'ful', 'fix it'], key, expect.stringMatching(/^.*"ful".*\n$/)],
    [['--image', 'node:24', 'fix it'], key, '--image belongs to --sandbox docker.'],
    [['--network', 'fix it'], key, '--network belongs to a sandbox; commands on the host have the network anyway.'],
    [
      ['--demo', 'fix it'],
      key,
      '--demo plays a script on a sample project: it takes no prompt, --model, --base-url, --workspace, --continue or --resume.',
    ],
    [['--continue', 'go on'], key, '--continue: there is no session of this folder yet.'],
    [['--resume', 'x', 'go on'], key, '--resume: this folder has no session "x"; --sessions lists them.'],
    [
      ['--resume', 'x', '--continue', 'go on'],
      key,
      '--continue takes the latest session, --resume the one that you name: give one of them.',
    ],
  ])('is told in one line for %j', async (words, environment, message) => {
    const { code, stdout, stderr } = await runCoder({ words, environment, cwd: await temporaryFolder() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toEqual(typeof message === 'string' ? `${message}\n` : message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is told for a workspace that is a file', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(await runCoder({ words: ['--workspace', 'file', 'x'], environment: key, cwd: folder })).toEqual({
      code: 2,
      stdout: '',
      stderr: `${file} is no folder.\n`,
    });
  });

  it('is told for a prompt that does not come', async () => {
    const coder = startCoder({ words: ['--model', 'ollama/x', '-'] });
    coder.end();
    expect(await coder.finished).toEqual({
      code: 2,
      stdout: '',
      stderr: 'The prompt was to be read from standard input, and nothing came.\n',
    });
  });

  it('explains itself on demand', async () => {
    const { code, stdout, stderr } = await runCoder({ words: ['--help'] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: npm start -- \[options\] \[prompt\.\.\.\]/);
  });
});
