import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { noDocker, startDockerDaemon, type DockerDaemon } from '../../../packages/sandbox/test/docker-daemon.js';
import { runCoder, type Finished } from './coder-process.js';
import { inFolder, sampleProject } from './folders.js';
import { call, startModelServer } from './model-server.js';

const hasBubblewrap = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status === 0;

/** Runs one command; returns its result for the model and the workspace. */
const runCommand = async (
  command: string,
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<Finished & { readonly told: string; readonly folder: string }> => {
  const server = await startModelServer([call('bash', { command }), 'Done.']);
  const folder = await sampleProject();
  const finished = await runCoder({
    words: ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', folder, ...words, 'Continue'],
    environment,
  });
  return { ...finished, folder, told: JSON.stringify(server.requests[1]?.messages.at(-1)) };
};

describe('--sandbox host', () => {
  it('runs commands unchanged', async () => {
    const outside = temporaryFolder();
    const { code, stdout } = await runCommand(`echo x > ${outside}/written`, ['--sandbox', 'host']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ bash/m);
    expect((await inFolder(outside, 'cat', 'written')).output).toBe('x\n');
  });
});

describe.skipIf(!hasBubblewrap)('--sandbox bubblewrap (skipped without bubblewrap)', () => {
  const sandbox = ['--sandbox', 'bubblewrap'];

  it('shows the sandbox in the banner and runs the tests of the project', async () => {
    const { stdout, told } = await runCommand('node --test', sandbox);
    expect(stdout).toContain('commands in bubblewrap');
    expect(told).toMatch(/fail 1/);
  });

  it('does not write outside the workspace', async () => {
    const outside = temporaryFolder();
    const { stdout, folder } = await runCommand(`touch here; echo x > ${outside}/written`, sandbox);
    expect(stdout).toMatch(/^✗ bash/m);
    expect((await inFolder(outside, 'ls')).output).toBe('');
    expect((await inFolder(folder, 'ls', 'here')).output).toBe('here\n');
  });

  it('enables the network only with --network', async () => {
    const server = await startModelServer([]);
    const { port } = new URL(server.url);
    const command = `node -e "require('node:net').connect(${port}, '127.0.0.1', () => process.exit(console.log('reached')))"`;
    expect((await runCommand(command, sandbox)).told).not.toContain('reached');
    expect((await runCommand(command, [...sandbox, '--network'])).told).toContain('reached');
  });
});

describe.skipIf(noDocker !== undefined)(
  `--sandbox docker${noDocker === undefined ? '' : ` (skipped: ${noDocker})`}`,
  { timeout: 120_000 },
  () => {
    let daemon: DockerDaemon;
    beforeAll(async () => {
      daemon = await startDockerDaemon();
    }, 120_000);
    afterAll(() => daemon.stop(), 60_000);

    it('runs commands in a container of the image and leaves none behind', async () => {
      const words = ['--sandbox', 'docker', '--image', daemon.image];
      const { code, stdout, told, folder } = await runCommand('cat package.json; touch here; ls /', words, {
        DOCKER_HOST: daemon.host,
      });
      expect(stdout).toContain('commands in docker');
      expect(code).toBe(0);
      expect(told).toContain('sample-duration');
      expect(told).not.toContain('root');
      expect((await inFolder(folder, 'ls', 'here')).output).toBe('here\n');
      expect(daemon.docker('ps', '--all', '--quiet')).toBe('');
    });

    it('reports a missing image in one line', async () => {
      const { code, stdout, stderr } = await runCommand(
        'true',
        ['--sandbox', 'docker', '--image', 'no.invalid/such:image'],
        { DOCKER_HOST: daemon.host },
      );
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^--sandbox docker: .*\n$/);
    });
  },
);

describe('an unavailable sandbox', () => {
  it('is reported in one line', async () => {
    const path = temporaryFolder();
    const { code, stdout, stderr } = await runCommand('true', ['--sandbox', 'bubblewrap'], { PATH: path });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^--sandbox bubblewrap: .*\n$/);
  });
});
