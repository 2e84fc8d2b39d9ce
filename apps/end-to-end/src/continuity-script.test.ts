import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { continuity, type ContinuityOptions, type Project } from '@h/continuity';
import { localChecks } from '@h/process';
import { harness, type TurnEvent } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { begunProject, ownFolder } from './continuity-folder.js';

const runs = { run: localChecks() };

const session = async (project: Project, options: Partial<ContinuityOptions> = {}) => {
  const model = scriptedModel(['I see.']);
  const agent = harness({ model }).pipe(continuity({ project, ...runs, ...options }));
  const events: readonly TurnEvent[] = await lastValueFrom(
    agent.turn({ session: 'one', input: 'Go on.' }).pipe(toArray()),
  );
  return { events, state: JSON.stringify(model.requests[0]?.tail) };
};

const projectWithScript = async (script: string): Promise<Project> => {
  const project = await begunProject(await ownFolder(), 'login');
  await writeFile(project.script.path, script);
  return project;
};

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Reads the process id that a script has written to a file. */
const written = async (project: Project): Promise<number> => {
  const path = join(project.folder, 'pid');
  await vi.waitUntil(async () => (await readFile(path, 'utf8').catch(() => '')).endsWith('\n'), { timeout: 10_000 });
  const pid = Number(await readFile(path, 'utf8'));
  await rm(path);
  return pid;
};

describe('workspace.sh in a real shell', () => {
  it.each<readonly [string, string, RegExp]>([
    ['succeeds', 'echo fine', /has succeeded/],
    ['fails', 'echo "no database" >&2; exit 3', /has failed.*exit code 3.*no database/],
    ['is killed', 'echo "so far"; kill -9 $$', /has failed.*(?:137|killed).*so far/],
    [
      'prints hundreds of megabytes',
      'yes "a line that is dropped" | head -c 300000000; echo; echo "the end"; exit 1',
      /has failed.*exit code 1.*the end/,
    ],
    ['has a syntax error', 'if then', /has failed.*syntax error/],
  ])('that %s does not block the turn', async (_, script, report) => {
    const { events, state } = await session(await projectWithScript(script));
    expect(state.replaceAll('\\n', ' ')).toMatch(report);
    expect(state.length).toBeLessThan(4_000);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  });

  it('that hangs is killed with its child processes, and the model reads the reason', async () => {
    const project = await projectWithScript('sleep 600 &\necho $! > pid\nwait');
    const { state } = await session(project, { scriptTimeoutMs: 500 });
    expect(state).toMatch(/has failed.*timed-out/);
    const pid = await written(project);
    await vi.waitUntil(() => !isRunning(pid), { timeout: 5_000 });
  });

  it('that leaves a background process with an open output does not block the turn', async () => {
    const project = await projectWithScript('(sleep 600; echo late) &\necho $! > pid\necho started');
    const { state, events } = await session(project);
    expect(state).toMatch(/workspace\.sh has succeeded/);
    expect(events.at(-1)).toMatchObject({ outcome: 'completed' });
    const pid = await written(project);
    await vi.waitUntil(() => !isRunning(pid), { timeout: 5_000 });
  });

  it.each(['unsubscribed', 'cancelled'])('ends with its turn when the turn is %s', async (how) => {
    const project = await projectWithScript('sleep 600 &\necho $! > pid\nwait');
    const controller = new AbortController();
    const model = scriptedModel(['Never asked.']);
    const seen: TurnEvent[] = [];
    const agent = harness({ model }).pipe(continuity({ project, ...runs }));
    const running = agent
      .turn({ session: 'one', input: 'Go on.', signal: controller.signal })
      .subscribe((event) => seen.push(event));
    const pid = await written(project);
    if (how === 'unsubscribed') running.unsubscribe();
    else controller.abort();
    await vi.waitUntil(() => !isRunning(pid), { timeout: 10_000 });
    if (how === 'cancelled') await vi.waitUntil(() => seen.at(-1)?.type === 'turn.end', { timeout: 10_000 });
    expect(model.requests).toHaveLength(0);
    expect(await project.status()).toMatchObject({ next: { kind: 'work' } });
  });
});
