import { expect } from 'vitest';
import {
  repairHistory,
  type Agent,
  type JournalRecord,
  type Message,
  type TurnEvent,
  type TurnEventOf,
  type TurnEventType,
} from '../src/index.js';
import type { Observable, Subscription } from 'rxjs';

/** A turn that runs, and what it has said so far. */
export interface Watched {
  readonly events: readonly TurnEvent[];
  readonly types: readonly string[];
  readonly isComplete: boolean;
  readonly error: unknown;
  readonly subscription: Subscription;
  /** Its end; fails when it has none. */
  readonly end: TurnEventOf<'turn.end'>;
  /** Once it is complete. */
  readonly done: Promise<void>;
  all<Type extends TurnEventType>(type: Type): readonly TurnEventOf<Type>[];
}

/** Subscribes to a turn and remembers everything. */
export const watch = (turn$: Observable<TurnEvent>, onEvent: (event: TurnEvent) => void = () => undefined): Watched => {
  const events: TurnEvent[] = [];
  const state = { isComplete: false, error: undefined as unknown };
  let finish = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const subscription = turn$.subscribe({
    next: (event) => {
      events.push(event);
      onEvent(event);
    },
    error: (error: unknown) => {
      state.error = error;
      finish();
    },
    complete: () => {
      state.isComplete = true;
      finish();
    },
  });
  return {
    events,
    subscription,
    done,
    get types() {
      return events.map(({ type }) => type);
    },
    get isComplete() {
      return state.isComplete;
    },
    get error() {
      return state.error;
    },
    get end() {
      const last = events.at(-1);
      if (last?.type !== 'turn.end') {
        throw new Error(`The turn has not ended; its last event is ${last?.type ?? 'none'}.`);
      }
      return last;
    },
    all: (type) => events.filter((event): event is TurnEventOf<typeof type> => event.type === type),
  };
};

/** Runs a turn in the session `alice` to its end. */
export const runTurn = async (agent: Agent, input = 'Go.', onEvent?: (event: TurnEvent) => void): Promise<Watched> => {
  const watched = watch(agent.turn({ session: 'alice', input }), onEvent);
  await watched.done;
  return watched;
};

/** The text that the model reads as the result of each call, by id. */
export const resultTexts = (messages: readonly Message[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    messages.flatMap((message) =>
      message.role === 'tool'
        ? message.content.flatMap((part) =>
            part.type === 'tool-result'
              ? [
                  [
                    part.toolCallId,
                    'value' in part.output && typeof part.output.value === 'string'
                      ? part.output.value
                      : part.output.type,
                  ],
                ]
              : [],
          )
        : [],
    ),
  );

/** What holds of every turn, however it ended: rule 3 and rule 7 of the architecture, told from its journal. */
export const expectSound = (label: string, journal: readonly JournalRecord[], messages: readonly Message[]): void => {
  const events = journal.map(({ event }) => event);
  const count = (type: TurnEventType): number => events.filter((event) => event.type === type).length;
  expect(
    journal.map(({ seq }) => seq),
    `${label}: the records are in order`,
  ).toEqual(journal.map((_, index) => index));
  if (events.length > 0) {
    expect(count('turn.end'), `${label}: one end`).toBe(1);
    expect(events.at(-1)?.type, `${label}: the end is last`).toBe('turn.end');
  }
  let open = 0;
  for (const event of events) {
    if (event.type === 'model.request') open += 1;
    if (event.type === 'model.response' || event.type === 'model.error') open = Math.max(0, open - 1);
    expect(open, `${label}: a request is answered before the next`).toBeLessThanOrEqual(1);
  }
  expect(open, `${label}: every request is answered`).toBe(0);
  const asked = events.flatMap((event) =>
    event.type === 'model.response'
      ? event.content.flatMap((part) =>
          part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : [],
        )
      : [],
  );
  const answered = events.flatMap((event) => (event.type === 'tool.result' ? [event.call.id] : []));
  expect(answered.toSorted(), `${label}: one result for every call`).toEqual(asked.toSorted());
  expect(repairHistory(messages).repairs, `${label}: the transcript is in order`).toEqual([]);
};

/** What a subscriber that stayed to the end must have seen. */
export const expectEnded = (label: string, { events, isComplete, error }: Watched): void => {
  expect(error, `${label}: it never errors`).toBeUndefined();
  expect(isComplete, `${label}: it completes`).toBe(true);
  expect(
    events.filter(({ type }) => type === 'turn.end'),
    `${label}: one end is shown`,
  ).toHaveLength(1);
  expect(events.at(-1)?.type, `${label}: the end is shown last`).toBe('turn.end');
};
