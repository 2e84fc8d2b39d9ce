import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attacksIn, destructiveAttacks, generatedAttack } from '../../test/attacks.js';
import { makeCanary, type Canary } from '../../test/canary.js';
import { commandPermissions } from './command-permissions.js';

const seed = Number(process.env['CANARY_SEED'] ?? process.env['PROPERTY_SEED'] ?? Date.now() % 1_000_000);
const rounds = 40_000;

/** A small pseudorandom number generator with a seed, so that a run can be repeated. */
const randomFrom = (start: number): ((count: number) => number) => {
  let state = start >>> 0;
  return (count) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
};

describe.runIf(process.env['TEST_LONG'] === '1')(`generated lines against a real shell (CANARY_SEED=${seed})`, () => {
  let canary: Canary;
  beforeAll(() => {
    canary = makeCanary();
  });
  afterAll(() => canary.remove());

  const reads = commandPermissions({ allowWrite: false });
  const lists = commandPermissions({
    allowedCommands: [
      'ls',
      'cat',
      'echo',
      'git status',
      'git diff',
      'find',
      'xargs',
      'env',
      'nice',
      'timeout',
      'bash',
      'stdbuf',
      'command',
      'time',
    ],
  });

  it('allows no generated line that writes', { timeout: 1_800_000 }, () => {
    const pick = randomFrom(seed);
    const seen = new Set<string>();
    const written: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const line = generatedAttack(pick);
      if (seen.has(line)) continue;
      seen.add(line);
      const isAllowed = [reads, lists].some((policy) => policy(line, { cwd: canary.folder }).decision === 'allow');
      if (isAllowed && canary.writes(line)) written.push(line);
    }
    expect(seen.size).toBeGreaterThan(1_000);
    expect(written).toEqual([]);
  });

  it('generates attacks that mostly succeed without the check', { timeout: 600_000 }, () => {
    const all = [...attacksIn(canary.folder), ...(canary.isConfined ? destructiveAttacks : [])];
    const attacks = all.filter((_, index) => index % 8 === 0);
    expect(attacks.filter((line) => canary.writes(line)).length / attacks.length).toBeGreaterThan(0.5);
  });
});
