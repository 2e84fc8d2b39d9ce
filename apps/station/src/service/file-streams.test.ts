import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { fileStreams } from './file-streams.js';

it('prunes old streams that have ended or lost their writer, and keeps those of turns that wait', async () => {
  const directory = temporaryFolder();
  const write = async (events: ReturnType<typeof fileStreams>, stream: string) => {
    const writer = events.write(stream);
    await writer.append(stream);
    await writer.flush();
    onTestFinished(async () => writer.release?.());
    return writer;
  };
  await write(fileStreams(directory), 'of a killed process');
  const events = fileStreams(directory);
  await (await write(events, 'left to the next process')).release?.();
  await (await write(events, 'ended')).end('completed');
  await write(events, 'new');
  await (await write(events, 'ended now')).end('completed');
  const waiting = await write(events, 'waiting for an approval');
  const old = new Date(Date.now() - 60_000);
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
  for (const file of files) utimesSync(join(directory, file), old, old);
  await (await write(events, 'new')).release?.();
  await (await write(events, 'ended now')).end('completed');
  expect(await events.prune(30_000)).toBe(3);
  await waiting.end('completed');
  const left = [];
  for (const stream of [
    'of a killed process',
    'left to the next process',
    'ended',
    'new',
    'ended now',
    'waiting for an approval',
  ]) {
    for await (const item of events.read(stream)) {
      if (item.type === 'event') left.push(item.event);
      else break;
    }
  }
  expect([...new Set(left)]).toEqual(['new', 'ended now', 'waiting for an approval']);
});
