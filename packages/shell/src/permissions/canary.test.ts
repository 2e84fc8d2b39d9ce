import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attacksIn, destructiveAttacks } from '../../test/attacks.js';
import { makeCanary, type Canary } from '../../test/canary.js';
import { commandPermissions } from './command-permissions.js';

let canary: Canary;
beforeAll(() => {
  canary = makeCanary();
});
afterAll(() => canary.remove());

/** All lines that can run here. Destructive ones run only if they are confined. */
const linesFor = ({ folder, isConfined }: Canary): readonly string[] => [
  ...attacksIn(folder),
  ...(isConfined ? destructiveAttacks : []),
];

const policies = {
  'allowWrite: false': commandPermissions({ allowWrite: false }),
  'an allow list': commandPermissions({
    allowedCommands: [
      'ls',
      'cat',
      'echo',
      'git status',
      'git diff',
      'git log',
      'find',
      'xargs',
      'env',
      'nice',
      'sort',
      'bash',
      'test',
      'sed',
      'awk',
      'timeout',
      'cd',
      'grep',
      '[',
    ],
  }),
};

describe.each(Object.entries(policies))('%s, against a real shell', (_, policy) => {
  it('allows no line that writes', () => {
    const allowed = linesFor(canary).filter((line) => policy(line, { cwd: canary.folder }).decision === 'allow');
    expect(allowed.filter((line) => canary.writes(line))).toEqual([]);
  });
});

it('contains attacks that succeed without the check', () => {
  const sample = linesFor(canary).filter((_, index) => index % 40 === 0);
  expect(sample.filter((line) => canary.writes(line)).length / sample.length).toBeGreaterThan(0.5);
});
