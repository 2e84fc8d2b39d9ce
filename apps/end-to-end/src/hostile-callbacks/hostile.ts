import { repairHistory, type Agent, type Repair, type TurnEvent, type TurnInput } from '@h/turn';
import { afterAll, beforeAll } from 'vitest';

/** A callback of any signature, so that every option accepts it. */
export type Callback = () => never;

const throwing = (): never => {
  throw new Error('Do not look.');
};

/** Values that break code which looks at them. */
export const values: readonly (readonly [name: string, make: () => unknown])[] = [
  ['an error whose message is an object', () => Object.assign(new Error('x'), { message: { status: 500 } })],
  [
    'an error with accessors that throw',
    () => {
      const error = new Error('x');
      for (const key of ['message', 'name', 'code', 'cause', 'stack', 'toString', 'toJSON']) {
        Object.defineProperty(error, key, { get: throwing });
      }
      return error;
    },
  ],
  [
    'a revoked proxy',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
  ],
  // oxlint-disable-next-line unicorn/no-thenable -- a hostile thenable is the subject
  ['an object whose "then" throws', () => Object.defineProperty({}, 'then', { get: throwing })],
  ['undefined', () => undefined],
];

/** One way in which a callback fails. */
export interface Failing {
  readonly name: string;
  readonly behave: () => unknown;
  /** The callback never settles, so that only a time limit ends what waits for it. */
  readonly isHanging: boolean;
}

const failing = (name: string, behave: () => unknown, isHanging = false): Failing => ({ name, behave, isHanging });

const synchronousFailures = values.flatMap(([name, make]) => [
  failing(`throws ${name}`, () => {
    throw make();
  }),
  failing(`returns ${name}`, make),
]);

const asynchronousFailures = [
  ...values.map(([name, make]) =>
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a hostile value is the subject
    failing(`rejects with ${name}`, () => Promise.reject(make())),
  ),
  failing('never settles', () => new Promise(() => undefined), true),
];

/** The ways in which a callback fails; promises only if its type allows a promise or `void`. */
export const failures = (isSynchronous: boolean): readonly Failing[] =>
  isSynchronous ? synchronousFailures : [...synchronousFailures, ...asynchronousFailures];

/** Collects what the process would have died of while the tests of this file run. */
export const collectUncaught = (): unknown[] => {
  const uncaught: unknown[] = [];
  const collect = (error: unknown): void => void uncaught.push(error);
  beforeAll(() => void process.on('uncaughtException', collect).on('unhandledRejection', collect));
  afterAll(() => void process.off('uncaughtException', collect).off('unhandledRejection', collect));
  return uncaught;
};

/** A longer turn has no end. */
const patienceMs = 30_000;

/** Runs a turn, answers its questions, and returns what is wrong with its end. */
export const problemWithTurn = (agent: Agent, turn: TurnInput): Promise<string | undefined> =>
  new Promise((resolve) => {
    let last: TurnEvent | undefined;
    let repairs: readonly Repair[] = [];
    const patience = setTimeout(() => resolve('the turn did not end'), patienceMs);
    const settle = (problem: string | undefined): void => {
      clearTimeout(patience);
      resolve(problem);
    };
    agent.turn(turn).subscribe({
      next: (event) => {
        last = event;
        if (event.type === 'model.request') ({ repairs } = repairHistory(event.messages));
        if (event.type === 'approval.request') {
          agent.answer(event.id, { decision: 'always', pattern: 'read *' } as never);
        }
      },
      error: () => settle('the stream of the turn failed'),
      complete: () => {
        if (last?.type !== 'turn.end') settle(`the last event is ${last?.type}`);
        else settle(repairs.length > 0 ? `the last request needs ${JSON.stringify(repairs)}` : undefined);
      },
    });
  });
