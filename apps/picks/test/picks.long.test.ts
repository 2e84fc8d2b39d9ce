import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programs, type RunProgram } from './programs.js';
import { Provider } from './provider.js';

const sources = new URL('../src/', import.meta.url);
/** Inside the app, so that the programs find the frameworks. */
const bundles = new URL('../.cache/', import.meta.url);
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

const provider = new Provider();
beforeAll(() => provider.start());
afterAll(() => provider.stop());

/** Runs a program as a user would. Fails unless it exits by itself with code 0. */
const runOf =
  (name: string): RunProgram =>
  (script, input = '') =>
    provider.during(script, async () => {
      const child = spawn(process.execPath, [fileURLToPath(new URL(`${name}.mjs`, bundles))], {
        env: { PATH: process.env['PATH'], ...provider.env },
      });
      child.stdin.end(input);
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect({ code: child.exitCode, errors }).toEqual({ code: 0, errors: '' });
      return output;
    });

/** Bundled CommonJS modules call `require` for built-in modules. */
const requireInBundle = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`;

beforeAll(async () => {
  await build({
    entryPoints: programs.map(({ name }) => fileURLToPath(new URL(`${name}.ts`, sources))),
    outdir: fileURLToPath(bundles),
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
afterAll(() => rm(bundles, { recursive: true, force: true }));

describe('each program in a separate process', () => {
  for (const { name, title, check } of programs) it(`${name}: ${title}`, () => check(runOf(name)));

  it.each(['', 'no JSON', '{}', '{"cwd":"/work","tool_input":{}}', '{"cwd":"/work","tool_input":{"command":["rm"]}}'])(
    'claude-code-hook: denies a call that it cannot read: %j',
    async (input) => {
      const child = spawn(process.execPath, [fileURLToPath(new URL('claude-code-hook.mjs', bundles))]);
      child.stdin.end(input);
      const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect({ code: child.exitCode, output }).toEqual({ code: 2, output: '' });
      expect(errors).toMatch(/^The command could not be judged: /);
    },
  );
});
