import { decodeRecord, encodeRecord, type JournalRecord } from '@h/turn';
import { event } from '@h/turn/testing';
import { expect, it } from 'vitest';
import { eventsOf } from './janitor.js';

const noUsage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 };

it('completes the messages of a stored journal', () => {
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const content = [{ type: 'text' as const, text: 'Hi.' }];
  const records: JournalRecord[] = [
    event('turn.start', { session: 'alice', input: messages, trigger: 'user' }),
    event('history.append', { messages, origin: 'input' }),
    event('model.response', { step: 1, attempt: 1, content, finishReason: 'stop', usage: noUsage }),
    event('history.append', { messages: [{ role: 'assistant', content }], origin: 'response' }),
    event('history.append', { messages: [{ role: 'tool', content: [] }], origin: 'results' }),
  ].map((each, seq) => ({ v: 1, seq, event: each, derived: each.type === 'history.append' }));
  const stored = records.map((record) => decodeRecord(encodeRecord(record)));
  const appended = [...eventsOf(stored)].flatMap((each) => (each.type === 'history.append' ? [each.messages] : []));
  expect(appended).toEqual([messages, [{ role: 'assistant', content }], []]);
});
