import { describe, expect, it } from 'vitest';
import { toolchain } from './index.js';

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
