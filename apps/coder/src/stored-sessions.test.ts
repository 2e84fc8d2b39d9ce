import { isAbsolute, join, resolve } from 'node:path';
import type { FileSessions } from '@h/session';
import { expect, it } from 'vitest';
import { settingsFolder } from './agent/rules.js';
import { chooseSession, problemText, stateFolder, storageError } from './stored-sessions.js';

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

it('names the folder of the state if the disk is full', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const folder = resolve('/state');
  expect(storageError(full, { XDG_STATE_HOME: folder })).toMatchObject({
    message: `The disk is full (${full.message}). Sessions are stored in ${join(folder, 'h-coder')}. Free space, or set XDG_STATE_HOME to a folder on another disk.`,
  });
  const other = new Error('no');
  expect(storageError(other, {})).toBe(other);
});

it('continues the latest session that can be read', async () => {
  const listed = [
    { session: 'broken', state: 'damaged' },
    { session: 'whole', state: 'idle' },
  ];
  const sessions = { list: () => Promise.resolve(listed) } as unknown as FileSessions;
  await expect(chooseSession(sessions, { continue: true, resume: undefined })).resolves.toBe('whole');
  await expect(chooseSession(sessions, { continue: false, resume: 'broken' })).resolves.toBe('broken');
});
