import { readdir, readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { programs, type RunProgram } from './programs.js';
import { Provider } from './provider.js';

const sources = new URL('../src/', import.meta.url);
const maxLines = 40;

const introduction = `# Picks

Short programs, each with one package of \`h\` in an agent that does not know the rest. Copy one into a file with the extension \`.ts\`,
install what it imports (\`@h/…\` packages with \`rxjs\` and \`@h/turn\`), set \`OPENAI_API_KEY\`, and run it with \`npx tsx FILE\` or with Node ≥ 22.18,
which runs TypeScript. \`loop-detect\` needs version 0.87.1 of both packages of pi (\`@earendil-works/pi-ai@0.87.1\`), and \`observe\` the package
\`@pydantic/genai-prices\`. The programs are in [apps/picks](../apps/picks), and the tests run each of them against a scripted provider.
`;

const names = programs.map(({ name }) => name).toSorted();

/** Runs a program in this process, which imports it. */
const runOf =
  (name: string): RunProgram =>
  (script, input = '') =>
    provider.during(script, async () => {
      const printed: string[] = [];
      vi.spyOn(console, 'log').mockImplementation((...line: unknown[]) => void printed.push(`${line.join(' ')}\n`));
      vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => printed.push(String(chunk)) > 0);
      vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([input]) as never);
      vi.resetModules();
      await import(`../src/${name}.ts`);
      return printed.join('');
    });

const provider = new Provider();
// Libraries read the environment at their first request.
beforeAll(async () => {
  await provider.start();
  for (const [key, value] of Object.entries(provider.env)) vi.stubEnv(key, value);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await provider.stop();
});

it('tests every program', async () => {
  expect((await readdir(sources)).toSorted()).toEqual(names.map((name) => `${name}.ts`));
  expect(names).toHaveLength(12);
});

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
  for (const { name, title, check } of programs) it(`${name}: ${title}`, () => check(runOf(name)));
});
