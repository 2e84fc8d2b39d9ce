import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '@h/config';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { openBench } from '../../test/bench.js';
import { readAgentFiles } from '../agents/agent-file.js';
import { readWorkflows } from '../workflows/parse-workflow.js';
import { parseArguments } from '../arguments.js';
import { runConfigCommand } from './commands.js';
import { docsOf } from './docs.js';
import { explainConfig } from './explain.js';
import { loadConfig, loadText } from './load-config.js';
import { configTemplate, initStation } from './template.js';

const station = fileURLToPath(new URL('../..', import.meta.url));

describe('initStation', () => {
  it('writes a configuration with every default', async () => {
    const folder = temporaryFolder();
    const [file = ''] = await initStation(folder);
    expect(loadConfig(file).config).toEqual(loadText('', file).config);
    expect(readAgentFiles(join(folder, 'agents')).map(({ name }) => name)).toEqual(['assistant']);
    await expect(initStation(folder)).rejects.toMatchObject({ code: 'file-exists' });
  });

  it.runIf(process.platform === 'linux')('fails for a folder in which nothing can be created', async () => {
    await expect(initStation('/proc/h-station')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('names every key', () => {
    const text = configTemplate();
    for (const key of ['max_steps', 'auto_branch', 'url_env', 'per_tenant', 'otel']) expect(text).toContain(`${key}:`);
  });
});

describe('explainConfig', () => {
  it('shows what the keys resolve to and where values come from', async () => {
    const folder = temporaryFolder();
    await initStation(folder);
    const { lines, problems } = explainConfig(join(folder, 'config.yaml'), { OPENAI_API_KEY: 'k' });
    expect(problems).toEqual([]);
    expect(lines).toContain('agent assistant: openai/gpt-5.1');
    expect(lines).toContain('approvals.timeout = 10m');
    const other = join(folder, 'other.yaml');
    await writeFile(other, 'server: { port: 80 }');
    const explained = explainConfig(other, { OPENAI_API_KEY: 'k' });
    expect(explained.lines).toContain('server.port = 80');
    expect(explained.lines).toContain('server.host = "127.0.0.1" (default)');
  });

  it('reports everything that will not work', async () => {
    const folder = temporaryFolder();
    await mkdir(join(folder, 'agents'));
    await writeFile(join(folder, 'agents/coder.md'), '---\nmodel: openai/gpt-5.1\ntools: [bash]\n---\nCode.\n');
    const file = join(folder, 'config.yaml');
    const triggers =
      'triggers:\n  a: { type: cron, schedule: often, agent: coder, input: Go }\n  b: { type: webhook, secret_env: HOOK, agent: none, input: Go }\n  c: { type: cron, schedule: "0 0 30 2 *", agent: coder, input: Go }\n';
    await writeFile(
      file,
      `database: { url_env: DB }\nserver: { host: 0.0.0.0 }\nharness: { sandbox: { mode: bubblewrap } }\n${triggers}`,
    );
    const { problems, warnings } = explainConfig(file, { PATH: '/none' });
    const text = problems.join('\n');
    expect(text).toMatch(/coder\.md:2:1: openai\/gpt-5\.1 requires a key\. Set OPENAI_API_KEY\./);
    expect(text).toMatch(/config\.yaml:1:13: the variable DB/);
    expect(text).toMatch(/config\.yaml:5:\d+: the schedule is invalid/);
    expect(text).toMatch(/config\.yaml:6:\d+: the agent "none" does not exist/);
    expect(text).toMatch(/config\.yaml:6:\d+: the variable HOOK is not set/);
    expect(text).toMatch(/config\.yaml:7:\d+: the schedule "0 0 30 2 \*" has no time in the future/);
    expect(warnings.join('\n')).toMatch(/bwrap.*\n.*not in a git repository.*\n.*other machines/);
    await writeFile(file, 'sever: {}');
    expect(explainConfig(file, {}).problems).toEqual([`${file}:1:1: unknown key "sever". Did you mean "server"?`]);
  });
});

describe('runConfigCommand', () => {
  it('writes a configuration and explains it', async () => {
    const folder = temporaryFolder();
    const said: string[] = [];
    const say = (text: string): void => void said.push(text);
    const run = (...words: string[]) =>
      runConfigCommand(parseArguments(words), { OPENAI_API_KEY: 'k' }, { say, warn: say });
    expect(await run('init', folder)).toBe(0);
    expect(await run('check', join(folder, 'config.yaml'))).toBe(0);
    expect(await run('token', 'ann')).toBeUndefined();
    expect(said).toContain('agent assistant: openai/gpt-5.1');
    expect(await run('check', join(folder, 'none.yaml'))).toBe(1);
  });
});

describe('the examples', () => {
  it('are valid', () => {
    const agents = readAgentFiles(join(station, 'examples/agents')).map(({ name }) => name);
    expect(agents).toEqual(['refactorer', 'reviewer']);
    const workflows = readWorkflows(join(station, 'examples/workflows'), agents);
    expect(workflows.map(({ workflow }) => workflow.id)).toEqual(['code-review-pipeline']);
    expect(() => readWorkflows(join(station, 'examples/workflows'), [])).toThrow(ConfigError);
  });

  it.each<[provider: string, path: string, environment: Record<string, string>]>([
    ['anthropic', '/v1', { ANTHROPIC_API_KEY: 'k' }],
    ['openai', '/v1', { OPENAI_API_KEY: 'k' }],
    ['google', '/v1beta', { GOOGLE_GENERATIVE_AI_API_KEY: 'k' }],
    ['ollama', '/v1', {}],
    ['openai-compatible', '/v1', { ACME_API_KEY: 'k' }],
  ])('start an agent with the models of %s', async (name, path, environment) => {
    const text = await readFile(join(station, `examples/providers/${name}.yaml`), 'utf8');
    const { models } = loadText(text, 'config.yaml').config;
    const provider = models.default?.split('/')[0] ?? '';
    const bench = await openBench({ config: { models }, environment, servedBy: { provider, path } });
    expect((await bench.run('Hi')).outcome).toBe('completed');
    expect(`${provider}/${bench.server.requests[0]?.model}`).toBe(models.default);
  });

  it.each(['chat', 'coding', 'batch', 'unattended'])('start an agent with the settings for %s', async (name) => {
    const text = await readFile(join(station, `examples/use-cases/${name}.yaml`), 'utf8');
    const { value } = loadText(text, 'config.yaml').source;
    const bench = await openBench({ config: value as object });
    expect((await bench.run('Hi')).outcome).toBe('completed');
  });
});

describe('the documentation', () => {
  it.each(Object.entries(docsOf()))('%s contains the keys of the schema', async (file, table) => {
    const text = await readFile(join(station, '../../docs', file), 'utf8');
    for (const part of table) expect(text).toContain(part);
  });
});
