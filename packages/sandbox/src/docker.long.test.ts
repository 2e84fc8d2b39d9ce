import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { thisProcess, type ProcessMark } from '@h/process';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { noDocker, startDockerDaemon, type DockerDaemon } from '../test/docker-daemon.js';
import { killHostOf } from '../test/orphans.js';
import { uniqueSeconds, waitUntilGone } from '@h/process/testing';
import { describeSandbox, runShell } from '../test/sandbox-suite.js';
import { createSandbox } from './create-sandbox.js';
import { ownerLabel, reapContainers } from './docker-cleanup.js';
import type { DockerSandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

describe.skipIf(noDocker !== undefined)(
  `docker${noDocker === undefined ? '' : ` (skipped: ${noDocker})`}`,
  { timeout: 60_000 },
  () => {
    let daemon: DockerDaemon;
    beforeAll(async () => {
      daemon = await startDockerDaemon();
    }, 120_000);
    afterAll(() => daemon.stop(), 60_000);

    const optionsOf = (options: Partial<DockerSandboxOptions> = {}): DockerSandboxOptions => ({
      mode: 'docker',
      image: daemon.image,
      dockerHost: daemon.host,
      memory: '64m',
      root: options.root ?? oddlyNamedFolder(),
      ...options,
    });
    const open = async (options: Partial<DockerSandboxOptions> = {}): Promise<Sandbox> => {
      const sandbox = await createSandbox(optionsOf(options));
      onTestFinished(() => sandbox.close());
      return sandbox;
    };
    const containers = (): string[] => daemon.docker('ps', '--all', '--quiet').split('\n').filter(Boolean);
    const inspect = (format: string): string => daemon.docker('inspect', '--format', format, ...containers()).trim();

    describeSandbox('docker', (options) => createSandbox(optionsOf(options)));

    it('leaves no container behind', async () => {
      const sandbox = await open();
      expect(containers()).toHaveLength(1);
      await sandbox.close();
      expect(containers()).toEqual([]);
    });

    it('runs one command with a read-only workspace next to others', async () => {
      const sandbox = await open();
      await runShell(sandbox, 'echo text > file');
      const { output } = await runShell(sandbox, 'exec 2>&1; cat file; echo more >> file || echo refused', {
        readOnly: true,
      });
      expect(output).toMatch(/^text[^]*refused\n$/);
      expect(await runShell(sandbox, 'echo more >> file && cat file')).toMatchObject({ output: 'text\nmore\n' });
      await sandbox.close();
      expect(containers()).toEqual([]);
    });

    it('starts containers without privileges, capabilities or a writable file system', async () => {
      const sandbox = await open();
      const { output } = await runShell(
        sandbox,
        'exec 2>&1; touch /x /etc/x; touch /tmp/x && echo temporary; grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status; id -u; echo $HOME',
      );
      expect(output).toMatch(/\/x: Read-only file system/);
      expect(output).toMatch(/temporary\nCapEff:\s+0{16}\nCapBnd:\s+0{16}\nNoNewPrivs:\s+1\n/);
      expect(output).toMatch(/0\n\/tmp\/home\n$/);
    });

    it('keeps `/tmp` between commands', async () => {
      const sandbox = await open();
      await runShell(sandbox, 'echo kept > /tmp/file');
      expect(await runShell(sandbox, 'cat /tmp/file')).toMatchObject({ output: 'kept\n' });
    });

    it('mounts the workspace at `mountPath`, and read-only with `readOnly`', async () => {
      const sandbox = await open({ mountPath: '/workspace', readOnly: true });
      writeFileSync(join(sandbox.root, 'file'), 'text\n');
      expect((await runShell(sandbox, 'pwd; cat file; touch x 2>&1')).output).toBe(
        '/workspace\ntext\ntouch: x: Read-only file system\n',
      );
    });

    it('runs as another user with `user`', async () => {
      expect(await runShell(await open({ user: '1234:5678' }), 'id -u; id -g')).toMatchObject({
        output: '1234\n5678\n',
      });
    });

    it('has no network by default, or the one that `network` names', async () => {
      expect((await runShell(await open(), 'ls /sys/class/net')).output).toBe('lo\n');
      expect(inspect('{{.HostConfig.NetworkMode}}')).toBe('none');
    });

    it.each([
      ['host', 'host'],
      [true, 'default'],
    ] as const)('uses the network %j', async (network, mode) => {
      const sandbox = await open({ network });
      expect(inspect('{{.HostConfig.NetworkMode}}')).toBe(mode);
      expect(sandbox.isolates.network).toBe(false);
    });

    it('limits processors with `cpu` and processes with `pids`', async () => {
      const sandbox = await open({ cpu: 0.5, pids: 32 });
      expect(inspect('{{.HostConfig.NanoCpus}} {{.HostConfig.PidsLimit}}')).toBe('500000000 32');
      const { output } = await runShell(sandbox, 'for one in $(seq 64); do sleep 5 & done; echo end', {
        timeoutMs: 20_000,
      });
      expect(output).toMatch(/can't fork|Resource temporarily unavailable/);
      expect(await runShell(sandbox, 'echo alive')).toMatchObject({ output: 'alive\n' });
    });

    it('reports an out-of-memory kill and continues in a new container', async () => {
      const sandbox = await open({ memory: '32m' });
      expect(await runShell(sandbox, 'tail /dev/zero')).toMatchObject({
        ending: 'out-of-memory',
        exitCode: 137,
        signal: 'SIGKILL',
      });
      expect(await runShell(sandbox, 'kill -9 $$')).toMatchObject({ ending: 'exited', exitCode: 137 });
      expect(await runShell(sandbox, 'echo alive')).toMatchObject({ ending: 'exited', output: 'alive\n' });
      expect(containers()).toHaveLength(1);
    });

    it('succeeds with a higher memory limit', async () => {
      const sandbox = await open({ memory: 128 * 1024 ** 2 });
      expect(await runShell(sandbox, 'head -c 48m /dev/zero | tail | wc -c')).toMatchObject({
        output: `${48 * 1024 ** 2}\n`,
      });
      expect(inspect('{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}}')).toBe(
        `${128 * 1024 ** 2} ${128 * 1024 ** 2}`,
      );
    });

    it('starts a new container after a kill', async () => {
      const sandbox = await open();
      daemon.docker('kill', ...containers());
      await vi.waitFor(
        async () => expect(await runShell(sandbox, 'echo alive')).toMatchObject({ output: 'alive\n' }),
        10_000,
      );
      expect(containers()).toHaveLength(1);
    });

    it('replaces a container that hangs', { timeout: 120_000 }, async () => {
      const sandbox = await open();
      const end = await runShell(sandbox, 'echo ready; sleep 60', {
        timeoutMs: 500,
        onOutput: () => void daemon.docker('pause', ...containers()),
      });
      expect(end).toMatchObject({ ending: 'timed-out' });
      // It takes seconds, and much longer on a busy machine.
      await vi.waitFor(() => expect(containers()).toEqual([]), { timeout: 60_000 });
      expect(await runShell(sandbox, 'echo alive')).toMatchObject({ output: 'alive\n' });
    });

    it('stores secrets temporarily in a file that only this user can read', async () => {
      const root = oddlyNamedFolder();
      const folder = useTemporaryFolder();
      const sandbox = await open({ root, environment: { TOKEN: 'sk "1" # 2 ' } });
      const [own = ''] = readdirSync(folder);
      const files = (): string[] => readdirSync(join(folder, own));
      expect(statSync(join(folder, own)).mode & 0o777).toBe(0o700);
      expect(files()).toEqual([]);
      let modes: number[] = [];
      const { output } = await runShell(sandbox, 'echo "$TOKEN|$OTHER"; sleep 0.2', {
        environment: { OTHER: 'sk-2' },
        onOutput: () => {
          modes = files().map((name) => statSync(join(folder, own, name)).mode & 0o777);
        },
      });
      expect(output).toBe('sk "1" # 2 |sk-2\n');
      expect(modes).toEqual([0o600]);
      expect(files()).toEqual([]);
      await sandbox.close();
      expect(readdirSync(folder)).toEqual([]);
    });

    it('refuses a variable that it could not pass completely', async () => {
      await expect(open({ environment: { PEM: 'one\ntwo' } })).rejects.toMatchObject({ code: 'invalid-option' });
      expect(containers()).toEqual([]);
    });

    it('reports why a container could not be started, and leaves none', async () => {
      await expect(open({ image: '127.0.0.1:1/no-such:1' })).rejects.toMatchObject({
        code: 'sandbox-start',
        message: expect.stringContaining('127.0.0.1:1') as string,
      });
      expect(containers()).toEqual([]);
    });

    it('reports a missing daemon and a missing docker command', async () => {
      await expect(open({ dockerHost: `unix://${oddlyNamedFolder()}/none.sock` })).rejects.toMatchObject({
        code: 'sandbox-unavailable',
      });
      await expect(open({ command: 'no-such-docker' })).rejects.toMatchObject({ code: 'sandbox-unavailable' });
    });

    it('leaves no processes, containers or secrets when this process is killed', async () => {
      const folder = oddlyNamedFolder();
      const temporary = useTemporaryFolder();
      const seconds = uniqueSeconds();
      await killHostOf(
        optionsOf({ root: folder, environment: { TOKEN: 'x' } }),
        `sleep ${seconds} & echo ready; sleep ${seconds}`,
        folder,
      );
      await waitUntilGone(`sleep ${seconds}`);
      await vi.waitFor(() => expect(containers()).toEqual([]), { timeout: 20_000, interval: 100 });
      await vi.waitFor(() => expect(readdirSync(temporary)).toEqual([]), { timeout: 10_000 });
    });

    it('removes the containers of ended processes, and no others', async () => {
      await open();
      const [mine] = containers();
      const orphan = daemon
        .docker('create', '--label', `${ownerLabel}=${ownerLike({ start: '1' })}`, daemon.image, 'true')
        .trim();
      const foreign = daemon
        .docker('create', '--label', `${ownerLabel}=${ownerLike({ host: 'another-machine' })}`, daemon.image, 'true')
        .trim();
      expect(await reapContainers({ dockerHost: daemon.host })).toEqual([orphan]);
      expect(containers()).toEqual(expect.arrayContaining([mine, foreign.slice(0, 12)]));
      daemon.docker('rm', foreign);
    });
  },
);

/** Sets this process's folder for temporary files, for one test. */
const useTemporaryFolder = (): string => {
  const folder = oddlyNamedFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
};

/** The label of a container that belongs to another process. */
const ownerLike = (changes: Partial<ProcessMark>): string =>
  Buffer.from(JSON.stringify({ ...thisProcess(), ...changes })).toString('base64url');
