import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, type Sandbox, type SandboxCommand } from '@h/sandbox';
import { createRegistry, toolDriver } from '@h/tools';
import { harness } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { lastValueFrom, tap, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { uniqueSeconds, waitUntilGone } from '@h/process/testing';
import { oddlyNamedFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { callTool, type CallResult } from '../../test/workbench.js';
import { createWorkspace, type Workspace } from '../workspace.js';
import { bashTool, type BashOptions, type CommandRequest } from './bash-tool.js';

interface Bench {
  readonly root: string;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  bash(input: string | object, run?: { readonly signal?: AbortSignal }): Promise<CallResult>;
}

const bench = async (
  options: Partial<BashOptions> = {},
  sandboxOptions: { readonly timeoutMs?: number } = {},
): Promise<Bench> => {
  const workspace = createWorkspace({ root: oddlyNamedFolder() });
  const { root } = workspace.paths;
  const sandbox = await createSandbox({ mode: 'host', root, ...sandboxOptions });
  onTestFinished(() => sandbox.close());
  const tool = bashTool(workspace, { sandbox, ...options });
  return {
    root,
    workspace,
    sandbox,
    bash: (input, run) => callTool(tool, typeof input === 'string' ? { command: input } : input, run),
  };
};

describe('bash', () => {
  it('shows output and errors in order, and how the command ended', async () => {
    const { bash } = await bench();
    const result = await bash('echo one; echo two >&2; echo three');
    expect(result).toMatchObject({ status: 'ok', text: 'one\ntwo\nthree\n' });
    expect(result.details).toMatchObject({
      kind: 'bash',
      cwd: '.',
      ending: 'exited',
      exitCode: 0,
      signal: null,
      timeoutMs: 120_000,
      bytes: 14,
      omittedBytes: 0,
    });
    expect(result.details['durationMs']).toBeGreaterThanOrEqual(0);
  });

  it('reports empty output', async () => {
    expect((await (await bench()).bash('true')).text).toBe('(no output)');
  });

  it('fails with the exit code after the output', async () => {
    const { bash } = await bench();
    expect(await bash('echo "2 tests failed"; exit 2')).toMatchObject({
      status: 'failed',
      code: 'command-failed',
      text: '2 tests failed\nExit code: 2',
      details: { exitCode: 2 },
    });
    expect(await bash('printf x; kill -9 $$')).toMatchObject({
      status: 'failed',
      text: expect.stringMatching(/^x[^]*\nExit code: 137 \(SIGKILL\)$/) as string,
      details: { exitCode: 137, signal: 'SIGKILL' },
    });
    expect(await bash('no-such-command')).toMatchObject({ status: 'failed', details: { exitCode: 127 } });
  });

  it('supports bash syntax, and lines that start with `-`', async () => {
    const { bash } = await bench();
    expect((await bash('a=(1 2 3); [[ ${a[1]} == 2 ]] && echo "${#a[@]}"')).text).toBe('3\n');
    expect((await bash('-n; echo here')).text).toMatch(/here\n$/);
  });

  it('runs each call in the folder that it names', async () => {
    const { bash, root } = await bench();
    mkdirSync(join(root, 'a/b'), { recursive: true });
    expect(await bash({ command: 'pwd; cd ..; export X=1', cwd: 'a/b' })).toMatchObject({
      text: `${root}/a/b\n`,
      details: { cwd: 'a/b' },
    });
    expect((await bash('pwd; echo "[$X]"')).text).toBe(`${root}\n[]\n`);
  });

  it('refuses a folder outside, even through a link, and a path that is not a folder', async () => {
    const { bash, root } = await bench();
    symlinkSync(oddlyNamedFolder(), join(root, 'link'));
    writeFileSync(join(root, 'file'), '');
    for (const cwd of ['..', '/', 'link', 'file', 'missing', 'a\0b']) {
      expect(await bash({ command: 'echo ran', cwd })).toMatchObject({
        status: 'failed',
        text: expect.not.stringContaining('ran') as string,
      });
    }
  });

  it('truncates long output in the middle, at lines and characters', async () => {
    const { bash } = await bench({ maxChars: 1_000 });
    const { text, details } = await bash('for i in $(seq 1 5000); do echo "zeile $i ä😀"; done; exit 1');
    expect(text).toMatch(/^zeile 1 ä😀\n/);
    expect(text).toMatch(/\n\[… [\d,]+ bytes omitted …\]\nzeile \d+ ä😀\n[^]*\nzeile 5000 ä😀\nExit code: 1$/);
    expect(text.length).toBeLessThanOrEqual(1_000 + 'Exit code: 1'.length);
    expect(text.isWellFormed()).toBe(true);
    expect(details['omittedBytes']).toBeGreaterThan(80_000);
  });

  it('describes binary output', async () => {
    expect((await (await bench()).bash('head -c 1000 /dev/zero')).text).toBe(
      '(binary output of 1000 bytes, not shown)',
    );
  });

  it('reads a gigabyte with little memory', { timeout: 120_000 }, async () => {
    const { bash } = await bench();
    await bash('yes | head -c 10M');
    const before = process.memoryUsage();
    let highest = 0;
    const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20);
    const result = await bash('yes | head -c 1G; echo end').finally(() => clearInterval(watch));
    expect(result.details).toMatchObject({ exitCode: 0, bytes: 1024 ** 3 + 4 });
    expect(result.text.length).toBeLessThanOrEqual(30_000);
    expect(result.text).toMatch(/^y\ny\n[^]*y\nend\n$/);
    expect(highest - before.rss).toBeLessThan(150 * 1024 ** 2);
  });

  it('shows the output up to the time limit, and ends the processes', async () => {
    const { bash } = await bench({ timeoutMs: 300 });
    const seconds = uniqueSeconds();
    expect(await bash(`echo begun; sleep ${seconds} & sleep ${seconds}`)).toMatchObject({
      status: 'failed',
      code: 'command-timed-out',
      text: expect.stringMatching(
        /^begun\n[^]*The command exceeded its time limit of 300 ms and was ended with all of its processes\.$/,
      ) as string,
      details: { ending: 'timed-out', timeoutMs: 300 },
    });
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('accepts a time limit from the model, up to that of the sandbox', async () => {
    const { bash } = await bench({}, { timeoutMs: 500 });
    expect(await bash({ command: 'sleep 60', timeoutMs: 100 })).toMatchObject({ details: { timeoutMs: 100 } });
    expect(await bash('true')).toMatchObject({ details: { timeoutMs: 500 } });
    expect(await bash({ command: 'true', timeoutMs: 501 })).toMatchObject({ status: 'invalid-input' });
  });

  it('ends an endless command when the call is cancelled', async () => {
    const { sandbox, workspace } = await bench();
    const seconds = uniqueSeconds();
    const stop = new AbortController();
    const tool = bashTool(workspace, { sandbox });
    const running = Promise.resolve(
      tool.run(
        { command: `sleep ${seconds} & yes` },
        {
          call: { id: '1', name: 'bash' },
          turn: 't',
          session: 's',
          step: 1,
          signal: stop.signal,
          progress: () => stop.abort(),
        },
      ),
    );
    await expect(running).rejects.toMatchObject({ code: 'command-aborted' });
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('ends the command when its turn ends', async () => {
    const { sandbox, workspace } = await bench();
    const seconds = uniqueSeconds();
    const stop = new AbortController();
    const model = scriptedModel([
      response(call('1', 'bash', { command: `echo begun; sleep ${seconds} & sleep ${seconds}` })),
    ]);
    const agent = harness({
      model,
      tools: toolDriver(createRegistry().register(bashTool(workspace, { sandbox }))),
    }).pipe();
    const events = await lastValueFrom(
      agent.turn({ session: 's', input: 'Wait', signal: stop.signal }).pipe(
        tap((event) => event.type === 'tool.progress' && stop.abort()),
        toArray(),
      ),
    );
    expect(events.find((event) => event.type === 'tool.result')).toMatchObject({ status: 'cancelled' });
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'cancelled' });
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('reports its progress periodically', async () => {
    const { sandbox, workspace } = await bench();
    const told: unknown[] = [];
    const tool = bashTool(workspace, { sandbox });
    await tool.run(
      { command: 'for i in $(seq 300); do echo $i; done; sleep 0.4; echo late' },
      {
        call: { id: '1', name: 'bash' },
        turn: 't',
        session: 's',
        step: 1,
        signal: new AbortController().signal,
        progress: (value) => told.push(value),
      },
    );
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(told.length).toBeLessThan(10);
    expect(told.at(-1)).toEqual({ bytes: expect.any(Number) as number, latest: 'late\n' });
  });

  it('never waits for input: no terminal, editor, pager or password prompt', async () => {
    const { bash, root } = await bench();
    execFileSync('git', ['init', '--quiet', root]);
    expect((await bash('tty; read -p "Continue? " answer; echo "[$answer]"')).text).toMatch(/not a tty\n[^]*\[\]\n$/);
    expect(await bash('git -c user.name=a -c user.email=a@b commit --allow-empty')).toMatchObject({ status: 'failed' });
    expect((await bash('echo $CI $TERM $GIT_TERMINAL_PROMPT $PAGER')).text).toBe('1 dumb 0 cat\n');
  });

  it('refuses commands that its permissions deny, before anything runs', async () => {
    const { bash } = await bench({ permissions: { blockedCommands: ['touch'] } });
    expect(await bash('echo ran; touch x')).toMatchObject({
      status: 'failed',
      code: 'command-denied',
      text: 'The command was not run. "touch" is blocked.',
      details: { decision: 'deny' },
    });
    expect((await bash('ls')).text).toBe('(no output)');
  });

  it('asks if the judge requires it, and treats no answer and errors as a refusal', async () => {
    const judge = () => ({ decision: 'ask', reason: 'It deploys.' }) as const;
    expect(await (await bench({ permissions: { judge } })).bash('echo ran')).toMatchObject({
      status: 'failed',
      code: 'approval-required',
    });

    const asked: CommandRequest[] = [];
    const answers: (() => boolean | Promise<boolean>)[] = [
      () => true,
      () => Promise.resolve(false),
      () => Promise.reject(new Error('gone')),
      () => {
        throw new Error('broken');
      },
    ];
    const { bash, root } = await bench({
      permissions: { judge },
      ask: (request) => (asked.push(request), (answers.shift() as () => boolean)()),
    });
    expect((await bash('echo ran')).text).toBe('ran\n');
    expect(asked).toEqual([{ command: 'echo ran', cwd: root, reason: 'It deploys.', session: 'session' }]);
    for (let index = 0; index < 3; index += 1) {
      expect(await bash('echo ran')).toMatchObject({ status: 'failed', code: 'not-approved' });
    }
  });

  it('declares destructive effects on the host, and local writes in an isolated sandbox', async () => {
    const { sandbox, workspace } = await bench();
    expect(bashTool(workspace, { sandbox })).toMatchObject({
      name: 'bash',
      effect: 'destructive',
      idempotent: false,
      timeoutMs: 610_000,
    });
    const isolated = { ...sandbox, isolates: { files: true, network: true } };
    const tool = bashTool(workspace, { sandbox: isolated });
    expect(tool.effect).toBe('local-write');
    expect(tool.definition.description).toContain('There is no network.');
  });

  it('rejects invalid options', async () => {
    const { sandbox, workspace } = await bench();
    const wrong = (options: object) => () => bashTool(workspace, options as BashOptions);
    expect(wrong({})).toThrow(/"sandbox"/);
    expect(wrong({ sandbox, timeout: 1 })).toThrow(/"timeout"/);
    expect(wrong({ sandbox, maxChars: 0 })).toThrow(/"maxChars"/);
    expect(wrong({ sandbox, permissions: { allow: [] } })).toThrow(/"allow"/);
    expect(wrong({ sandbox: { ...sandbox, root: '/elsewhere' } })).toThrow(/received a sandbox with "\/elsewhere"/);
  });

  it('mounts the workspace read-only if writing is disabled and the sandbox can', async () => {
    const commands: SandboxCommand[] = [];
    const recording = (canMountReadOnly: boolean, root: string): Sandbox => ({
      mode: 'docker',
      isolates: { files: true, network: true },
      canMountReadOnly,
      root,
      mountPath: root,
      timeoutMs: 1_000,
      run: async (command) => {
        commands.push(command);
        return { ending: 'exited', exitCode: 0, signal: null, durationMs: 1, timeoutMs: 1_000 };
      },
      close: async () => {},
    });
    const { root } = await bench();
    const writable = createWorkspace({ root });
    const readOnly = createWorkspace({ root, permissions: { allowWrite: false } });
    const call = (workspace: Workspace, sandbox: Sandbox, permissions = {}): Promise<CallResult> =>
      callTool(bashTool(workspace, { sandbox, permissions }), { command: 'ls' });
    await call(writable, recording(true, root));
    await call(writable, recording(true, root), { allowWrite: false });
    await call(writable, recording(false, root), { allowWrite: false });
    await call(readOnly, recording(true, root));
    expect(commands.map((command) => command.readOnly)).toEqual([false, true, false, true]);
    expect(await callTool(bashTool(readOnly, { sandbox: recording(false, root) }), { command: 'rm x' })).toMatchObject({
      code: 'command-denied',
    });
  });

  it('prevents git from running programs of the repository if writing is disabled', async () => {
    const { root } = await bench();
    const marker = join(root, 'ran');
    const git = (...args: readonly string[]): unknown => execFileSync('git', args, { cwd: root, stdio: 'ignore' });
    git('init');
    git('config', 'core.fsmonitor', `touch ${JSON.stringify(marker)}; false`);
    const sandbox = await createSandbox({ mode: 'host', root });
    onTestFinished(() => sandbox.close());
    const run = (permissions: BashOptions['permissions']): Promise<CallResult> =>
      callTool(bashTool(createWorkspace({ root }), { sandbox, permissions }), { command: 'git status --short' });
    expect(await run({ allowWrite: false })).toMatchObject({ status: 'ok' });
    expect(existsSync(marker)).toBe(false);
    await run({});
    expect(existsSync(marker)).toBe(true);
  });

  it('creates files that the other tools can read', async () => {
    const { bash, root } = await bench();
    await bash('mkdir -p out && echo built > out/result');
    expect(readFileSync(join(root, 'out/result'), 'utf8')).toBe('built\n');
  });
});

describe('bash with restricted permissions', () => {
  const hostile = async (permissions: BashOptions['permissions']) => {
    const { root, bash } = await bench({ permissions });
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, stdio: 'pipe' });
    git('init', '-q', '-b', 'main');
    writeFileSync(join(root, 'log'), 'a\n');
    git('add', 'log');
    git('commit', '-qm', 'one');
    writeFileSync(join(root, 'log'), 'b\n');
    const monitor = join(root, 'monitor');
    writeFileSync(monitor, `#!/bin/sh\ntouch ${root}/canary\n`, { mode: 0o755 });
    for (const key of ['core.fsmonitor', 'diff.external', 'core.pager']) git('config', key, monitor);
    return { bash, hasRun: () => existsSync(join(root, 'canary')) };
  };

  it('reads a repository without running configured programs', async () => {
    const { bash, hasRun } = await hostile({ allowWrite: false });
    expect((await bash('git status --short')).text).toContain(' M log');
    expect((await bash('git diff')).text).toContain('+b');
    expect((await bash('git -c color.ui=never --no-pager log -p')).text).toContain('+a');
    expect(hasRun()).toBe(false);
  });

  it('writes no index and fetches no objects when it reads a repository', async () => {
    const index = async (permissions: BashOptions['permissions']) => {
      const { root, bash } = await bench({ permissions });
      const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, stdio: 'pipe' });
      git('init', '-q');
      writeFileSync(join(root, 'a'), 'a\n');
      git('add', 'a');
      // The index then lacks the current time of the file, which `git status` records.
      utimesSync(join(root, 'a'), 1, 1);
      const before = readFileSync(join(root, '.git/index'));
      await bash('git status --short');
      const isKept = readFileSync(join(root, '.git/index')).equals(before);
      return { isKept, noFetch: (await bash('printenv GIT_NO_LAZY_FETCH')).text };
    };
    expect(await index({ allowWrite: false })).toEqual({ isKept: true, noFetch: '1\n' });
    expect(await index({ allowedCommands: ['git', 'printenv'] })).toMatchObject({ isKept: false });
  });

  it('runs no filter, driver or signature check that a repository names', async () => {
    const { root, bash } = await bench({ permissions: { allowWrite: false } });
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, encoding: 'utf8' });
    git('init', '-q', '-b', 'main');
    writeFileSync(join(root, 'log'), 'a\n');
    git('add', 'log');
    git('commit', '-qm', 'one');
    const [head, ...message] = git('cat-file', 'commit', 'HEAD').split('\n\n');
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----';
    writeFileSync(join(root, '.git/signed'), `${head}\n${signature}\n\n${message.join('\n\n')}`);
    git('reset', '-q', '--hard', git('hash-object', '-t', 'commit', '-w', '.git/signed').trim());
    writeFileSync(join(root, 'log'), 'b\n');
    writeFileSync(join(root, '.gitattributes'), '* diff=own filter=own merge=own\n');
    const keys = {
      'filter.own.clean': 'clean',
      'filter.own.smudge': 'smudge',
      'diff.own.textconv': 'textconv',
      'diff.own.command': 'driver',
      'gpg.program': 'gpg',
      'core.sshCommand': 'ssh',
    };
    for (const [key, name] of Object.entries(keys)) {
      const program = join(root, `.git/${name}`);
      writeFileSync(program, '#!/bin/sh\ntouch "$0-ran"\ncat "$@" 2>/dev/null || true\n', { mode: 0o755 });
      // Git passes all but the program for signatures to a shell.
      git('config', key, name === 'gpg' ? program : `'${program.replaceAll("'", `'\\''`)}'`);
    }
    git('remote', 'add', 'origin', 'ssh://host.invalid/x');
    expect((await bash('git status --short')).text).toContain(' M log');
    expect((await bash('git blame log')).text).toContain('b');
    expect((await bash('git reflog -p')).text).toContain('+a');
    expect((await bash("bash -c 'git whatchanged -p; git diff HEAD'")).text).toContain('+b');
    await bash('git log --pretty=format:%GK');
    await bash('git -c log.showSignature=true log');
    await bash('git ls-remote origin');
    expect((await bash('set -eu; cd . && git diff --quiet || echo changed')).text).toContain('changed');
    expect((await bash('printenv GOFLAGS')).text).toMatch(/(?:^| )-buildvcs=false\n$/);
    const ran = () => readdirSync(join(root, '.git')).filter((name) => name.endsWith('-ran'));
    expect(ran()).toEqual([]);
    // Without restrictions, they run.
    git('diff', 'HEAD');
    git('log', '--pretty=format:%GK');
    expect(ran().toSorted()).toEqual(['clean-ran', 'driver-ran', 'gpg-ran', 'smudge-ran']);
  });

  it('does not run git if a setting that names a program cannot be overridden', async () => {
    const { root, bash } = await bench({ permissions: { allowWrite: false } });
    execFileSync('git', ['init', '-q'], { cwd: root });
    execFileSync('git', ['config', 'filter.a=b.clean', 'x'], { cwd: root });
    const { status, text } = await bash('git status');
    expect(status).toBe('failed');
    expect(text).toContain('cannot be listed, so git does not run');
  });

  it('adds no file without the filter that the repository names for it', async () => {
    const { root, bash } = await bench({ permissions: { allowedCommands: ['git'] } });
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
    git('init', '-q');
    git('config', 'filter.own.clean', 'tr a-z A-Z');
    writeFileSync(join(root, '.gitattributes'), '*.psd filter=own\n');
    writeFileSync(join(root, 'a.psd'), 'a\n');
    writeFileSync(join(root, 'a.txt'), 'a\n');
    expect(await bash('git add a.psd')).toMatchObject({ status: 'failed' });
    expect((await bash('git add a.txt')).status).toBe('ok');
    expect(git('ls-files')).toBe('a.txt\n');
  });

  it('reads a repository that names a filter, without running it', async () => {
    const { root, bash } = await bench({ permissions: { allowedCommands: ['git'] } });
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
    git('init', '-q');
    writeFileSync(join(root, '.gitattributes'), '*.psd filter=own\n');
    writeFileSync(join(root, 'a.psd'), 'a\n');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'a');
    git('config', 'filter.own.clean', 'touch .git/ran; cat');
    git('config', 'filter.own.required', 'true');
    writeFileSync(join(root, 'a.psd'), 'bb\n');
    expect((await bash('git status --short')).text).toContain(' M a.psd');
    expect((await bash('git -C . --no-pager diff HEAD')).text).toContain('+bb');
    expect((await bash('git blame a.psd')).text).toContain('bb');
    expect(await bash('git commit -am status')).toMatchObject({ status: 'failed' });
    expect(await bash('git stash')).toMatchObject({ status: 'failed' });
    expect(existsSync(join(root, '.git', 'ran'))).toBe(false);
  });

  it('does so with an allow list', async () => {
    const { bash, hasRun } = await hostile({ allowedCommands: ['git'] });
    expect((await bash('git diff -- log')).text).toContain('+b');
    expect((await bash('git add log')).status).toBe('ok');
    expect(hasRun()).toBe(false);
  });
});
