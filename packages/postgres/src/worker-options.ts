import {
  anyFunction,
  anyObject,
  arrayOf,
  checkOptions,
  integerFrom,
  numberFrom,
  objectWithMethods,
  oneOf,
  required,
  maxTimerMs,
  type OptionChecks,
} from '@h/options';
import type { InboxOptions } from '@h/queue/inbox';
import type { Agent, TurnEvent, UnfinishedTurn } from '@h/turn';
import type { ApprovalRequests } from './approval-requests.js';
import type { LiveEvents } from './live-events.js';
import type { PostgresInbox } from './queue/inbox.js';
import type { PostgresLanes } from './queue/lanes.js';
import type { PostgresSessions } from './sessions/postgres-sessions.js';

/** Options of `runWorker`. */
export interface WorkerOptions {
  /** The agent, with `queue(lanes)` first in its pipe and `sessions` as its store. */
  readonly agent: Agent;
  /** The lanes that admit the turns of all workers, from `postgresLanes()`. */
  readonly lanes: PostgresLanes;
  /** The sessions, from `postgresSessions()`. */
  readonly sessions: PostgresSessions;
  /** Creates an inbox with the same name and connection: the worker opens one, and another for each takeover. */
  readonly inbox: () => PostgresInbox;
  /** Options of the inboxes. */
  readonly inboxOptions?: Omit<InboxOptions, 'store'> | undefined;
  /**
   * How many messages the worker takes at once. Those that wait for a slot of the lanes count. Each search takes over as
   * many messages of dead workers at most.
   *
   * @defaultValue `16`, four times the default concurrency of the lanes, so that a free slot never waits for a search
   */
  readonly maxTaken?: number | undefined;
  /**
   * Interval of the search for turns and messages of dead workers, in milliseconds.
   *
   * @defaultValue `5_000`, a third of the default lease
   */
  readonly recoverEveryMs?: number | undefined;
  /**
   * How long a worker that drains waits for its turns before it hands them over, in milliseconds.
   *
   * @defaultValue `20_000`, less than the 30 s after which Kubernetes ends a process
   */
  readonly drainMs?: number | undefined;
  /**
   * The signals of the process upon which the worker drains. They are not handled after it has ended.
   *
   * @defaultValue `['SIGTERM']`
   */
  readonly signals?: readonly ('SIGTERM' | 'SIGINT')[] | undefined;
  /**
   * Decides about a turn that a dead worker has left. Turns of sub-agents are finished instead of resumed, because their
   * parents are informed: `recoveryOf: ({ session }) => (isChildSession(session) ? 'finish' : 'resume')`.
   *
   * @defaultValue all are resumed
   */
  readonly recoveryOf?: ((turn: UnfinishedTurn) => 'resume' | 'finish') | undefined;
  /** Stores requests for an approval, which any process answers: `postgresApprovalRequests()`. */
  readonly approvals?: ApprovalRequests | undefined;
  /**
   * Writes the events of each turn to the stream with the id of the turn. `session.loaded` and `model.request` are
   * written with empty lists in place of the history, the prompt and the tools, which every request repeats.
   */
  readonly live?: LiveEvents | undefined;
  /** Receives the events of the turns that this worker runs. Errors that it throws are ignored. */
  readonly onEvent?: ((event: TurnEvent) => void) | undefined;
  /** Receives errors of the search and of the streams. Errors that it throws are ignored. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

const checks: OptionChecks<WorkerOptions> = {
  agent: required(objectWithMethods('turn', 'resume', 'finish', 'running', 'unfinished', 'answer')),
  lanes: required(objectWithMethods('enter', 'run', 'shutdown', 'onLost')),
  sessions: required(objectWithMethods('open', 'unfinished', 'handOver', 'keepUnfinished', 'journal', 'fenceOf')),
  inbox: required(anyFunction),
  inboxOptions: anyObject,
  maxTaken: integerFrom(1),
  recoverEveryMs: numberFrom(10, maxTimerMs),
  drainMs: numberFrom(0, maxTimerMs),
  signals: arrayOf(oneOf('SIGTERM', 'SIGINT')),
  recoveryOf: anyFunction,
  approvals: objectWithMethods('add', 'answer', 'answersOf', 'onChange'),
  live: objectWithMethods('write'),
  onEvent: anyFunction,
  onProblem: anyFunction,
};

/** @throws InvalidOptionError */
export const checkWorkerOptions = (options: WorkerOptions): void => checkOptions('runWorker()', options, checks);
