import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder, startCoder } from './coder-process.js';

const key = { ANTHROPIC_API_KEY: 'k' };

describe('a usage error', () => {
  it.each<[words: readonly string[], environment: Record<string, string>, message: unknown]>([
    [['--modle', 'x'], key, "unknown option '--modle' (Did you mean --model?)"],
    [
      ['--max-steps', 'many', 'x'],
      key,
      "option '--max-steps <count>' argument 'many' is invalid. Expected a whole number.",
    ],
    [
      ['--model', 'anthropic/claude-sonnet-4-5', 'fix it'],
      {},
      'anthropic/claude-sonnet-4-5 requires a key. Set ANTHROPIC_API_KEY.',
    ],
    [
      ['fix it'],
      {},
      'No model is configured. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, or pass --model provider/model.',
    ],
    [
      ['--model', 'acme/large', 'fix it'],
      key,
      'The provider "acme" is unknown. Use anthropic, openai, google, ollama, or pass the URL of an OpenAI-compatible server with --base-url.',
    ],
    [['--workspace', '/no/such/folder', 'fix it'], key, 'Cannot use the folder /no/such/folder: it does not exist.'],
    [
      ['--model', 'ollama/llama3.2'],
      {},
      'A conversation requires a terminal. Pass a prompt, or "-" to read it from standard input.',
    ],
    [
      ['fix it'],
      { ...key, XDG_STATE_HOME: '/dev/null' },
      expect.stringMatching(
        /^Cannot write to \/dev\/null\/h-coder\/\S+: ENOTDIR\. Set XDG_STATE_HOME to a folder that can be written\.\n$/,
      ),
    ],
    [
      ['--toolset', 'ful', 'fix it'],
      key,
      expect.stringMatching(/^.*'--toolset <name>' argument 'ful' is invalid.*\n$/),
    ],
    [['--image', 'node:24', 'fix it'], key, '--image requires --sandbox docker.'],
    [['--network', 'fix it'], key, '--network requires a sandbox; commands on the host always have the network.'],
    [
      ['--demo', 'fix it'],
      key,
      '--demo runs a fixed script. Remove the prompt, --plan, --model, --base-url, --workspace, --continue and --resume.',
    ],
    [['--continue', 'go on'], key, '--continue: this folder has no sessions yet. Pass a prompt to start one.'],
    [['--resume', 'x', 'go on'], key, '--resume: this folder has no session "x". --sessions lists the sessions.'],
    [['--resume', 'x', '--continue', 'go on'], key, '--continue and --resume exclude each other. Pass one of them.'],
  ])('is reported in one line for %j', async (words, environment, message) => {
    const { code, stdout, stderr } = await runCoder({ words, environment, cwd: temporaryFolder() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toEqual(typeof message === 'string' ? `${message}\n` : message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is reported for a workspace that is a file', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    await writeFile(file, '');
    expect(await runCoder({ words: ['--workspace', 'file', 'x'], environment: key, cwd: folder })).toEqual({
      code: 2,
      stdout: '',
      stderr: `${file} is not a folder.\n`,
    });
  });

  it('is reported for an empty standard input', async () => {
    const coder = startCoder({ words: ['--model', 'ollama/x', '-'] });
    coder.end();
    expect(await coder.finished).toEqual({
      code: 2,
      stdout: '',
      stderr: 'The prompt "-" reads standard input, but standard input is empty.\n',
    });
  });

  it('is not reported for --help', async () => {
    const { code, stdout, stderr } = await runCoder({ words: ['--help'] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: npm start -- \[options\] \[prompt\.\.\.\]/);
  });
});
