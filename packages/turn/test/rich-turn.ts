import type { Observable } from 'rxjs';
import {
  deny,
  harness,
  intercept,
  keep,
  proceed,
  retry,
  type Agent,
  type PipelineOperator,
  type SessionStore,
  type TurnEvent,
  type TurnOperator,
} from '../src/index.js';
import {
  call,
  failure,
  response,
  scriptedModel,
  scriptedTools,
  user,
  type ScriptedModel,
  type ScriptedTools,
  type ScriptStep,
} from '../src/testing/index.js';

/**
 * A turn in which everything happens: parallel tools, a denial, a failing call that is asked again, an approval, progress,
 * steering, a shortened history, kept state, and a continuation instead of the end.
 */
export interface RichTurn {
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly tools: ScriptedTools;
  /** How often the operators were set up and finalized. */
  readonly lives: { setUp: number; finalized: number };
  /** The turn. Subscribing also answers its approvals and steers it. */
  turn(signal?: AbortSignal): Observable<TurnEvent>;
  /** What a person does about an event. */
  react(event: TurnEvent): void;
}

export interface RichTurnOptions {
  readonly sessions: SessionStore;
  /** How long drivers take for each thing they say; without it they answer at once. */
  readonly delayMs?: number | undefined;
  readonly first?: readonly PipelineOperator[];
  readonly last?: readonly PipelineOperator[];
}

const script: readonly ScriptStep[] = [
  response('Let me look.', call('r1', 'read'), call('w1', 'write'), call('x1', 'forbidden')),
  { error: failure('Overloaded', { status: 529 }), after: ['Hm, '] },
  response(call('p1', 'publish'), call('s1', 'slow')),
  response(call('r2', 'read')),
  'Almost.',
  'Done.',
];

export const richTurn = ({ sessions, delayMs, first = [], last = [] }: RichTurnOptions): RichTurn => {
  const lives = { setUp: 0, finalized: 0 };
  const model = scriptedModel(script, delayMs === undefined ? {} : { delayMs });
  const later = <Value>(value: Value): Value | Promise<Value> =>
    delayMs === undefined ? value : new Promise((resolve) => setTimeout(() => resolve(value), delayMs));
  const tools = scriptedTools({
    read: () => later('contents'),
    write: () => later('written'),
    publish: () => later('published'),
    slow: (_, { progress }) => {
      progress(0.5);
      return later('slow result');
    },
  });
  const agent = harness({ model, tools, sessions }).pipe(
    ...first,
    counting(lives),
    retryOverloaded(),
    approval(),
    pusher(),
    ...last,
  );
  let hasSteered = false;
  return {
    agent,
    model,
    tools,
    lives,
    turn: (signal) => agent.turn({ session: 'alice', input: 'Go.', signal }),
    react: (event) => {
      if (event.type === 'approval.request') queueMicrotask(() => agent.answer(event.id, 'once'));
      if (event.type !== 'tool.progress' || hasSteered) return;
      hasSteered = true;
      agent.steer('alice', 'Hurry.');
    },
  };
};

const counting = (lives: RichTurn['lives']): TurnOperator =>
  intercept('counting', () => {
    lives.setUp += 1;
    return { finalize: () => void (lives.finalized += 1) };
  });

const retryOverloaded = (): TurnOperator =>
  intercept('retry-overloaded', () => ({
    decide: { 'model.error': (event) => (event.error.status === 529 ? retry(event) : undefined) },
  }));

const approval = (): TurnOperator =>
  intercept('approval', ({ emit }) => {
    const waiting = new Map<string, () => void>();
    return {
      observe: { 'approval.answer': ({ id }) => waiting.get(id)?.() },
      decide: {
        'tool.call': (event) => {
          if (event.call.name === 'forbidden') return deny(event, 'Not here.');
          if (event.call.name !== 'publish') return undefined;
          const id = `${event.turn}:${event.call.id}`;
          emit({ type: 'approval.request', id, reason: 'Publish?', call: event.call });
          return new Promise((resolve) => waiting.set(id, () => resolve(undefined)));
        },
      },
    };
  });

const pusher = (): TurnOperator =>
  intercept('pusher', () => {
    let pushed = false;
    return {
      decide: {
        'model.request': (event) =>
          event.step === 3
            ? [
                {
                  type: 'history.replace',
                  messages: [user('Summary.'), ...event.messages.slice(-2)],
                  origin: 'pusher',
                },
                keep('shortened', true),
                event,
              ]
            : undefined,
        'turn.stop': (event) => {
          if (event.outcome !== 'completed' || pushed) return undefined;
          pushed = true;
          return proceed([{ role: 'user', content: 'Really?', metadata: { internal: true } }], 'It was not checked.');
        },
      },
    };
  });
