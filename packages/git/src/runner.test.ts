import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { oddlyNamedFolder, temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { gitBench, gitBenchAt, type GitBench } from '../test/git-bench.js';
import { createGitRepository, type GitRepository } from './repository.js';
import { createGitRunner } from './runner.js';
import { statusArguments } from './status.js';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A repository whose settings, hooks and filters all write to one file. */
const hostile = (): { readonly bench: GitBench; readonly ran: () => string } => {
  const marker = join(oddlyNamedFolder(), 'ran');
  const bench = gitBench({ 'a.txt': 'one\n', 'b.bin': 'one\n', '.gitattributes': '*.bin filter=evil diff=evil\n' });
  const program = (name: string): string => `${quoted(bench.at('evil'))} ${name}`;
  bench.put('evil', `#!/bin/sh\necho "$1" >> ${quoted(marker)}\ncase "$1" in clean|smudge|textconv) cat ;; esac\n`);
  chmodSync(bench.at('evil'), 0o755);
  for (const hook of [
    'pre-commit',
    'commit-msg',
    'post-commit',
    'post-checkout',
    'post-index-change',
    'reference-transaction',
    'pre-push',
    'prepare-commit-msg',
    'post-merge',
  ]) {
    bench.put(`.git/hooks/${hook}`, `#!/bin/sh\n${program(hook)} < /dev/null\n`);
    chmodSync(bench.at(`.git/hooks/${hook}`), 0o755);
  }
  const settings: Readonly<Record<string, string>> = {
    'core.fsmonitor': program('fsmonitor'),
    'core.pager': program('pager'),
    'core.editor': program('editor'),
    'core.sshCommand': program('ssh'),
    'core.askPass': program('askpass'),
    'filter.evil.clean': program('clean'),
    'filter.evil.smudge': program('smudge'),
    'filter.evil.required': 'true',
    'diff.external': program('external'),
    'diff.evil.command': program('diff'),
    'diff.evil.textconv': program('textconv'),
    'commit.gpgSign': 'true',
    'gpg.program': program('gpg'),
    'log.showSignature': 'true',
    'credential.helper': `!${program('credential')}`,
    'credential.https://example.org.helper': `!${program('credential')}`,
    'alias.status': `!${program('alias')}`,
  };
  for (const [key, value] of Object.entries(settings)) bench.git('config', key, value);
  return { bench, ran: () => (existsSync(marker) ? readFileSync(marker, 'utf8') : '') };
};

/** What the tools and the operator do, and more. */
const useEverything = async ({ run, access }: GitRepository, bench: GitBench): Promise<void> => {
  bench.put('b.bin', 'two\n');
  await run([...statusArguments]);
  await run(['switch', '--quiet', '--create', 'other']);
  await run(['add', '--', 'b.bin', 'a.txt']);
  await run(['diff', '--cached', '--no-ext-diff', '--no-textconv']);
  await run(['commit', '--quiet', '--message=x'], { environment: await access.identity() });
  await run(['log', '--max-count=1']);
  await run(['switch', '--quiet', 'main']);
  await run(['push', 'ssh://example.invalid/x', 'main']);
  await run(['push', bench.at('.git'), 'main:copy']);
};

describe('in a folder that is not trusted, git', () => {
  it('does not run if the settings that name programs cannot be listed', async () => {
    const bench = gitBench();
    const program = join(temporaryFolder(), 'git');
    writeFileSync(program, '#!/bin/sh\n[ "$1" != config ] || exit 3\necho ran\n', { mode: 0o755 });
    vi.stubEnv('PATH', `${dirname(program)}:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { run } = createGitRepository({ root: bench.root });
    expect(await run(['status'])).toMatchObject({ exitCode: 3, stdout: Buffer.alloc(0) });
  });

  it('runs no program that the repository configures', async () => {
    const { bench, ran } = hostile();
    await useEverything(createGitRepository({ root: bench.root }), bench);
    expect(ran()).toBe('');
    expect(bench.git('show', 'other:b.bin')).toBe('two');
  });

  it('runs no program that was configured later', async () => {
    const bench = gitBench({ 'b.bin': 'one\n', '.gitattributes': '*.bin filter=evil\n' });
    const repository = createGitRepository({ root: bench.root });
    await repository.state();
    bench.git('config', 'filter.evil.clean', `touch "${bench.at('ran')}"; cat`);
    bench.put('b.bin', 'two\n');
    await repository.state();
    await repository.git(['add', '--', 'b.bin']);
    expect(existsSync(bench.at('ran'))).toBe(false);
  });

  it.each(['core.alternateRefsCommand', 'remote.origin.receivepack', 'core.gitProxy'])(
    'refuses to work where %s is set, which nothing can be put over',
    async (key) => {
      const bench = gitBench();
      bench.git('config', key, 'touch ran');
      await expect(createGitRepository({ root: bench.root }).state()).rejects.toMatchObject({
        code: 'git-config',
        message: expect.stringContaining(key.toLowerCase()) as string,
      });
    },
  );

  it('does not push to a folder, whose hooks would run here', async () => {
    const other = gitBench();
    const { exitCode, stderr } = await createGitRepository({ root: gitBench().root }).run([
      'push',
      other.root,
      'main:copy',
    ]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("transport 'file' not allowed");
  });

  it('does not read the settings of the user', async () => {
    const home = oddlyNamedFolder();
    for (const name of ['.gitconfig', 'global']) writeFileSync(join(home, name), '[core]\n  editor = evil\n');
    vi.stubEnv('HOME', home);
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, 'global'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stdout } = await createGitRunner({ root: gitBench().root })(['config', '--list', '--show-scope']);
    expect(stdout.toString()).not.toMatch(/^(?:system|global)/m);
  });

  it('does not follow a work tree that is elsewhere', async () => {
    const bench = gitBench();
    bench.git('config', 'core.worktree', oddlyNamedFolder());
    await expect(createGitRepository({ root: bench.root }).top()).rejects.toMatchObject({ code: 'git-no-repository' });
  });
});

describe('git', () => {
  it('runs hooks and filters in a folder that is trusted', async () => {
    const { bench, ran } = hostile();
    await useEverything(createGitRepository({ root: bench.root, trusted: true }), bench);
    const names = new Set(ran().split('\n'));
    for (const name of [
      'fsmonitor',
      'clean',
      'pre-commit',
      'post-checkout',
      'reference-transaction',
      'pre-push',
      'ssh',
    ]) {
      expect([...names]).toContain(name);
    }
  });

  it('finds the repository in a folder whose name has line breaks and ends with a space', async () => {
    const root = join(temporaryFolder(), 'my\ncode ');
    mkdirSync(root);
    gitBenchAt(root).git('init');
    expect(await createGitRepository({ root }).top()).toBe(root);
  });

  it('finds the repository from its folder, not from the environment', async () => {
    const other = gitBench({ 'other.txt': 'x' });
    const { root } = gitBench();
    vi.stubEnv('GIT_DIR', other.at('.git'));
    vi.stubEnv('GIT_WORK_TREE', other.root);
    vi.stubEnv('GIT_INDEX_FILE', other.at('.git/index'));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await createGitRepository({ root }).top()).toBe(root);
  });

  it.each([
    [true, 'terminal prompts disabled'],
    [false, 'Authentication failed'],
  ])('does not prompt for a password, trusted: %s', async (trusted, said) => {
    for (const name of ['GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_TERMINAL_PROMPT']) vi.stubEnv(name, undefined);
    vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
    vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
    vi.stubEnv('NO_PROXY', '127.0.0.1');
    const server = createServer((_, answer) => answer.writeHead(401, { 'www-authenticate': 'Basic' }).end());
    onTestFinished(() => {
      vi.unstubAllEnvs();
      server.close();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    const result = await createGitRepository({ root: gitBench().root, trusted }).run(['fetch', url]);
    expect(result).toMatchObject({ exitCode: 128, stderr: expect.stringContaining(said) as string });
  });

  it('is ended at its time limit', async () => {
    const repository = createGitRepository({ root: gitBench().root, trusted: true });
    await expect(repository.git(['-c', 'alias.wait=!sleep 60', 'wait'], { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'git-failed',
    });
  });

  it('reports that git is not installed', async () => {
    const { root } = gitBench();
    vi.stubEnv('PATH', oddlyNamedFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(createGitRepository({ root }).state()).rejects.toMatchObject({ code: 'git-missing' });
  });

  it.skipIf(process.platform !== 'linux')('reports that the system could not start it', async () => {
    const { root } = gitBench();
    vi.stubEnv('H_TEST_TOO_LONG', 'x'.repeat(1_000_000));
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(createGitRepository({ root, trusted: true }).state()).rejects.toMatchObject({ code: 'git-failed' });
  });

  it('reports that its folder was removed', async () => {
    const { root } = gitBench();
    const repository = createGitRepository({ root });
    rmSync(root, { recursive: true });
    await expect(repository.state()).rejects.toMatchObject({
      code: 'git-no-repository',
      message: expect.stringContaining('the working directory') as string,
    });
  });

  it('waits for another git process that holds the lock', async () => {
    const bench = gitBench();
    const lock = bench.at('.git/index.lock');
    bench.put('.git/index.lock', '');
    bench.put('b.txt', 'x');
    const adding = createGitRepository({ root: bench.root }).git(['add', '--', 'b.txt']);
    setTimeout(() => rmSync(lock), 150);
    await adding;
    expect(bench.status()).toEqual(['A  b.txt']);
  });
});
