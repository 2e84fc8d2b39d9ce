import { isAbsolute, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { settingsFolder } from './agent/rules.js';
import { problemText, stateFolder } from './stored-sessions.js';

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

it('says which session is damaged, what is lost and where a copy is', () => {
  const problem = { session: 's1', path: '/j', backup: '/j.corrupt', bytes: 1200, message: 'A record is damaged.' };
  expect(problemText({ ...problem, kind: 'corrupt-journal' })).toBe(
    'Session s1 is damaged: A record is damaged. It continues before the damage, without its last 1,200 bytes. A copy is in /j.corrupt.',
  );
  expect(problemText({ ...problem, kind: 'unreadable', session: '', backup: undefined })).toBe('A record is damaged.');
});
