import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createBudget, guardrails, type Budget } from '@h/guardrails';
import { confinement, unrestricted, type AgentPolicy, type CallReach, type ChildContext } from '@h/subagents';
import { defineTool, type Tool } from '@h/tools';
import { reply, type ToolCall, type ToolCallPart } from '@h/turn';
import { call } from '@h/turn/testing';
import { createSandbox } from '@h/sandbox';
import { workspaceTools } from '@h/workspace';
import { bashTool } from '@h/workspace/bash';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { family, lastRead, resultsOf, says, spawn, wait, type ChildParts } from './family.js';

const hasBubblewrap = ((): boolean => {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

let home = '';
let repo = '';
let port = 0;
const visits: string[] = [];
const server = createServer((request, answer) => {
  visits.push(request.headers.host ?? '');
  answer.end('the page');
});

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'rights-')));
  repo = join(home, 'repo');
  await mkdir(join(repo, 'src'), { recursive: true });
  await mkdir(join(home, 'elsewhere'));
  await writeFile(join(repo, 'README.md'), 'read me');
  await writeFile(join(repo, 'src/a.ts'), 'source');
  await writeFile(join(home, 'elsewhere/secret.txt'), 'TOP-SECRET');
  await symlink(join(home, 'elsewhere'), join(repo, 'src/link'));
  visits.length = 0;
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => void server.close(closed));
  await rm(home, { recursive: true, force: true });
});

const fetchTool = defineTool({
  name: 'fetch_page',
  description: 'Fetches a page.',
  input: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] } as const,
  effect: 'network',
  paths: {},
  run: async (input) => (await fetch((input as { readonly url: string }).url)).text(),
});

/** Creates tools that enforce the policy themselves, regardless of their input. */
const confinedTools = async ({ policy }: ChildContext): Promise<ChildParts> => {
  const { workspace, sandbox: options } = confinement(policy, repo);
  const sandbox = options && (await createSandbox(options));
  const files = workspaceTools(workspace);
  const tools = [...files.tools, ...(sandbox ? [bashTool(files.workspace, { sandbox })] : [])];
  return { tools: [...tools, fetchTool], ...(sandbox && { dispose: () => sandbox.close() }) };
};

/** Creates unrestricted tools on the home folder. */
const looseTools = async (): Promise<ChildParts> => {
  const sandbox = await createSandbox({ mode: 'host', root: home });
  const files = workspaceTools({ root: home });
  const tools = [...files.tools, bashTool(files.workspace, { sandbox })];
  return { tools: [...tools, fetchTool] as readonly Tool[], dispose: () => sandbox.close() };
};

/** Declares a reach for the fetch tool only: confined tools enforce the policy themselves. */
const confinedReach = ({ name }: ToolCall): CallReach | undefined => (name === 'fetch_page' ? undefined : {});

/** Returns the paths and hosts of a call; those of a command are unknown. */
const reachOf = ({ name, input }: ToolCall): CallReach | undefined => {
  const { path = '.', url } = input as { readonly path?: string; readonly url?: string };
  if (url !== undefined) return { hosts: [new URL(url).hostname] };
  if (name === 'bash') return undefined;
  return { [name === 'write' || name === 'edit' ? 'write' : 'read']: [resolve(repo, path)] };
};

const attacks = () => [
  call('outside', 'read', { path: join(home, 'elsewhere/secret.txt') }),
  call('dots', 'read', { path: join(repo, '../elsewhere/secret.txt') }),
  call('link', 'read', { path: join(repo, 'src/link/secret.txt') }),
  call('search', 'grep', { pattern: 'SECRET', path: join(home, 'elsewhere') }),
  call('overwrite', 'write', { path: join(repo, 'README.md'), content: 'broken' }),
  call('plant', 'write', { path: join(home, 'elsewhere/planted'), content: 'planted' }),
  call('cat', 'bash', { command: `cat ${home}/elsewhere/secret.txt ${repo}/src/link/secret.txt` }),
  call('echo', 'bash', {
    command: `echo broken > ${repo}/README.md; echo planted > ${home}/elsewhere/planted; echo planted > ${repo}/planted`,
  }),
  call('curl', 'bash', {
    command: `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\nHost: bash\\r\\n\\r\\n' >&3 && cat <&3`,
  }),
  call('fetch', 'fetch_page', { url: `http://127.0.0.1:${port}/` }),
];

