import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { startFakeE2b, type FakeE2b } from '../test/fake-e2b.js';
import { describeSandbox, runShell } from '../test/sandbox-suite.js';
import { e2bSandbox } from './e2b.js';
import { createSandbox } from './create-sandbox.js';
import type { E2bSandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

const apiKey = 'e2b_0123456789abcdef0123456789abcdef01234567';

let service: FakeE2b;
beforeAll(async () => {
  service = await startFakeE2b(apiKey);
});
afterAll(() => service.stop());

const optionsOf = (options: Partial<E2bSandboxOptions> = {}): E2bSandboxOptions => ({
  mode: 'e2b',
  apiKey,
  apiUrl: service.url,
  sandboxUrl: service.url,
  root: options.root ?? oddlyNamedFolder(),
  mountPath: oddlyNamedFolder(),
  ...options,
});
const open = async (options: Partial<E2bSandboxOptions> = {}): Promise<Sandbox> => {
  const sandbox = await createSandbox(optionsOf(options));
  onTestFinished(() => sandbox.close());
  return sandbox;
};
const last = (): Record<string, unknown> => service.created.at(-1) ?? {};

describeSandbox('e2b (a fake service on loopback)', (options) => createSandbox(optionsOf(options)));

describe('e2b', () => {
  it('requests a machine with its options', async () => {
    const plain = await open();
    expect(last()).toMatchObject({
      templateID: 'base',
      timeout: 3_600,
      allow_internet_access: false,
      envVars: { CI: '1' },
    });
    expect(plain.isolates).toEqual({ files: true, network: true });
    const special = await open({
      image: 'my-template',
      network: true,
      lifetimeMs: 120_000,
      environment: { TOKEN: 'x' },
    });
    expect(last()).toMatchObject({
      templateID: 'my-template',
      timeout: 120,
      allow_internet_access: true,
      envVars: { TOKEN: 'x' },
    });
    expect(special.isolates).toEqual({ files: true, network: false });
  });

  it('ends the machine when it is closed', async () => {
    const sandbox = await open();
    expect(service.alive.size).toBe(1);
    await sandbox.close();
    expect(service.alive.size).toBe(0);
  });

  it('copies the workspace to the machine, and changes back', async () => {
    const sandbox = await open();
    const { root, mountPath } = sandbox;
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'src/a b.txt'), 'one\n');
    writeFileSync(join(root, 'gone.txt'), 'x');
    writeFileSync(join(root, 'tool'), '#!/bin/sh\necho tool\n');
    chmodSync(join(root, 'tool'), 0o755);
    const { output } = await runShell(
      sandbox,
      './tool; cat "src/a b.txt"; echo two >> "src/a b.txt"; rm gone.txt; mkdir new; printf "\\000\\377" > new/binary; echo x > run; chmod +x run',
    );
    expect(output).toBe('tool\none\n');
    expect(readFileSync(join(root, 'src/a b.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(existsSync(join(root, 'gone.txt'))).toBe(false);
    expect(readFileSync(join(root, 'new/binary'))).toEqual(Buffer.from([0, 255]));
    expect(statSync(join(root, 'run')).mode & 0o111).not.toBe(0);
    rmSync(join(root, 'new/binary'));
    writeFileSync(join(root, 'src/a b.txt'), 'three\n');
    expect((await runShell(sandbox, 'ls new; cat "src/a b.txt"')).output).toBe('three\n');
    expect(existsSync(join(mountPath, 'new/binary'))).toBe(false);
  });

  it('copies only changed files', async () => {
    const sandbox = await open();
    writeFileSync(join(sandbox.root, 'a'), '1');
    writeFileSync(join(sandbox.root, 'b'), '1');
    await runShell(sandbox, 'true');
    const before = service.uploads.length;
    writeFileSync(join(sandbox.root, 'b'), '22');
    await runShell(sandbox, 'true');
    expect(service.uploads.slice(before)).toEqual([join(sandbox.mountPath, 'b')]);
  });

  it('copies no secrets, excluded files or links', async () => {
    const sandbox = await open({ exclude: ['.git', 'private'] });
    const { root } = sandbox;
    for (const folder of ['.git/hooks', 'private']) mkdirSync(join(root, folder), { recursive: true });
    for (const file of ['.env', '.git/config', 'private/x', 'plain']) writeFileSync(join(root, file), 'x');
    symlinkSync('/etc/passwd', join(root, 'link'));
    expect((await runShell(sandbox, 'find . -type f -o -type l')).output).toBe('./plain\n');
    await runShell(
      sandbox,
      'mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout; echo evil > .env; ln -s /etc link2; mkdir -p private; echo evil > private/y',
    );
    expect(existsSync(join(root, '.git/hooks/post-checkout'))).toBe(false);
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('x');
    expect(existsSync(join(root, 'private/y'))).toBe(false);
    expect(existsSync(join(root, 'link2'))).toBe(false);
  });

  it('writes no file of the machine outside the workspace', async () => {
    const outside = oddlyNamedFolder();
    const sandbox = await open();
    symlinkSync(outside, join(sandbox.root, 'out'));
    await runShell(sandbox, 'mkdir -p out; echo evil > out/file; echo fine > file');
    expect(existsSync(join(outside, 'file'))).toBe(false);
    expect(readFileSync(join(sandbox.root, 'file'), 'utf8')).toBe('fine\n');
  });

  it('keeps a file that changed here and on the machine', async () => {
    const sandbox = await open();
    const file = join(sandbox.root, 'file');
    writeFileSync(file, 'before\n');
    await runShell(sandbox, 'echo ready; sleep 0.3; echo there > file', {
      onOutput: () => writeFileSync(file, 'here, and longer\n'),
    });
    expect(readFileSync(file, 'utf8')).toBe('here, and longer\n');
    expect((await runShell(sandbox, 'cat file')).output).toBe('here, and longer\n');
  });

  it('ends a command whose output exceeds the limit', { timeout: 60_000 }, async () => {
    const sandbox = await open();
    let bytes = 0;
    await expect(runShell(sandbox, 'yes', { onOutput: (chunk) => (bytes += chunk.length) })).rejects.toMatchObject({
      code: 'sandbox-failed',
      message: expect.stringContaining('more than') as string,
    });
    expect(bytes).toBeGreaterThan(64 * 1024 ** 2);
    expect(await runShell(sandbox, 'echo alive')).toMatchObject({ output: 'alive\n' });
  });

  it('reports why a machine could not be started, and leaves none', async () => {
    await expect(open({ apiKey: 'e2b_wrong' })).rejects.toMatchObject({ code: 'sandbox-start' });
    service.refuse(400);
    await expect(open()).rejects.toMatchObject({
      code: 'sandbox-start',
      message: expect.stringContaining('no machine for you') as string,
    });
    await expect(open({ mountPath: '/proc/none' })).rejects.toThrow();
    expect(service.alive.size).toBe(0);
  });

  it('is exported separately, for bundlers', async () => {
    const { mode: _mode, ...options } = optionsOf();
    const sandbox = await e2bSandbox(options);
    onTestFinished(() => sandbox.close());
    expect(await runShell(sandbox, 'echo hi')).toMatchObject({ output: 'hi\n' });
    await expect(e2bSandbox({ ...options, memory: '1g' } as never)).rejects.toMatchObject({
      code: 'sandbox-unsupported-option',
    });
  });
});
