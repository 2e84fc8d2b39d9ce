import { expect, it } from 'vitest';
import { runLoad } from '../bench/load.js';
import { ownDatabase } from './program.js';

const sizes = { sessions: 40, turns: 3, streams: 20, active: 16, concurrency: 8 };

it.each(['files', 'postgres'])('gives each client of many its own events, once and in order: %s', async (store) => {
  const databaseUrl = store === 'files' ? undefined : await ownDatabase();
  expect((await runLoad({ ...sizes, databaseUrl })).mistakes).toEqual([]);
});
