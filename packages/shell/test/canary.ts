import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder in which lines are really run, and every change is detected. */
export interface Canary {
  readonly folder: string;
  /** Whether a line cannot change anything outside the folder, because it runs in bubblewrap. */
  readonly isConfined: boolean;
  /** Runs a line; returns whether it changed anything. */
  readonly writes: (line: string) => boolean;
  readonly remove: () => void;
}

const git = (cwd: string, ...args: readonly string[]): void => {
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, stdio: 'pipe' });
};

/** The file `list` in the formats of the programs that exist here. */
const packed = (['gzip gz', 'bzip2 bz2', 'xz xz'] as const).flatMap((names) => {
  const [program = '', ending] = names.split(' ');
  const { status, stdout } = spawnSync(program, ['-c'], { input: 'a\nb\n' });
  return status === 0 ? [[`list.${ending}`, stdout] as const] : [];
});

const fill = (folder: string, target: string): void => {
  mkdirSync(folder, { recursive: true });
  const file = (name: string, text: string, mode = 0o644): void => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  };
  const script = `#!/bin/sh\ntouch ${target}\n`;
  file('list', 'a\nb\n');
  file('old', 'a\n');
  file('args', 'touch canary\n');
  file('run.sh', script, 0o755);
  file('evil.awk', 'BEGIN { print > "canary" }\n');
  file('evil.sed', 'w canary\n');
  git(folder, 'init', '-q', '-b', 'main', '.');
  git(folder, 'add', 'list');
  git(folder, 'commit', '-qm', 'one');
  for (const name of ['evil', 'evilhome', 'bin']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'bin/ls'), script, { mode: 0o755 });
  for (const [name, content] of packed) writeFileSync(join(folder, name), content);
  file('evilrc', '--pre=./run.sh\n');
  file('evil.js', "require('fs').writeFileSync('canary', '')\n");
  execFileSync('tar', ['cf', 'evil.tar', 'list'], { cwd: folder });
  const evil = join(folder, 'evil');
  git(evil, 'init', '-q', '-b', 'main', '.');
  writeFileSync(join(evil, 'a'), 'a\n');
  git(evil, 'add', 'a');
  git(evil, 'commit', '-qm', 'one');
  writeFileSync(join(evil, 'a'), 'b\n');
  git(evil, 'config', 'core.fsmonitor', join(folder, 'run.sh'));
  git(evil, 'config', 'diff.external', join(folder, 'run.sh'));
  mkdirSync(join(evil, 'sub'));
  symlinkSync('evil/sub', join(folder, 'link'));
  // The folder is a bare repository, too.
  for (const name of ['objects', 'refs']) mkdirSync(join(folder, name));
  file('HEAD', 'ref: refs/heads/main\n');
  file('config', `[core]\nbare = true\n[diff]\nexternal = ${join(folder, 'run.sh')}\n`);
  writeFileSync(join(folder, 'evilhome/.gitconfig'), `[core]\nfsmonitor = ${join(folder, 'run.sh')}\n`);
  mkdirSync(join(folder, 'evilhome/git'));
  writeFileSync(join(folder, 'evilhome/git/config'), `[core]\nfsmonitor = ${join(folder, 'run.sh')}\n`);
};

/**
 * Returns the content of a folder, except the index that git refreshes while it reads; empty if a line has removed the
 * folder.
 */
const listing = (folder: string): string => {
  if (!existsSync(folder)) return '';
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/(?:^|\/)\.git\/(?:index|objects)/.test(name))
    .toSorted()
    .map((name) => {
      const stat = statSync(join(folder, name), { throwIfNoEntry: false });
      return stat === undefined || stat.isDirectory() ? name : `${name} ${stat.size} ${stat.mtimeMs}`;
    })
    .join('\n');
};

/** Devices that a confined line shares with the machine, which root owns. */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

/** Returns a function that restores the permissions of the devices. */
const keepDevices = (): (() => void) => {
  const modes = devices.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mode] as const);
  return () => {
    for (const [path, mode] of modes) {
      if (mode !== undefined && statSync(path).mode !== mode) chmodSync(path, mode);
    }
  };
};

/**
 * Returns the command that confines a line: no network, separate processes, a read-only root, an empty `/tmp`, and one
 * writable folder.
 */
const confined = (base: string): readonly string[] =>
  `bwrap --unshare-all --die-with-parent --new-session --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind ${base} ${base} --`.split(
    ' ',
  );

const hasBubblewrap = (): boolean =>
  spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true'], { stdio: 'ignore' }).status === 0;

/** Creates the folder, without any settings of the user. */
export const makeCanary = (): Canary => {
  const base = mkdtempSync(join(tmpdir(), 'h-shell-'));
  const folder = join(base, 'work');
  const home = join(base, 'home');
  let before = '';
  const reset = (): void => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home);
    fill(folder, join(folder, 'canary'));
    before = `${listing(folder)}|${listing(home)}`;
  };
  reset();
  const isConfined = hasBubblewrap();
  const restoreDevices = keepDevices();
  return {
    folder,
    isConfined,
    writes: (line) => {
      const [program, ...args] = [...(isConfined ? confined(base) : []), 'bash', '-c', line];
      spawnSync(program, args, {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: home, SHELL: '/bin/bash', PAGER: 'cat', GIT_OPTIONAL_LOCKS: '0' },
        stdio: ['ignore', 'ignore', 'ignore'],
        timeout: 2_000,
        killSignal: 'SIGKILL',
      });
      restoreDevices();
      const isChanged = `${listing(folder)}|${listing(home)}` !== before;
      if (isChanged) reset();
      return isChanged;
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
};
