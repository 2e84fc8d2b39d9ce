/**
 * What it costs to send a message through the inbox, and what a store in files adds to it: messages a second, and what is left
 * of them.
 *
 *   node --expose-gc bench/inbox.mjs        (after a build)
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLanes, queue } from '@h/queue';
import { createInbox } from '@h/queue/inbox';
import { fileInboxStore } from '@h/queue/file-store';
import { harness, memorySessions } from '@h/turn';

const answer = {
  type: 'response',
  response: {
    content: [{ type: 'text', text: 'Yes.' }],
    finishReason: 'stop',
    usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
  },
};
const count = 3000;
const sessionCount = 300;

/** Sends messages to many sessions, `concurrency` at a time; a session is forgotten after each, so that only the inbox is measured. */
const run = async (store, batch) => {
  const sessions = memorySessions();
  const lanes = createLanes({ concurrency: 64 });
  const agent = harness({ model: () => [answer], sessions }).pipe(queue(lanes));
  const inbox = createInbox(agent, lanes, { mode: 'followup', store });
  await inbox.recover({ sessions });
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const start = performance.now();
  for (let done = 0; done < count; done += batch) {
    const sent = Array.from({ length: batch }, (_, index) =>
      inbox.send(`s${(done + index) % sessionCount}`, 'Is that so?', { id: `${done + index}` }),
    );
    for (const { status } of await Promise.all(sent)) if (status !== 'delivered') throw new Error(status);
    for (let index = 0; index < batch; index += 1) sessions.delete(`s${(done + index) % sessionCount}`);
  }
  const rate = count / ((performance.now() - start) / 1000);
  globalThis.gc?.();
  const kept = process.memoryUsage().heapUsed - heap;
  await inbox.close();
  await lanes.shutdown();
  return { rate, kept };
};

for (const batch of [1, 300]) {
  for (const isKept of [false, true]) {
    const directory = await mkdtemp(join(tmpdir(), 'h-inbox-bench-'));
    const { rate, kept } = await run(isKept ? fileInboxStore({ directory }) : undefined, batch);
    const sizes = await Promise.all(
      (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size),
    );
    const left = `${Math.round(kept / 1000)} kB of heap, ${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1000)} kB of files left`;
    console.log(
      `${isKept ? 'kept in files' : 'in memory'}, ${batch} at a time`.padEnd(34),
      `${Math.round(rate).toLocaleString('en')} messages/s`.padStart(20),
      ' ',
      left,
    );
    await rm(directory, { recursive: true });
  }
}
