import { writeFileSync } from 'node:fs';
import { createRegistry, toolDriver } from '@h/tools';
import { harness, memorySessions, type SessionStore, type TurnEvent } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { writeTool } from '../test/agent-tools.js';
import { gitBench, type GitBench } from '../test/git-bench.js';
import { GitError } from './git-error.js';
import { git } from './git.js';
import { createGitRepository, type GitRepository } from './repository.js';
import { createGitRunner } from './runner.js';

/** A turn that writes one file. */
const turn = (repository: GitRepository, sessions: SessionStore, path: string): Promise<readonly TurnEvent[]> =>
  lastValueFrom(
    harness({
      model: scriptedModel([response(call(path, 'write', { path, content: `${path}\n` })), 'Done.']),
      tools: toolDriver(createRegistry().register(writeTool(repository.root))),
      sessions,
      closeGraceMs: 60_000,
    })
      .pipe(git({ repository, autoCommit: true, commitTimeoutMs: 60_000 }))
      .turn({ session: 'session', input: path })
      .pipe(toArray()),
  );

/** A repository with staged, unstaged and new files of the user. */
const benchWithChanges = (): GitBench => {
  const bench = gitBench({ 'a.txt': 'one\n', 'staged.txt': 'old\n', 'changed.txt': 'old\n' });
  bench.put('staged.txt', 'of the user\n');
  bench.git('add', 'staged.txt');
  bench.put('changed.txt', 'of the user\n');
  bench.put('new.txt', 'of the user\n');
  return bench;
};

const users = ['?? new.txt', ' M changed.txt', 'M  staged.txt'];

describe('a git command that fails during a turn', () => {
  it.each([
    ['reports a failure after its work', 1],
    ['is ended after its work, and all later ones', Infinity],
  ])('loses no change and no branch if it %s', { timeout: 600_000 }, async (_, count) => {
    for (let operation = 1; ; operation += 1) {
      const bench = benchWithChanges();
      // Half as many processes: for folders that are not trusted, each command reads the settings first.
      const run = createGitRunner({ root: bench.root, trusted: true });
      let reached = 0;
      let isFaulty = true;
      const repository = createGitRepository({
        root: bench.root,
        run: async (args, options) => {
          reached += isFaulty ? 1 : 0;
          const isFailing = isFaulty && reached >= operation && reached < operation + count;
          const result = await run(args, options);
          if (!isFailing) return result;
          if (count > 1) throw new GitError('git-failed', 'git did not finish: it was ended by SIGKILL.');
          return { exitCode: 128, stdout: Buffer.alloc(0), stderr: 'fatal: No space left on device' };
        },
      });
      const sessions = memorySessions();
      const first = await turn(repository, sessions, 'b.txt');
      isFaulty = false;
      if (reached < operation) break;
      const label = `operation ${operation}`;
      expect(first.at(-1)?.type, label).toBe('turn.end');
      expect(repository.claims.current, label).toBeUndefined();
      await turn(repository, sessions, 'c.txt');

      const committed = bench.git('log', '--all', '--name-only', '--format=').split('\n');
      const left = bench.status().filter((line) => !users.includes(line));
      const hasWritten = first.some(({ type }) => type === 'tool.result');
      expect(committed, label).toContain('c.txt');
      // With the old version of a committed file in the index, the next commit of the user would undo it.
      expect(left, label).toEqual(
        hasWritten && !committed.includes('b.txt') ? [expect.stringMatching(/^(\?\?|A ) b.txt$/)] : [],
      );
      expect(bench.status(), label).toEqual(expect.arrayContaining(users));
      expect(
        committed.filter((path) => path === 'new.txt'),
        label,
      ).toEqual([]);
      expect(bench.git('log', '--format=%s', 'main'), label).toBe('first');
      if (count === 1) {
        expect(bench.branch(), label).toBe('main');
        expect(bench.branches(), label).toHaveLength(2);
      }
    }
  });

  it.each(['index.lock', 'HEAD.lock'])('names a lock file that remains: %s', async (name) => {
    const bench = benchWithChanges();
    const lock = bench.at(`.git/${name}`);
    writeFileSync(lock, '');
    const events = await turn(createGitRepository({ root: bench.root }), memorySessions(), 'b.txt');
    const failure = events.flatMap((event) =>
      event.type === 'git.failed' || event.type === 'turn.end' ? (event.error ?? []) : [],
    )[0];
    expect(failure).toMatchObject({ code: 'git-locked', message: expect.stringContaining(lock) as string });
    expect(bench.branches().length).toBeLessThanOrEqual(name === 'HEAD.lock' ? 1 : 2);
  });
});
