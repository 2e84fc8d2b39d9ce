import { describe, expect, it } from 'vitest';
import { parseArguments, type CoderArguments } from './arguments.js';
import { sandboxOptions, toolchain } from './sandbox.js';

const given = (...words: readonly string[]): CoderArguments => parseArguments(words) as CoderArguments;

describe('sandboxOptions', () => {
  it('runs commands on the host by default', () => {
    expect(sandboxOptions('/work', given())).toEqual({ mode: 'host', root: '/work' });
  });

  it('isolates them in bubblewrap, without the network', () => {
    expect(sandboxOptions('/work', given('--sandbox', 'bubblewrap'))).toMatchObject({
      mode: 'bubblewrap',
      root: '/work',
      network: false,
    });
    expect(sandboxOptions('/work', given('--sandbox', 'bubblewrap', '--network'))).toMatchObject({ network: true });
  });

  it('isolates them in a container of the image that is named, or of one with Node.js', () => {
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
  it('is the folder that Node.js is installed in', () => {
    expect(toolchain('/home/ada/.nvm/versions/node/v24/bin/node', '/home/ada')).toEqual([
      '/home/ada/.nvm/versions/node/v24',
    ]);
    expect(toolchain('/opt/node/bin/node', '/home/ada')).toEqual(['/opt/node']);
  });

  it('is nothing where the sandbox shows it anyway', () => {
    expect(toolchain('/usr/bin/node', '/home/ada')).toEqual([]);
    expect(toolchain('/usr/local/bin/node', '/home/ada')).toEqual([]);
  });

  it('is never a home folder, or all of the machine', () => {
    expect(toolchain('/home/ada/bin/node', '/home/ada')).toEqual([]);
    expect(toolchain('/home/bin/node', '/home/ada')).toEqual([]);
    expect(toolchain('/bin/node', '/home/ada')).toEqual([]);
  });
});
