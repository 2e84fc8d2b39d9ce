import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { builtMain, runCoder, startCoder, startProgram } from './coder-process.js';
import { inFolder, sampleProject } from './folders.js';
import { call, startModelServer } from './model-server.js';

describe('a real provider', () => {
  it.each<[model: string, path: string, environment: Record<string, string>]>([
    ['anthropic/claude-sonnet-4-5', '/v1', { ANTHROPIC_API_KEY: 'k' }],
    ['openai/gpt-5.1', '/v1', { OPENAI_API_KEY: 'k' }],
    ['google/gemini-2.5-pro', '/v1beta', { GOOGLE_GENERATIVE_AI_API_KEY: 'k' }],
    ['ollama/llama3.2', '/v1', {}],
    ['acme/large', '/v1', {}],
    ['acme/large', '/v1', { ACME_API_KEY: 'k' }],
  ])('answers as %s', async (model, path, environment) => {
    const server = await startModelServer([call('glob', { pattern: '*.json' }), 'There is one file.']);
    const words = [
      '--model',
      model,
      '--base-url',
      `${server.url}${path}`,
      '--workspace',
      await sampleProject(),
      'What is here?',
    ];
    const { code, stdout, stderr } = await runCoder({ words, environment });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ glob \*\.json · \d+ ms$/m);
    expect(stdout).toMatch(/^There is one file\.$/m);
    expect(server.requests.map(({ model: asked }) => asked)).toEqual(
      [model, model].map((name) => name.slice(name.indexOf('/') + 1)),
    );
    expect(JSON.stringify(server.requests[1]?.messages.at(-1))).toContain('package.json');
  });

  it('receives the workspace and the tools of the toolset', async () => {
    const server = await startModelServer(['Hello.', 'Hello.']);
    const folder = await sampleProject();
    const words = ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', folder, 'Hi'];
    await runCoder({ words });
    await runCoder({ words: [...words, '--toolset', 'read-only'] });
    const [full, readOnly] = server.requests.map(({ messages, tools }) => ({
      system: JSON.stringify(messages.filter(({ role }) => role === 'system')),
      tools: tools?.map((tool) => tool.function.name),
    }));
    expect(full?.system).toContain(folder);
    expect(full?.tools).toEqual(expect.arrayContaining(['bash', 'edit', 'glob', 'read', 'write']));
    expect(readOnly?.tools).not.toContain('bash');
    expect(readOnly?.tools).not.toContain('edit');
    expect(readOnly?.system).toContain('change nothing');
  });

  it('uses the current folder and reads the prompt from standard input', async () => {
    const server = await startModelServer([call('write', { path: 'hello.txt', content: 'Hello\n' }), 'Done.']);
    const folder = temporaryFolder();
    const coder = startCoder({ words: ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '-'], cwd: folder });
    coder.type('Write hello.txt\n');
    coder.end();
    expect(await coder.finished).toMatchObject({ code: 0 });
    expect((await inFolder(folder, 'cat', 'hello.txt')).output).toBe('Hello\n');
    expect(JSON.stringify(server.requests[0]?.messages)).toContain('Write hello.txt');
  });

  it('loads only the modules that it needs', async () => {
    const server = await startModelServer(['Hello.']);
    const report = temporaryFolder();
    const words = ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', temporaryFolder(), 'Hi'];
    await startProgram(process.execPath, [builtMain, ...words], { environment: { NODE_V8_COVERAGE: report } }).finished;
    const loaded = await Promise.all((await readdir(report)).map((file) => readFile(join(report, file), 'utf8')));
    const modules = new Set(
      [...loaded.join('').matchAll(/node_modules\/((?:@[\w-]+\/)?[\w-]+)\/(?!node_modules)/g)].map(([, name]) => name),
    );
    expect([...modules]).toEqual(expect.arrayContaining(['@ai-sdk/openai-compatible']));
    for (const name of [
      '@ai-sdk/anthropic',
      '@ai-sdk/openai',
      '@ai-sdk/google',
      '@copilotkit/aimock',
      '@clack/prompts',
      '@modelcontextprotocol/client',
      'ai',
    ]) {
      expect([...modules]).not.toContain(name);
    }
  });

  it('hides the keys from commands', async () => {
    const server = await startModelServer([call('bash', { command: 'env' }), 'Done.']);
    const words = [
      '--model',
      'anthropic/x',
      '--base-url',
      `${server.url}/v1`,
      '--workspace',
      temporaryFolder(),
      'Look',
    ];
    await runCoder({ words, environment: { ANTHROPIC_API_KEY: 'secret-1', OPENAI_API_KEY: 'secret-2' } });
    const environment = JSON.stringify(server.requests[1]?.messages.at(-1));
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain('secret-');
  });
});
