import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  harness,
  intercept,
  reply,
  retry,
  type Agent,
  type JournalRecord,
  type Message,
  type ModelDriver,
  type ModelResponse,
  type OpenSession,
  type SessionStore,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { call, failure, response, scriptedTools } from '@h/turn/testing';
import { fileSessions } from '../src/index.js';

/**
 * A turn with parallel tools of every kind, a failing model call that is asked again, a replaced history, an approval and
 * a tool that runs a turn in a separate session. The model and the tools behave the same in every process.
 */
export interface CrashWorld {
  readonly agent: Agent;
  readonly sessions: SessionStore;
}

const script: readonly ModelResponse[] = [
  response(
    'Let me look.',
    call('r1', 'read', { path: 'a' }),
    call('w1', 'write', { path: 'a' }),
    call('r2', 'read', { path: 'b' }),
  ),
  response('Now both.', call('w2', 'write', { path: 'b' }), call('w3', 'write', { path: 'c' })),
  response(call('d1', 'delegate', { task: 'Look elsewhere.' })),
  response(call('a1', 'publish', { version: 1 })),
  response('Done.'),
];
const childScript: readonly ModelResponse[] = [
  response(call('cr1', 'read', { path: 'x' }), call('cw1', 'write', { path: 'x' })),
  response('Found it.'),
];

const model: ModelDriver = ({ messages: _messages }, { step, attempt, session }) => {
  if (session === 'main' && step === 2 && attempt === 1) {
    return [{ type: 'error', error: failure('Overloaded', { status: 529 }) }];
  }
  const answer = (session === 'main' ? script : childScript)[step - 1] ?? response('Nothing more.');
  return [{ type: 'response', response: answer }];
};

const askAgain = (): TurnOperator =>
  intercept('ask-again', () => ({ decide: { 'model.error': (event) => retry(event) } }));

/** Replaces the history before step 3, once. */
const shorten = (): TurnOperator =>
  intercept('shorten', () => {
    let isShort = false;
    return {
      observe: { 'history.replace': () => void (isShort = true) },
      decide: {
        'model.request': (event) => {
          if (event.step !== 3 || isShort) return undefined;
          const messages: readonly Message[] = [
            { role: 'user', content: 'Summary of what was before.' },
            ...event.messages.slice(2),
          ];
          return [
            { type: 'history.replace', messages, origin: 'shorten' },
            { type: 'session.state', key: 'shorten', value: event.step },
            event,
          ];
        },
      },
    };
  });

const approve = (): TurnOperator =>
  intercept('approve', ({ emit }) => {
    const answered = new Set<string>();
    const waiting = new Map<string, () => void>();
    return {
      observe: {
        'approval.answer': ({ id }) => {
          answered.add(id);
          waiting.get(id)?.();
        },
      },
      decide: {
        'tool.call': (event) => {
          const id = `approval-${event.call.id}`;
          if (event.call.name !== 'publish' || answered.has(id)) return undefined;
          emit({ type: 'approval.request', id, reason: 'Publish?', call: event.call });
          return new Promise((resolve) => waiting.set(id, () => resolve(undefined)));
        },
      },
    };
  });

export const crashWorld = (
  directory: string,
  wrap: (store: SessionStore) => SessionStore = (store) => store,
): CrashWorld => {
  const sessions = wrap(fileSessions({ directory, fsync: 'never' }));
  const effect = (id: string): void => appendFileSync(join(directory, 'effects.txt'), `${id}\n`);
  const tools = scriptedTools(
    {
      read: (_, { call: { id } }) => (effect(id), `contents for ${id}`),
      write: async (_, { call: { id } }) => {
        await Promise.resolve();
        effect(id);
        return 'written';
      },
      publish: (_, { call: { id } }) => (effect(id), 'published'),
      delegate: async (_, { call: { id } }) => {
        effect(id);
        const { text } = await reply(
          world.agent.turn({ session: 'child', input: 'Look elsewhere.', id: 'turn-child' }),
        );
        return text;
      },
    },
    {
      read: { effect: 'read-only' },
      write: { effect: 'local-write' },
      publish: { effect: 'destructive' },
      delegate: { effect: 'local-write' },
    },
  );
  const agent = harness({ model, tools, sessions }).pipe(approve(), askAgain(), shorten());
  const world: CrashWorld = { agent, sessions };
  return world;
};

/** Answers requests for approval as a person would, a moment later. */
export const approving =
  (agent: Agent) =>
  (event: TurnEvent): void => {
    if (event.type === 'approval.request' && event.replayed !== true) {
      queueMicrotask(() => agent.answer(event.id, 'once'));
    }
  };

/** What {@link watching} calls. */
export interface StoreHooks {
  /**
   * A record is about to be appended. The promise is fulfilled once those before it are stored; a promise that it returns
   * delays this record.
   */
  readonly before: (session: string, record: JournalRecord, stored: Promise<void>) => Promise<void> | undefined;
  /** A record has been stored. */
  readonly after: () => void;
}

/** A store that calls back before and after each record of any session is stored. */
export const watching = (store: SessionStore, { before, after }: StoreHooks): SessionStore => {
  let stored = Promise.resolve();
  return {
    locate: (turn) => store.locate(turn),
    unfinished: () => store.unfinished(),
    open: async (session): Promise<OpenSession> => {
      const open = await store.open(session);
      const append = async (record: JournalRecord): Promise<void> => {
        await before(session, record, stored);
        await open.append(record);
        after();
      };
      return {
        snapshot: open.snapshot,
        journal: open.journal,
        append: (record) => {
          const appended = append(record);
          stored = Promise.allSettled([stored, appended]).then(() => undefined);
          return appended;
        },
        close: () => open.close(),
      };
    },
  };
};
