import { describe, expect, it } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { createSandbox } from './create-sandbox.js';
import { reapContainers } from './docker-cleanup.js';
import { checkSandboxOptions, type SandboxOptions } from './options.js';

const check = (options: Record<string, unknown>) =>
  checkSandboxOptions({ root: '/work', ...options } as unknown as SandboxOptions);

describe('the options of a sandbox', () => {
  it('are isolating by default', () => {
    expect(check({ mode: 'docker', image: 'node:24' })).toMatchObject({
      network: false,
      memory: 4 * 1024 ** 3,
      pids: 512,
      timeoutMs: 600_000,
      environment: {},
      readOnly: false,
    });
    expect(check({ mode: 'bubblewrap' })).toMatchObject({ network: false, readOnlyPaths: [] });
    expect(check({ mode: 'e2b' })).toMatchObject({ network: false });
  });

  it.each([
    ['host', { network: false }],
    ['host', { memory: '1g' }],
    ['host', { cpu: 1 }],
    ['host', { image: 'x' }],
    ['host', { readOnly: true }],
    ['bubblewrap', { memory: '1g' }],
    ['bubblewrap', { cpu: 1 }],
    ['bubblewrap', { image: 'x' }],
    ['bubblewrap', { passEnvironment: [] }],
    ['docker', { image: 'x', readOnlyPaths: ['/opt'] }],
    ['e2b', { memory: '1g' }],
    ['e2b', { pids: 3 }],
  ])('are refused if the mode %j does not support them: %j', (mode, options) => {
    expect(() => check({ mode, ...options })).toThrow(
      expect.objectContaining({ code: 'sandbox-unsupported-option', mode }) as Error,
    );
  });

  it('name the modes that can', () => {
    expect(() => check({ mode: 'bubblewrap', memory: '1g' })).toThrow(
      'The sandbox mode "bubblewrap" does not support "memory"; omit it, or use "docker".',
    );
  });

  it.each([
    [{ mode: 'chroot' }, 'mode'],
    [{ mode: 'host', timeout: 5 }, 'timeout'],
    [{ mode: 'host', timeoutMs: 0 }, 'timeoutMs'],
    [{ mode: 'host', environment: { 'A-B': 'x' } }, 'environment.A-B'],
    [{ mode: 'host', timeoutMs: 2 ** 31 }, 'timeoutMs'],
    [{ mode: 'docker' }, 'image'],
    [{ mode: 'docker', image: '--privileged' }, 'image'],
    [{ mode: 'docker', image: 'x', network: '--privileged' }, 'network'],
    [{ mode: 'docker', image: 'x', memory: '4 giga' }, 'memory'],
    [{ mode: 'docker', image: 'x', memory: '1m' }, 'memory'],
    [{ mode: 'docker', image: 'x', memory: -1 }, 'memory'],
    [{ mode: 'docker', image: 'x', cpu: 0 }, 'cpu'],
    [{ mode: 'docker', image: 'x', mountPath: 'workspace' }, 'mountPath'],
    [{ mode: 'bubblewrap', readOnlyPaths: ['relative'] }, 'readOnlyPaths[0]'],
  ])('are rejected if they are invalid: %j', (options, option) => {
    expect(() => check(options)).toThrow(expect.objectContaining({ code: 'invalid-option', option }) as Error);
  });

  it.each([
    ['512m', 512 * 1024 ** 2],
    ['4G', 4 * 1024 ** 3],
    ['8000000', 8_000_000],
    [6_291_456, 6_291_456],
  ])('take %j of memory', (memory, bytes) => {
    expect(check({ mode: 'docker', image: 'x', memory })).toMatchObject({ memory: bytes });
  });

  it('reject a missing folder', async () => {
    await expect(createSandbox({ mode: 'host', root: `${oddlyNamedFolder()}/missing` })).rejects.toMatchObject({
      code: 'sandbox-start',
    });
  });

  it('of the cleanup are checked before Docker is called', async () => {
    await expect(reapContainers({ dockerHost: '' })).rejects.toMatchObject({ option: 'dockerHost' });
  });
});
