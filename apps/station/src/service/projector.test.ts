import { join } from 'node:path';
import { CodedError } from '@h/options';
import { event } from '@h/turn/testing';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { openFileRecords } from './file-records.js';
import { Projector } from './projector.js';
import { newSessionId } from './session-id.js';

it('writes nothing more to a stream that another process has taken over, and reports it once', async () => {
  const problems: unknown[] = [];
  let attempts = 0;
  const taken = (): Promise<void> => {
    attempts += 1;
    return Promise.reject(new CodedError('stream-taken', 'Another writer has taken over the stream.'));
  };
  const done = (): Promise<void> => Promise.resolve();
  const writer = { append: taken, complete: taken, flush: done, dropDeltas: taken, end: taken, release: done };
  const records = await openFileRecords(join(temporaryFolder(), 'records'));
  const projector = new Projector({
    records,
    events: { write: () => writer } as never,
    costOf: () => undefined,
    secrets: [],
    onTurnEnd: () => undefined,
    onProblem: (problem) => problems.push(problem),
    isHandedOver: () => false,
    fenceOf: () => 1,
    onApproval: () => undefined,
  });
  const session = newSessionId('helper', 'acme');
  projector.add(event('turn.start', { session, input: [], trigger: 'user' }));
  projector.add(event('session.loaded', { session, messages: [] as never, state: {}, repairs: [] }));
  for (let step = 1; step <= 50; step += 1) {
    projector.add(event('model.delta', { step, attempt: 1, delta: { type: 'text', text: 'a' } }));
    projector.add(event('model.error', { step, attempt: 1, error: { name: 'Error', message: 'Overloaded.' } }));
  }
  await projector.flush();
  expect([attempts, problems]).toEqual([1, [expect.objectContaining({ code: 'stream-taken' })]]);
  await records.close();
});
