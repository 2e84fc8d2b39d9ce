import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import * as contract from '../src/api/contract.js';
import { startModelServer } from './model-server.js';
import { openProgram } from './program.js';

/** The open files of this process in a folder. */
const openIn = (folder: string): readonly string[] => {
  if (process.platform !== 'linux') return [];
  const links = readdirSync('/proc/self/fd').map((name) => `/proc/self/fd/${name}`);
  return links
    .filter((link) => existsSync(link))
    .map((link) => readlinkSync(link))
    .filter((path) => path.startsWith(folder));
};

it('ends the turns that run when it stops, and leaves those that wait to the next process', async () => {
  let answer = (): void => undefined;
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const server = await startModelServer(async () => {
    await mayAnswer;
    return 'Done.';
  });
  const config = {
    models: { default: 'acme/large', providers: { acme: { base_url: `${server.url}/v1` } } },
    lanes: { concurrency: 2 },
  };
  const given = { folder: temporaryFolder(), config, agents: { helper: {} } };
  const first = await openProgram(given);
  const texts = ['one', 'two', 'three', 'four', 'five'];
  for (const text of texts) {
    await first.post('/sessions', { agent: 'helper', message: { text } }, contract.session);
  }
  await first.until(() => (server.requests.length === 2 ? true : undefined));
  const stopped = first.program.stop(30_000);
  answer();
  await stopped;
  expect(server.requests).toHaveLength(2);
  expect(openIn(join(given.folder, '.station/events'))).toEqual([]);
  await first.program.close();
  const second = await openProgram(given);
  const sessions = await second.until(({ sessions: all }) =>
    all.length === texts.length && all.every(({ outcome }) => outcome === 'completed') ? all : undefined,
  );
  expect(sessions.map(({ messages }) => messages)).toEqual(texts.map(() => 2));
  expect(server.requests).toHaveLength(texts.length);
  expect([first.problems, second.problems]).toEqual([[], []]);
});
