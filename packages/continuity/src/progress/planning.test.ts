import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planned } from '../../test/projects.js';
import { ContinuityError } from '../errors.js';
import { releaseClaims, releaseGone, renewClaims } from './changes.js';
import { beginWork, claimPlanning, emptyProgress, planTasks } from './planning.js';
import { parseProgress } from './parse.js';
import { isHeld } from './select-task.js';

const leaseMs = 1_000;
const code = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof ContinuityError ? error.code : String(error);
  }
};
const claimedBy = (owner: string, at = 0) => claimPlanning(emptyProgress('Goal'), { owner, at, leaseMs });

describe('claimPlanning', () => {
  it('grants the planning to one session until its lease expires', () => {
    const claimed = claimedBy('one');
    expect(code(() => claimPlanning(claimed, { owner: 'two', at: 999, leaseMs }))).toBe('claim-lost');
    const taken = claimPlanning(claimed, { owner: 'two', at: 1_000, leaseMs });
    expect(taken.planning).toMatchObject({ generation: 2, lastOwner: 'two', claim: { owner: 'two', generation: 2 } });
    expect(code(() => claimPlanning(taken, { owner: 'one', at: 1_001, leaseMs }))).toBe('claim-lost');
    expect(parseProgress(JSON.stringify(taken))).toEqual({ state: 'ready', progress: taken });
  });

  it('renews the claim, and grants it to another session once it is released or its process has died', () => {
    const process = { machine: 'm', boot: 'b', pid: 1, start: '1' };
    const claimed = renewClaims(claimedBy('one'), { owner: 'one', at: 900, leaseMs, process });
    expect(code(() => claimPlanning(claimed, { owner: 'two', at: 1_800, leaseMs }))).toBe('claim-lost');
    expect(claimPlanning(claimed, { owner: 'one', at: 1_800, leaseMs }).planning?.claim).toMatchObject({
      generation: 1,
      expiresAt: new Date(2_800).toISOString(),
    });
    for (const free of [releaseClaims(claimed, 'one'), releaseGone(claimed, ({ pid }) => pid === 1)]) {
      expect(free.planning).toEqual({ generation: 1, lastOwner: 'one' });
      expect(claimPlanning(free, { owner: 'two', at: 901, leaseMs }).planning?.claim?.owner).toBe('two');
    }
    expect(releaseClaims(claimed, 'two')).toBe(claimed);
  });

  it('ends when work begins', () => {
    const working = beginWork(planTasks(claimedBy('one'), planned('a')));
    expect(working).toMatchObject({ phase: 'working' });
    expect(working.planning).toBeUndefined();
    expect(code(() => claimPlanning(working, { owner: 'two', at: 0, leaseMs }))).toBe('already-initialized');
    // A leftover entry of a hand-edited file has no effect.
    expect(parseProgress(JSON.stringify({ ...working, planning: claimedBy('one').planning })).state).toBe('ready');
  });
});

describe('planTasks', () => {
  it('replaces the plan until work has begun', () => {
    const first = planTasks(emptyProgress('Goal'), planned('a'));
    expect(planTasks(first, planned('b', 'c')).tasks.map(({ id }) => id)).toEqual(['b', 'c']);
    expect(code(() => planTasks(beginWork(first), planned('b')))).toBe('already-initialized');
  });

  it('requires acceptance criteria', () => {
    expect(code(() => planTasks(emptyProgress('Goal'), [{ id: 'a', title: 'A', acceptance: [] }]))).toBe(
      'progress-invalid',
    );
  });

  it('does not begin work without tasks', () => {
    expect(beginWork(emptyProgress('Goal')).phase).toBe('initializing');
  });
});

describe('the planning of several sessions', () => {
  it("is one session's at a time, whoever does what and when", () => {
    const commands = fc.array(
      fc.record({
        do: fc.constantFrom('claim', 'claim', 'renew', 'release', 'plan', 'wait'),
        owner: fc.constantFrom('one', 'two', 'three'),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(commands, (all) => {
        let progress = emptyProgress('Goal');
        let at = 0;
        for (const { do: what, owner } of all) {
          at += what === 'wait' ? 700 : 10;
          const claiming = { owner, at, leaseMs };
          const before = progress;
          try {
            if (what === 'claim') progress = claimPlanning(progress, claiming);
            if (what === 'renew') progress = renewClaims(progress, claiming);
            if (what === 'release') progress = releaseClaims(progress, owner);
            if (what === 'plan') progress = planTasks(claimPlanning(progress, claiming), planned(owner));
          } catch (error) {
            expect(error).toMatchObject({ code: 'claim-lost' });
            expect(isHeld(before.planning ?? {}, at) && before.planning?.claim?.owner !== owner).toBe(true);
          }
          expect(parseProgress(JSON.stringify(progress))).toMatchObject({ state: 'ready' });
          const [was, is] = [before.planning?.claim, progress.planning?.claim];
          if (was && is?.owner !== was.owner) {
            expect(!isHeld({ claim: was }, at) || (what === 'release' && owner === was.owner)).toBe(true);
          }
          if (progress.tasks !== before.tasks && what === 'plan') expect(is?.owner).toBe(owner);
          expect(progress.planning?.generation ?? 0).toBeGreaterThanOrEqual(before.planning?.generation ?? 0);
        }
      }),
    );
  });
});