const policy = (): AgentPolicy => ({
  ...unrestricted,
  read: [repo],
  write: [join(repo, 'src')],
  hosts: ['localhost'],
  sandbox: 'workspace-write',
});

/** Creates the tasks: at depth 1, the parent of the attacker is the top-level agent; at depth 2, a sub-agent. */
const tasksAt = (
  depth: number,
  script: readonly (readonly ToolCallPart[])[],
): { readonly parentTask: string; readonly tasks: Record<string, readonly ReturnType<typeof says>[]> } => ({
  parentTask: depth === 1 ? 'attack' : 'delegate',
  tasks: {
    attack: [...script.map((step) => says(...step)), says('I tried.')],
    delegate: [
      says(spawn('d', 'attack', { tools: ['read', 'grep', 'write', 'bash', 'shell', 'fetch_page'] })),
      says(wait('w')),
      says('It tried.'),
    ],
  },
});

const expectUnharmed = async (): Promise<void> => {
  expect(await readFile(join(repo, 'README.md'), 'utf8')).toBe('read me');
  await expect(readFile(join(home, 'elsewhere/planted'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(readFile(join(repo, 'planted'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
};

const timeoutMs = 60_000;

describe.skipIf(!hasBubblewrap).each([1, 2])('a sub-agent at depth %i (skipped without bubblewrap)', (depth) => {
  it.each([
    ['tools that enforce its policy', true, false],
    ['its guard alone, with unrestricted tools', false, true],
    ['both', true, true],
  ])(
    'cannot leave its paths, reach hosts or write, prevented by %s',
    async (_, isConfined, isGuarded) => {
      const { parentTask, tasks } = tasksAt(depth, [
        ...attacks().map((attack) => [attack]),
        [
          call('own', 'read', { path: join(repo, 'src/a.ts') }),
          call('new', 'write', { path: join(repo, 'src/new.ts'), content: 'new' }),
          call('allowed', 'fetch_page', { url: `http://localhost:${port}/` }),
        ],
      ]);
      const { agent, models } = family({
        parent: [says(spawn('s', parentTask)), says(wait('w')), 'Done.'],
        tasks,
        policy: policy(),
        reachOf: (call) =>
          isGuarded && !(isConfined && call.name === 'bash')
            ? reachOf(call)
            : isConfined
              ? confinedReach(call)
              : undefined,
        build: isConfined ? confinedTools : looseTools,
      });
      expect(await reply(agent.turn({ session: 'boss', input: 'Go' }))).toMatchObject({ outcome: 'completed' });
      await expectUnharmed();
      expect(visits.filter((host) => !host.startsWith('localhost'))).toEqual([]);
      const read = lastRead(models.get('attack'));
      expect(read).not.toContain('TOP-SECRET');
      expect(read).toContain('source');
      expect(await readFile(join(repo, 'src/new.ts'), 'utf8')).toBe('new');
      expect(visits).toHaveLength(isGuarded ? 1 : 0);
      const results = resultsOf(models.get('attack'));
      expect(results['fetch']).toMatch(isGuarded ? /may not reach ."127.0.0.1/ : /may not reach every host/);
      if (isGuarded) expect(results['outside']).toMatch(/This agent may not read/);
      if (isConfined) expect(results['curl']).toMatch(/Network is unreachable|Connection refused|exit code 1/i);
      else expect(results['curl']).toMatch(/may not reach every host/);
    },
    timeoutMs,
  );

  it.each([
    ['by their effects', undefined, /may not write anything/],
    ['by the sandbox, if its guard allows commands', (): CallReach => ({}), /Read-only file system/],
  ])(
    'cannot write under a read-only policy: %s',
    async (_, given, why) => {
      const { parentTask, tasks } = tasksAt(depth, [
        [call('write', 'write', { path: join(repo, 'src/new.ts'), content: 'x' })],
        [call('edit', 'edit', { path: join(repo, 'README.md'), old: 'read', new: 'write' })],
        [call('bash', 'bash', { command: 'cat README.md; echo x > src/new.ts' })],
      ]);
      const { agent, models } = family({
        parent: [says(spawn('s', parentTask)), says(wait('w')), 'Done.'],
        tasks,
        kind: { policy: { sandbox: 'read-only' } },
        build: confinedTools,
        ...(given && { reachOf: given }),
      });
      expect(await reply(agent.turn({ session: 'boss', input: 'Go' }))).toMatchObject({ outcome: 'completed' });
      await expectUnharmed();
      await expect(readFile(join(repo, 'src/new.ts'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
      expect(resultsOf(models.get('attack'))['bash']).toMatch(why);
    },
    timeoutMs,
  );

  it(
    'cannot use a denied tool under any of its names',
    async () => {
      const { parentTask, tasks } = tasksAt(depth, [
        [
          call('bash', 'bash', { command: 'touch planted' }),
          call('shell', 'shell', { command: 'touch planted' }),
          call('read', 'read', { path: 'README.md' }),
        ],
      ]);
      const { agent, models } = family({
        parent: [
          says(spawn('s', parentTask, { tools: ['bash', 'shell', 'read', 'spawn', 'wait'] })),
          says(wait('w')),
          'Done.',
        ],
        tasks,
        policy: { ...unrestricted, deniedTools: ['shell'] },
        aliases: { shell: 'bash' },
        build: looseTools,
      });
      await reply(agent.turn({ session: 'boss', input: 'Go' }));
      await expectUnharmed();
      const attacker = models.get('attack');
      const results = resultsOf(attacker);
      expect(results['bash']).toContain('This agent may not use bash.');
      expect(results['shell']).toContain('This agent may not use shell.');
      expect(attacker?.requests[0]?.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['read']));
      expect(attacker?.requests[0]?.tools.some(({ name }) => name === 'bash')).toBe(false);
    },
    timeoutMs,
  );

  it(
    'spends at most its share, which counts against the whole budget',
    async () => {
      const budget = createBudget({ name: 'whole', maxSteps: 100 });
      const busy = Array.from({ length: 20 }, (_, index) => [
        call(`r${index}`, 'read', { path: 'README.md', offset: index + 1 }),
      ]);
      const { parentTask, tasks } = tasksAt(depth, busy);
      const { agent, models, parent, team } = family({
        parent: [says(spawn('s', parentTask)), says(wait('w')), 'Done.'],
        tasks,
        budget,
        kind: { policy: { budget: { maxSteps: 5 } } },
        operators: [guardrails({ budget })],
        build: async (context) => ({
          ...(await confinedTools(context)),
          operators: [guardrails({ budget: context.budget as Budget })],
        }),
      });
      expect(await reply(agent.turn({ session: 'boss', input: 'Go' }))).toMatchObject({ outcome: 'completed' });
      const steps = [...models.values()].reduce((sum, model) => sum + model.requests.length, 0);
      expect(steps).toBe(5);
      expect(budget.used().steps).toBe(steps + parent.requests.length);
      expect(lastRead(parent)).toMatch(/ended: (?:failed \(max-steps\)|ok), after/);
      expect(team.list('boss')).toEqual([]);
    },
    timeoutMs,
  );

  it(
    'is not spawned with a share if its parent has no budget that counts it',
    async () => {
      const { parentTask, tasks } = tasksAt(depth, []);
      const { agent, parent, models } = family({
        parent: [says(spawn('s', parentTask)), 'Done.', 'Done.'],
        tasks,
        policy: { ...unrestricted, budget: { maxSteps: 3 } },
        budget: (session) => (session === 'boss' && depth === 1 ? undefined : createBudget()),
        build: async (context) => ({
          ...(await confinedTools(context)),
          operators: [guardrails({ budget: context.budget as Budget })],
        }),
      });
      await reply(agent.turn({ session: 'boss', input: 'Go' }));
      expect(lastRead(parent).includes('the parent has no budget that counts it')).toBe(depth === 1);
      expect(models.size).toBe(depth === 1 ? 0 : 2);
    },
    timeoutMs,
  );
});
