import { isAbsolute, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { settingsFolder } from './agent/rules.js';
import { stateFolder } from './stored-sessions.js';

it('stores nothing relative to the folder that the app was started in', () => {
  for (const HOME of ['', '.', 'home']) {
    const environment = { HOME, XDG_STATE_HOME: 'state', XDG_CONFIG_HOME: 'config' };
    expect(isAbsolute(stateFolder('sessions', '/work', environment))).toBe(true);
    expect(isAbsolute(settingsFolder(environment))).toBe(true);
  }
});

it('uses the folders that the environment names', () => {
  expect(settingsFolder({ XDG_CONFIG_HOME: resolve('/config') })).toBe(join(resolve('/config'), 'h-coder'));
});
