import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compaction } from '@h/compaction';
import { continuity, openProject, type Project } from '@h/continuity';
import { handOff } from '@h/continuity/hand-off';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { prompt } from '@h/prompt';
import { skillLibrary, skills, skillsIndex } from '@h/skills';
import { subagents, unrestricted, type AgentKind, type SubagentsOptions } from '@h/subagents';
import { defineTool, toolDriver } from '@h/tools';
import { harness, type Agent, type PipelineOperator } from '@h/turn';
import { response, scriptedModel } from '@h/turn/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { begunProject } from '../continuity-folder.js';
import { spawn, wait } from '../subagents/family.js';
import { collectUncaught, failures, problemWithTurn, type Callback, type Failing } from './hostile.js';

/** Builds an agent around a callback. */
type Build = (callback: Callback, limit: readonly PipelineOperator[]) => Agent | Promise<Agent>;

/** A place where the packages call a function of the caller. */
interface Place {
  readonly build: Build;
  /** Its type allows neither a promise nor `void`. */
  readonly isSynchronous?: boolean;
}

/** Time for a section of the prompt or the skills: the files are read within it, before the callback is called. */
const deadlineMs = 5_000;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'h-hostile-'));
  mkdirSync(join(folder, 'skills/release'), { recursive: true });
  writeFileSync(
    join(folder, 'skills/release/SKILL.md'),
    '---\nname: release\ndescription: Makes a release.\n---\n\nTag.\n',
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const asks = hooks([{ name: 'asks', beforeTool: () => ({ decision: 'ask', reason: 'Sure?' }) as const }]);

/** A parent that spawns a sub-agent, waits for it and answers. */
const parent =
  (
    options: (callback: Callback) => Partial<SubagentsOptions>,
    kind: (callback: Callback) => Partial<AgentKind> = () => ({}),
  ): Build =>
  (callback, limit) => {
    const read = defineTool({
      name: 'read',
      description: 'Reads.',
      input: { type: 'object' },
      effect: 'read-only',
      run: () => 'Text',
    });
    const team = subagents({
      agents: {
        worker: {
          description: 'Works.',
          create: ({ guard }) =>
            harness({
              model: scriptedModel([
                response('I look.', { type: 'tool-call', toolCallId: 'r', toolName: 'read', input: {} }),
                'A long result. '.repeat(20),
              ]),
              tools: toolDriver([read]),
            }).pipe(asks, guard),
          ...kind(callback),
        },
      },
      limits: { timeoutMs: 500, waitMs: 500, storeMs: 200, graceMs: 50, resultChars: 100 },
      ...options(callback),
    });
    const model = scriptedModel([response(spawn('1', 'look')), response(wait('2')), 'Done.', 'Done.']);
    return harness({ model, tools: toolDriver(team.tools.map((tool) => defineTool(tool))), closeGraceMs: 300 }).pipe(
      ...limit,
      team,
    );
  };

const memoryStore = { save: () => undefined, delete: () => undefined, list: () => [] };

/** An agent with the operators of a project. */
const worker =
  (operators: (callback: Callback, project: Project) => readonly PipelineOperator[]): Build =>
  async (callback, limit) => {
    const project = await begunProject(mkdtempSync(join(folder, 'project-')), 'login');
    writeFileSync(project.script.path, 'exit 0\n');
    const model = scriptedModel(['I see. '.repeat(2_000), 'Done.', 'Done.']);
    return harness({ model, closeGraceMs: 300 }).pipe(...limit, ...operators(callback, project));
  };

const library = (callback: Callback, option: 'include' | 'scan') =>
  skillLibrary({ folders: [join(folder, 'skills')], home: folder, [option]: callback });

const places: Readonly<Record<string, Place>> = {
  'create() of an agent': {
    build: parent(
      () => ({}),
      (create) => ({ create }),
    ),
  },
  ...Object.fromEntries(
    (['policy', 'reachOf', 'budget', 'newId'] as const).map((option) => [
      `${option} of subagents()`,
      {
        build: parent((callback) => ({
          [option]: callback,
          ...(option === 'reachOf' && { policy: { ...unrestricted, deniedPaths: ['/etc'] } }),
        })),
        isSynchronous: true,
      },
    ]),
  ),
  ...Object.fromEntries(
    (['onEvent', 'wrap'] as const).map((option) => [
      `${option} of subagents()`,
      { build: parent((callback) => ({ [option]: callback })), isSynchronous: option === 'wrap' },
    ]),
  ),
  'isolate of subagents()': {
    build: parent(
      (isolate) => ({ isolate }),
      () => ({ isolate: true }),
    ),
  },
  'put() of the artifacts of subagents()': { build: parent((put) => ({ artifacts: { put } })) },
  ...Object.fromEntries(
    (['save', 'delete'] as const).map((method) => [
      `${method}() of a store of sub-agents`,
      { build: parent((callback) => ({ store: { ...memoryStore, [method]: callback } })) },
    ]),
  ),
  ...Object.fromEntries(
    (['list', 'delete'] as const).map((method) => [
      `${method}() of the sessions of sub-agents`,
      {
        build: parent((callback) => ({
          keepSessions: {
            latest: 0,
            store: { list: () => ['x'], delete: () => undefined, [method]: callback },
          } as never,
        })),
      },
    ]),
  ),
  ...Object.fromEntries(
    (['run', 'yieldWhile'] as const).map((method) => [
      `${method}() of the lanes of sub-agents`,
      {
        build: parent((callback) => ({
          lanes: {
            run: (_: string, task: (lease: never) => unknown) =>
              task({ signal: new AbortController().signal } as never),
            yieldWhile: (work: () => unknown) => work(),
            [method]: callback,
          } as never,
        })),
      },
    ]),
  ),
  'run of continuity()': {
    build: worker((run, project) => [continuity({ project, scriptTimeoutMs: 200, run })]),
  },
  'the clock of a project': {
    isSynchronous: true,
    build: async (clock, limit) => {
      const begun = await begunProject(mkdtempSync(join(folder, 'project-')), 'login');
      const project = openProject({ folder: begun.folder, clock });
      return harness({ model: scriptedModel(['Done.']), closeGraceMs: 300 }).pipe(...limit, continuity({ project }));
    },
  },
  'isConfused of handOff()': {
    isSynchronous: true,
    build: worker((isConfused, project) => [
      compaction({
        window: 3_000,
        reserve: 500,
        summarize: () => Promise.resolve('A summary.'),
        lastResort: handOff({ project, timeoutMs: 500, minSteps: 0, isConfused }),
      }),
    ]),
  },
  ...Object.fromEntries(
    (['include', 'scan'] as const).flatMap((option) => [
      [
        `${option} of skillLibrary(), with skills()`,
        {
          isSynchronous: option === 'include',
          build: worker((callback) => [skills({ library: library(callback, option), deadlineMs })]),
        },
      ],
      [
        `${option} of skillLibrary(), with prompt()`,
        {
          isSynchronous: option === 'include',
          build: worker((callback) => [prompt({ session: [skillsIndex(library(callback, option))], deadlineMs })]),
        },
      ],
    ]),
  ),
};

describe('a callback of an agent that fails with a hostile value', () => {
  const uncaught = collectUncaught();

  it.each(Object.keys(places))('ends no process and leaves the turn with an end: %s', async (name) => {
    const { build, isSynchronous = false } = places[name] as Place;
    let calls = 0;
    const problems: string[] = [];
    uncaught.length = 0;
    const attempt = async (failing: Failing): Promise<void> => {
      const callback = (): never => {
        calls += 1;
        return failing.behave() as never;
      };
      const agent = await build(callback, failing.isHanging ? [guardrails({ maxDurationMs: 1_000 })] : []);
      const problem = await problemWithTurn(agent, { session: 's', input: 'Go '.repeat(2_000) });
      if (problem !== undefined) problems.push(`${failing.name}: ${problem}`);
    };
    await Promise.all(failures(isSynchronous).map(attempt));
    await new Promise((resolve) => setImmediate(resolve));
    if (uncaught.length > 0) problems.push(`${uncaught.length} uncaught`);
    expect(problems, problems.join('; ')).toEqual([]);
    expect(calls, 'The callback was never called.').toBeGreaterThan(0);
  });
});
