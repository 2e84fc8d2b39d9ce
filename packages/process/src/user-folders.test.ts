import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { homeFolder, userFolder } from './user-folders.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('homeFolder', () => {
  it('returns an absolute HOME', () => {
    expect(homeFolder({ HOME: resolve('/home/me') })).toBe(resolve('/home/me'));
  });

  it('returns the home folder of the system without HOME', () => {
    expect(homeFolder({})).toBe(homedir());
  });

  it.each(['', '.', 'home'])('ignores the HOME %j, also of the process', (HOME) => {
    const before = homeFolder({});
    vi.stubEnv('HOME', HOME);
    expect(homeFolder(process.env)).not.toBe(resolve(HOME));
    expect(isAbsolute(before)).toBe(true);
  });
});

describe('userFolder', () => {
  it('returns the folder that the variable names, or its default below the home folder', () => {
    const HOME = resolve('/home/me');
    expect(userFolder('XDG_STATE_HOME', { HOME, XDG_STATE_HOME: resolve('/state') })).toBe(resolve('/state'));
    expect(userFolder('XDG_STATE_HOME', { HOME })).toBe(join(HOME, '.local', 'state'));
    expect(userFolder('XDG_CONFIG_HOME', { HOME })).toBe(join(HOME, '.config'));
  });

  it('is absolute whatever the environment contains', () => {
    const variable = fc.option(fc.string(), { nil: undefined });
    fc.assert(
      fc.property(variable, variable, (HOME, folder) => {
        const environment = { HOME, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder };
        expect(isAbsolute(userFolder('XDG_STATE_HOME', environment))).toBe(true);
        expect(isAbsolute(userFolder('XDG_CONFIG_HOME', environment))).toBe(true);
      }),
    );
  });
});
