import { access } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { keep } from '../contract/decisions.js';
import { harness } from '../harness.js';
import { intercept } from '../operators/intercept.js';
import { memorySessions } from '../journal/memory-sessions.js';
import { reply } from '../reply.js';
import { scriptedModel } from '../testing/index.js';

const thisFile = fileURLToPath(import.meta.url);

/** Looks for a file, and blocks this thread meanwhile as a suspension of the process does: time passes, and nothing runs. */
const lookWhileSuspended = async (ms: number): Promise<void> => {
  // The timers of the turn have begun.
  await setImmediate();
  const looking = access(thisFile);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  await looking;
};

describe('a process that is suspended past closeGraceMs', () => {
  it('does not lose the decision of an operator that holds the end', async () => {
    const audit = intercept('audit', () => ({
      decide: {
        'turn.end': async (event) => {
          await lookWhileSuspended(300);
          return [keep('audited', true), event];
        },
      },
    }));
    const agent = harness({ model: scriptedModel(['Done.']), closeGraceMs: 200 }).pipe(audit);
    const events = await lastValueFrom(agent.turn({ session: 'alice', input: 'Go.' }).pipe(toArray()));
    expect(events.map(({ type }) => type)).toContain('session.state');
  });

  it('completes a turn whose session is being released', async () => {
    const sessions = memorySessions();
    const closing = {
      ...sessions,
      open: async (session: string) => {
        const open = await sessions.open(session);
        return {
          ...open,
          append: (record: Parameters<typeof open.append>[0]) => open.append(record),
          close: async () => {
            await lookWhileSuspended(300);
            await open.close();
          },
        };
      },
    };
    const agent = harness({ model: scriptedModel(['Done.', 'Again.']), sessions: closing, closeGraceMs: 200 }).pipe();
    expect(await reply(agent.turn({ session: 'alice', input: 'Go.' }))).toMatchObject({ outcome: 'completed' });
    expect(await reply(agent.turn({ session: 'alice', input: 'Go on.' }))).toMatchObject({ outcome: 'completed' });
  });
});
