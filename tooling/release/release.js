/**
 * Shows the versions and changelogs of the next release, in a copy of the last commit. With `--publish`, performs the
 * release: versions, checks, publishes, tags.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const shell = process.platform === 'win32';
const changeset = join(root, 'node_modules/@changesets/cli/bin.js');

/** @type {(command: string, args: string[], cwd?: string) => void} */
const run = (command, args, cwd = root) => {
  execFileSync(command, args, { cwd, shell: shell && command !== process.execPath, stdio: 'inherit' });
};

/** @type {(folder: string) => Map<string, string>} */
const versionsIn = (folder) =>
  new Map(
    readdirSync(join(folder, 'packages')).map((name) => {
      const manifest = JSON.parse(readFileSync(join(folder, 'packages', name, 'package.json'), 'utf8'));
      return [manifest.name, manifest.version];
    }),
  );

const rehearse = () => {
  const copy = mkdtempSync(join(tmpdir(), 'h-release-'));
  rmSync(copy, { recursive: true });
  run('git', ['worktree', 'add', '--quiet', '--detach', copy]);
  try {
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
    const before = versionsIn(copy);
    run(process.execPath, [changeset, 'version'], copy);
    for (const [name, version] of versionsIn(copy)) {
      if (version !== before.get(name)) console.log(`${name}  ${before.get(name)} -> ${version}`);
    }
    run('git', ['add', '--intent-to-add', 'packages'], copy);
    run('git', ['--no-pager', 'diff', '--stat'], copy);
  } finally {
    run('git', ['worktree', 'remove', '--force', copy]);
  }
};

if (process.argv.includes('--publish')) {
  run(process.execPath, [changeset, 'version']);
  run('pnpm', ['install', '--lockfile-only']);
  run('pnpm', ['run', 'check']);
  run('git', ['commit', '--all', '--message', 'chore: release']);
  run(process.execPath, [changeset, 'publish']);
} else {
  rehearse();
  console.log('This was a dry run. To publish the release: npm run release -- --publish');
}
