import { DuplicateTurnError, type OpenSession, type SessionStore, type TurnEvent } from '@h/turn';
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

/** Random numbers that a seed determines. */
export const randomOf = (seed: number): ((below: number) => number) => {
  let state = seed * 2_654_435_761;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
};

/** How long a turn is tried again. A cluster elects its leaders in seconds. */
const maxRetryMs = 180_000;

/**
 * Runs a turn in a session, from its first record that is missing, until it is stored in full.
 *
 * @throws the last error, if the turn fails for three minutes
 */
export const finish = async (store: SessionStore, session: string, turn: string): Promise<void> => {
  const events = turnOf(turn, `${session} ${turn}`, 1);
  const end = performance.now() + maxRetryMs;
  for (;;) {
    let open: OpenSession | undefined;
    try {
      open = await store.open(session);
      if (open.pastTurn?.(turn)?.outcome !== undefined) return;
      const from = open.journal[0]?.event.turn === turn ? open.journal.length : 0;
      for (let seq = from; seq < events.length; seq += 1) {
        const each = events[seq];
        if (each !== undefined) await open.append({ v: 1, seq, event: each, derived: false });
      }
      return;
    } catch (error) {
      if (error instanceof DuplicateTurnError || performance.now() > end) throw error;
    } finally {
      await open?.close();
    }
  }
};
