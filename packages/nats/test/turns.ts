import type { OpenSession, TurnEvent } from '@h/turn';
import { event, usage, user } from '@h/turn/testing';

/** The records of a turn with an input and an answer. */
export const turnOf = (turn: string, text: string, at = Date.now()): readonly TurnEvent[] => {
  const envelope = { turn, at };
  const content = [{ type: 'text', text: `You said: ${text}` }] as const;
  return [
    event('turn.start', { session: 'any', input: [user(text)], trigger: 'user' }, envelope),
    event('session.loaded', { session: 'any', messages: [] as never, state: {}, repairs: [] }, envelope),
    event('history.append', { origin: 'input', messages: [user(text)] }, envelope),
    event('model.response', { step: 1, attempt: 1, content, finishReason: 'stop', usage: usage() }, envelope),
    event('history.append', { origin: 'response', messages: [{ role: 'assistant', content }] }, envelope),
    event('turn.end', { outcome: 'completed', steps: 1, usage: usage() }, envelope),
  ];
};

/** Appends events as the records of a turn, one after the other. */
export const write = async (open: OpenSession, events: readonly TurnEvent[], from = 0): Promise<void> => {
  for (const [index, each] of events.entries()) {
    await open.append({ v: 1, seq: from + index, event: each, derived: false });
  }
};
