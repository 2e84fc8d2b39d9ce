import { expect, it } from 'vitest';
import { approve, check } from './check.js';
import { defaultConfig } from './config.js';

it.each([{}, { servers: {} }])('refuses a configuration without servers: %j', async (servers) => {
  const config = { ...defaultConfig(), ...servers, security: { ...defaultConfig().security, pins: '/pins.json' } };
  for (const command of [check, approve]) {
    await expect(command(config, () => undefined)).rejects.toThrow('There is no server to guard.');
  }
});
