import { expect, vi } from 'vitest';
import type { TurnEvent, TurnOperator } from '../contract/events.js';
import { harness } from '../harness.js';
import { memorySessions } from '../journal/memory-sessions.js';
import type { JournalRecord, OpenSession, SessionStore } from '../contract/session-store.js';
import { above, below, modelOf, randomTurn, toolsOf, type RandomTurn } from './random-turns.js';

const session = 'session-1';
const turn = 'turn-1';
const begin = 1_000_000;
/** Seeds of turns that together contain every type of event. */
const seeds = [1, 2, 3, 5, 8, 13];
/** Virtual time after which a turn counts as hung. */
const patienceMs = 600_000;
/** Virtual time that passes in small steps: enough for a random turn whose operators do not wait. */
const briskMs = 2_000;

/**
 * Checks that an operator decides the same after a resume: runs random turns, resumes each from every record of its
 * journal, and compares the rest of the turn with the uninterrupted run.
 *
 * The clock of a resumed run starts at the last record, so a different decision means that the operator has state
 * that its journal does not determine, or reads the clock while it observes.
 */
export const checkReplay = async (factory: () => TurnOperator): Promise<void> => {
  for (const seed of seeds) {
    const scene = randomTurn(seed);
    const whole = await play(scene, factory, []);
    const expected = decisionsOf(whole);
    for (let length = 1; length < whole.length; length += 1) {
      if (isAmid(whole, length)) continue;
      const resumed = await play(scene, factory, whole.slice(0, length));
      const place = `turn ${seed}, resumed behind record ${length - 1} (${whole[length - 1]?.event.type})`;
      const decisions = decisionsOf(resumed);
      if (decisions.join('\n') === expected.join('\n')) continue;
      expect(decisions.map(parsed), place).toEqual(expected.map(parsed));
    }
  }
};

/** Returns whether a crash at this record would separate records of one message or decision from outside the turn. */
const isAmid = (records: readonly JournalRecord[], length: number): boolean => {
  const steered = records.findIndex(({ event }) => event.type === 'input.received');
  const trigger = steered - 1;
  return steered !== -1 && length > trigger && length <= steered;
};

/** Runs the turn, or resumes it behind the given records. @returns all records of its journal */
const play = async (
  scene: RandomTurn,
  factory: () => TurnOperator,
  records: readonly JournalRecord[],
): Promise<readonly JournalRecord[]> => {
  vi.useFakeTimers({ now: records.at(-1)?.event.at ?? begin });
  try {
    const sessions = memorySessions();
    const journal: JournalRecord[] = [...records];
    await refill(sessions, records);
    const failuresOf = (step: number): number =>
      journal.filter(({ event }) => event.type === 'model.error' && event.step === step).length;
    const agent = harness({
      model: modelOf(scene, failuresOf),
      tools: toolsOf(),
      sessions: recorded(sessions, journal),
      maxModelCalls: 60,
    }).pipe(above(), factory(), below(scene));
    let isOver = false;
    let isSteered = journal.some(({ event }) => event.type === 'input.received');
    const turn$ = records.length === 0 ? agent.turn({ session, input: 'Go.', id: turn }) : agent.resume(turn);
    const subscription = turn$.subscribe({
      next: (event) => {
        if (event.replayed === true) return;
        if (event.type === 'approval.request') {
          setTimeout(() => agent.answer(event.id, event.id.endsWith('1') ? 'deny' : 'once'), 3);
        }
        if (event.type !== 'tool.result' || isSteered || event.step !== scene.steerAt) return;
        // Results of operators arrive while the other calls of the step are still being decided.
        if (event.status !== 'ok' && event.status !== 'failed') return;
        isSteered = true;
        agent.steer(session, 'Hurry.', 'message-1');
      },
      complete: () => {
        isOver = true;
      },
    });
    const hasEnded = (): boolean => isOver;
    for (let waited = 0; !hasEnded() && waited < briskMs; waited += 1) {
      await afterMicrotasks();
      vi.advanceTimersByTime(1);
    }
    for (let waited = 0; !hasEnded() && waited < patienceMs; waited += 1000) await vi.advanceTimersByTimeAsync(1000);
    subscription.unsubscribe();
    expect(isOver, 'the turn does not end').toBe(true);
    return journal;
  } finally {
    vi.useRealTimers();
  }
};

/** The timers of the system: a fake timer would need a millisecond of real time for each one that fires. */
const { setImmediate } = globalThis;
export const afterMicrotasks = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const refill = async (sessions: SessionStore, records: readonly JournalRecord[]): Promise<void> => {
  if (records.length === 0) return;
  const open = await sessions.open(session);
  for (const record of records) await open.append(record);
  await open.close();
};

/** A store that also copies everything written to it. */
const recorded = (sessions: SessionStore, journal: JournalRecord[]): SessionStore => ({
  ...sessions,
  open: async (name) => {
    const open: OpenSession = await sessions.open(name);
    return {
      snapshot: open.snapshot,
      journal: open.journal,
      close: () => open.close(),
      append: (record) => {
        journal.push(record);
        return open.append(record);
      },
    };
  },
});

/** Returns the decisions as JSON, without times, attempts and the repetition of a lost model call. */
const decisionsOf = (records: readonly JournalRecord[]): readonly string[] => {
  const decisions = records.flatMap(({ event }) => decisionOf(event) ?? []).map((decision) => JSON.stringify(decision));
  return decisions.filter((decision, index) => decision !== decisions[index - 1]);
};

const parsed = (decision: string): unknown => JSON.parse(decision);

const decisionOf = (event: TurnEvent): object | undefined => {
  switch (event.type) {
    case 'model.request': {
      const { type, step, model, system, tail, settings } = event;
      const tools = event.tools.map(({ name }) => name);
      return { type, step, model, system, tail, settings, tools, messages: [...event.messages] };
    }
    case 'tool.call':
      return { type: event.type, id: event.call.id, denied: event.denied };
    case 'tool.result':
      return { type: event.type, id: event.call.id, status: event.status, output: event.output };
    case 'history.append':
    case 'history.replace':
      return { type: event.type, origin: event.origin, messages: [...event.messages] };
    case 'turn.continue':
      return { type: event.type, messages: event.messages };
    case 'turn.stop':
      return { type: event.type, outcome: event.outcome, reason: event.reason };
    case 'turn.end':
      return { type: event.type, outcome: event.outcome, reason: event.reason, steps: event.steps };
    default:
      return undefined;
  }
};
