import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { allowsPath, confinement, unrestricted, type AgentPolicy } from '@h/subagents';
import { createWorkspace } from '@h/workspace';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

const files = [
  'repo/a',
  'repo/src/a',
  'repo/src/[x]/a',
  'repo/src/x/a',
  'repo/src/keys/a',
  'repo/b !/a',
  'repo/#c',
  'docs/a',
  'docs/src/a',
  'docs/keys/a',
  'other/a',
];
const folders = [
  '',
  'repo',
  'repo/src',
  'repo/src/[x]',
  'repo/src/keys',
  'repo/b !',
  'repo/#c',
  'docs',
  'docs/src',
  'docs/keys',
  'other',
  'repo/none',
];

let home = '';
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'confinement-')));
  for (const file of files) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), '');
  }
});
afterAll(() => rm(home, { recursive: true, force: true }));

const roots = fc.subarray(folders, { maxLength: 3 });
const policies = fc.record({
  read: fc.option(roots, { nil: null }),
  write: fc.option(roots, { nil: null }),
  deniedPaths: fc.subarray(folders.slice(1), { maxLength: 2 }),
  sandbox: fc.constantFrom<AgentPolicy['sandbox'][]>('none', 'workspace-write', 'read-only'),
});

it('lets a workspace reach only the files that the policy allows', () => {
  const at = (paths: readonly string[]): readonly string[] => paths.map((path) => join(home, path));
  let used = 0;
  fc.assert(
    fc.property(policies, ({ read, write, deniedPaths, sandbox }) => {
      const policy: AgentPolicy = {
        ...unrestricted,
        sandbox,
        read: read && at(read),
        write: write && at(write),
        deniedPaths: at(deniedPaths),
      };
      const { paths } = createWorkspace(confinement(policy, join(home, 'repo')).workspace);
      for (const file of at(files)) {
        for (const access of ['read', 'write'] as const) {
          const isUsed = ((): boolean => {
            try {
              return paths.resolve(file, { for: access }) === file;
            } catch {
              return false;
            }
          })();
          if (!isUsed) continue;
          used += 1;
          expect(allowsPath(policy, file, access), `${access} ${file}`).toBe(true);
          expect(access === 'write' && sandbox === 'read-only').toBe(false);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(used).toBeGreaterThan(100);
  const { paths } = createWorkspace(confinement(unrestricted, join(home, 'repo')).workspace);
  for (const file of at(files).filter((each) => each.startsWith(join(home, 'repo')))) {
    expect(paths.resolve(file, { for: 'write' })).toBe(file);
  }
});
