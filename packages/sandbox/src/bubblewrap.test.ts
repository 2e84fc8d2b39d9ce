import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { bundle } from '../test/bundle.js';
import { killHostOf } from '../test/orphans.js';
import { uniqueSeconds, waitUntilGone } from '@h/process/testing';
import { describeSandbox, runShell } from '../test/sandbox-suite.js';
import { createSandbox } from './create-sandbox.js';
import type { BubblewrapSandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

const hasBubblewrap = ((): boolean => {
  try {
    execFileSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const open = async (options: Partial<BubblewrapSandboxOptions> = {}): Promise<Sandbox> => {
  const sandbox = await createSandbox({ mode: 'bubblewrap', root: oddlyNamedFolder(), ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
};

describe.skipIf(!hasBubblewrap)('bubblewrap (skipped where bwrap does not work)', () => {
  describeSandbox('bubblewrap', (options) => createSandbox({ mode: 'bubblewrap', ...options }));

  it('shows only programs and the workspace', async () => {
    const outside = oddlyNamedFolder();
    writeFileSync(join(outside, 'secret'), 'top secret');
    const sandbox = await open();
    symlinkSync(outside, join(sandbox.root, 'link'));
    const { output } = await runShell(
      sandbox,
      `cat ${JSON.stringify(join(outside, 'secret'))} link/secret /etc/shadow; ls -A ${JSON.stringify(homedir())}; ls -A /tmp; ls -A ~; echo end`,
    );
    expect(output).not.toMatch(/top secret|root:/);
    const shown = output.split('\n').filter((line) => !/No such file|cannot (?:open|access)/.test(line));
    const workspace = sandbox.root.startsWith('/tmp/') ? [basename(sandbox.root)] : [];
    expect(shown).toEqual([...workspace, 'home', 'end', '']);
  });

  it('prevents changes outside the workspace, even by root', async () => {
    const sandbox = await open();
    const { output } = await runShell(
      sandbox,
      'touch /usr/x /etc/x /x 2>&1; mount -o remount,rw /usr 2>&1; chown 1:1 . 2>&1; echo y > kept; cat /proc/self/status | grep CapEff',
    );
    expect(existsSync('/usr/x')).toBe(false);
    expect(existsSync('/etc/x')).toBe(false);
    expect(output).toMatch(/CapEff:\s+0{16}/);
    expect(existsSync(join(sandbox.root, 'kept'))).toBe(true);
  });

  it('leaves the devices of this machine as they are, even by root', async () => {
    const names = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);
    const modes = (): readonly number[] => names.map((name) => statSync(name).mode);
    const before = modes();
    const sandbox = await open();
    try {
      const { output } = await runShell(
        sandbox,
        `chmod 400 ${names.join(' ')}; rm -f ${names.join(' ')}; chmod -R 000 /dev; echo end`,
      );
      expect(output).toContain('end');
      expect(modes()).toEqual(before);
      const { output: later } = await runShell(await open(), 'echo x >/dev/null && head -c 3 /dev/zero | wc -c');
      expect(later.trim()).toBe('3');
    } finally {
      for (const [index, name] of names.entries()) {
        if (statSync(name).mode !== before[index]) chmodSync(name, before[index] ?? 0o666);
      }
    }
  });

  it('changes no setting of the kernel, even by root', async () => {
    const sandbox = await open({ network: true });
    // The same value is written back, so that a failure changes nothing.
    const { output } = await runShell(
      sandbox,
      `exec 2>/dev/null
      find /proc -path '/proc/[0-9]*' -prune -o -path '/proc/sys/*' -type f -writable -print
      for file in kernel/core_pattern vm/swappiness net/ipv4/ip_forward; do
        value="$(cat /proc/sys/$file)" && [ -n "$value" ] && { (echo "$value" > /proc/sys/$file) || echo refused; }
      done`,
    );
    expect(output).toBe('refused\nrefused\nrefused\n');
  });

  it.skipIf(process.getuid?.() !== 0)('deletes the devices that a killed process of root has left', async () => {
    const temporary = oddlyNamedFolder();
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const foreign = join(temporary, 'h-devices-foreign');
    mkdirSync(foreign, { mode: 0o777 });
    chmodSync(foreign, 0o777);
    const folders = (): readonly string[] => readdirSync(temporary).filter((name) => name.startsWith('h-devices-'));
    const options = { mode: 'bubblewrap', root: oddlyNamedFolder() } as const;
    await killHostOf(options, 'echo started; exec sleep 60', oddlyNamedFolder());
    const [left] = folders().filter((name) => !name.endsWith('foreign'));
    expect(left).toBeDefined();
    const sandbox = await open();
    expect(folders()).toHaveLength(2);
    expect(folders()).not.toContain(left);
    expect((await runShell(sandbox, 'echo x >/dev/null && echo written')).output).toBe('written\n');
    await sandbox.close();
    expect(folders()).toEqual(['h-devices-foreign']);
  });

  it.skipIf(process.getuid?.() !== 0)('shares the devices of this machine where none can be created', async () => {
    const folder = oddlyNamedFolder();
    const temporary = oddlyNamedFolder();
    await bundle('create-sandbox.ts', folder);
    const program = `const { createSandbox } = await import('./entry.mjs');
      const sandbox = await createSandbox({ mode: 'bubblewrap', root: ${JSON.stringify(folder)} });
      const argv = ['/bin/sh', '-c', 'echo x >/dev/null && stat -c %i /dev/null'];
      await sandbox.run({ argv, onOutput: (chunk) => process.stdout.write(chunk) });
      await sandbox.close();`;
    writeFileSync(join(folder, 'host.mjs'), program);
    const capabilities = ['--bounding-set=-mknod', '--inh-caps=-mknod'];
    const output = execFileSync('setpriv', [...capabilities, process.execPath, join(folder, 'host.mjs')], {
      env: { ...process.env, TMPDIR: temporary },
      encoding: 'utf8',
    });
    expect(output.trim()).toBe(`${statSync('/dev/null').ino}`);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.each(['/', '/dev', '/proc', '/proc/sys', '/sys', '/sys/kernel'])('refuses %s as the workspace', async (root) => {
    await expect(open({ root })).rejects.toMatchObject({ code: 'sandbox-start' });
  });

  it('has a private home folder, also in the workspace /tmp', async () => {
    const sandbox = await open({ root: '/tmp' });
    const { exitCode, output } = await runShell(sandbox, 'cd && touch private && ls -A ~ && pwd');
    expect([exitCode, output]).toEqual([0, 'private\n/home/agent\n']);
    expect(existsSync('/home/agent/private')).toBe(false);
  });

  it('shows no processes of this machine', async () => {
    const { output } = await runShell(await open(), 'ls /proc | grep -c "^[0-9]*$"');
    expect(Number(output)).toBeLessThan(10);
  });

  it('has no network, or this machine’s with `network: true`', async () => {
    const server = createServer((socket) => socket.end('hello from outside\n')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await vi.waitFor(() => expect(server.address()).not.toBeNull());
    const { port } = server.address() as { port: number };
    const call = `bash -c 'cat < /dev/tcp/127.0.0.1/${port}' 2>&1`;
    expect((await runShell(await open(), call)).output).toContain('Connection refused');
    const connected = await open({ network: true });
    expect((await runShell(connected, call)).output).toContain('hello from outside');
    expect(connected.isolates).toEqual({ files: true, network: false });
  });

  it('only reads the workspace with `readOnly`', async () => {
    const sandbox = await open({ readOnly: true });
    writeFileSync(join(sandbox.root, 'file'), 'text');
    const { output } = await runShell(sandbox, 'exec 2>&1; cat file; echo more >> file || echo refused');
    expect(output).toMatch(/^text[^]*refused\n$/);
  });

  it('runs one command with a read-only workspace', async () => {
    const sandbox = await open();
    writeFileSync(join(sandbox.root, 'file'), 'text');
    const line = 'exec 2>&1; cat file; echo more >> file || echo refused';
    expect((await runShell(sandbox, line, { readOnly: true })).output).toMatch(/^text[^]*refused\n$/);
    expect((await runShell(sandbox, line)).output).toBe('text');
  });

  it('reads what `readOnlyPaths` names', async () => {
    const tools = oddlyNamedFolder();
    writeFileSync(join(tools, 'tool'), 'useful');
    const sandbox = await open({ readOnlyPaths: [tools, join(tools, 'missing')] });
    const { output } = await runShell(sandbox, `exec 2>&1; cat "$TOOLS/tool"; touch "$TOOLS/x" || echo refused`, {
      environment: { TOOLS: tools },
    });
    expect(output).toMatch(/^useful[^]*refused\n$/);
  });

  it('works with a workspace below a link and in the home folder', async () => {
    const folder = oddlyNamedFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    const sandbox = await open({ root: join(folder, 'link') });
    expect(sandbox.root).toBe(join(folder, 'real'));
    expect(await runShell(sandbox, 'pwd')).toMatchObject({ output: `${join(folder, 'real')}\n` });
  });

  it('ends its commands when this process is killed', async () => {
    const folder = oddlyNamedFolder();
    const seconds = uniqueSeconds();
    await killHostOf(
      { mode: 'bubblewrap', root: folder },
      `setsid sleep ${seconds} & echo ready; sleep ${seconds}`,
      folder,
    );
    await waitUntilGone(`sleep ${seconds}`);
  });
});

it('explains how to install bubblewrap if it is missing', async () => {
  vi.stubEnv('PATH', tmpdir());
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(createSandbox({ mode: 'bubblewrap', root: oddlyNamedFolder() })).rejects.toMatchObject({
    code: 'sandbox-unavailable',
    message: expect.stringContaining('install the package "bubblewrap"') as string,
  });
});
