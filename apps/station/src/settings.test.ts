import { expect, it } from 'vitest';
import { parseArguments } from './arguments.js';
import { loadText } from './config/load-config.js';
import { settingsOf } from './settings.js';

it('uses the same defaults without a configuration, except for its folder', () => {
  const given = parseArguments([]);
  const { data, ...rest } = settingsOf(given, undefined);
  const { data: folder, ...others } = settingsOf(given, loadText('', '/srv/config.yaml'));
  expect(rest).toEqual(others);
  expect([data, folder]).toEqual([expect.stringMatching(/\/h\/station$/), '/srv/.station']);
});
