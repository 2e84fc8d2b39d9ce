import { describe, expect, it } from 'vitest';
import { parseArguments, type CoderArguments } from './arguments.js';
import { sandboxOptions, toolchain } from './sandbox.js';

const given = (...words: readonly string[]): CoderArguments => parseArguments(words) as CoderArguments;

describe('sandboxOptions', () => {
  it('runs commands on the host by default', () => {
    expect(sandboxOptions('/work', given())).toEqual({ mode: 'host', root: '/work' });
  });

  it('isolates commands in bubblewrap without the network', () => {
    expect(sandboxOptions('/work', given('--sandbox', 'bubblewrap'))).toMatchObject({
      mode: 'bubblewrap',
      root: '/work',
      network: false,
    });
    expect(sandboxOptions('/work', given('--sandbox', 'bubblewrap', '--network'))).toMatchObject({ network: true });
  });

  it('isolates commands in a container of the given or the default image', () => {
    expect(sandboxOptions('/work', given('--sandbox', 'docker'))).toEqual({
      mode: 'docker',
      root: '/work',
      network: false,
      image: 'node:24',
    });
    expect(sandboxOptions('/work', given('--sandbox', 'docker', '--image', 'rust:1'))).toMatchObject({
      image: 'rust:1',
    });
  });
});

describe('toolchain', () => {
  it('returns the installation folder of Node.js', () => {
    expect(toolchain('/home/ada/.nvm/versions/node/v24/bin/node', '/home/ada')).toEqual([
      '/home/ada/.nvm/versions/node/v24',
    ]);
    expect(toolchain('/opt/node/bin/node', '/home/ada')).toEqual(['/opt/node']);
  });

  it('returns nothing if the sandbox mounts the folder anyway', () => {
    expect(toolchain('/usr/bin/node', '/home/ada')).toEqual([]);
    expect(toolchain('/usr/local/bin/node', '/home/ada')).toEqual([]);
  });

  it('never returns a home folder or the root folder', () => {
    expect(toolchain('/home/ada/bin/node', '/home/ada')).toEqual([]);
    expect(toolchain('/home/bin/node', '/home/ada')).toEqual([]);
    expect(toolchain('/bin/node', '/home/ada')).toEqual([]);
  });
});
