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
  type OptionChecks,
} from '@h/options';
import { createInbox, type Inbox, type InboxOptions } from '@h/queue/inbox';
import { recoverTurns } from '@h/session';
import type { Agent, JSONValue, TurnEvent } from '@h/turn';
import { monotonicMs } from './clock.js';
import type { EventWriter, LiveEvents } from './live-events.js';
import { isKeptAfter, type PostgresInbox, type Submission } from './queue/inbox.js';
import type { PostgresLanes } from './queue/lanes.js';
import type { PostgresSessions } from './sessions/postgres-sessions.js';

/** Options of {@link runWorker}. */
export interface WorkerOptions {
  /** The agent, with `queue(lanes)` first in its pipe and `sessions` as its store. */
  readonly agent: Agent;
  readonly lanes: PostgresLanes;
  readonly sessions: PostgresSessions;
  /** Creates an inbox with the same name and connection: the worker opens one, and another for each takeover. */
  readonly inbox: () => PostgresInbox;
  /** Options of the inboxes. */
  readonly inboxOptions?: Omit<InboxOptions, 'store'> | undefined;
  /**
   * How many messages the worker takes at once. Those that wait for a slot of the lanes count.
   *
   * @defaultValue `16`
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
  /** Writes the events of each turn to the stream with the id of the turn. */
  readonly live?: LiveEvents | undefined;
  /** Receives the events of the turns that this worker runs. Errors that it throws are ignored. */
  readonly onEvent?: ((event: TurnEvent) => void) | undefined;
  /** Receives errors of the search and of the streams. Errors that it throws are ignored. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/** A worker. */
export interface Worker {
  /**
   * Takes no more messages, and resolves when all turns have ended. Turns that run longer than `drainMs` are handed
   * over: they write nothing more here, and another worker resumes them.
   */
  drain(): Promise<void>;
  /** Resolves when the worker has ended. */
  readonly ended: Promise<void>;
}

const checks: OptionChecks<WorkerOptions> = {
  agent: required(objectWithMethods('turn', 'resume', 'unfinished')),
  lanes: required(objectWithMethods('enter', 'run', 'shutdown', 'onLost')),
  sessions: required(objectWithMethods('open', 'unfinished', 'handOver', 'keepUnfinished', 'journal')),
  inbox: required(anyFunction),
  inboxOptions: anyObject,
  maxTaken: integerFrom(1),
  recoverEveryMs: numberFrom(10, 2_147_483_647),
  drainMs: numberFrom(0, 2_147_483_647),
  signals: arrayOf(oneOf('SIGTERM', 'SIGINT')),
  live: objectWithMethods('write'),
  onEvent: anyFunction,
  onProblem: anyFunction,
};

/**
 * Runs the turns of submitted messages in this process, and resumes what dead workers have left.
 *
 * Any process submits messages with `postgresInbox(database).submit()`. The worker that runs the session receives them,
 * or any worker with room. Call `close()` of the connection after the worker has ended.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const worker = runWorker({ agent, lanes, sessions, inbox: () => postgresInbox(database) });
 * await worker.ended; // after SIGTERM
 * await database.close();
 * ```
 */
export const runWorker = (options: WorkerOptions): Worker => {
  checkOptions('runWorker()', options, checks);
  return new RunningWorker(options);
};

/** How long a worker that hands over waits for its turns to notice. */
const handOverMs = 5_000;

class RunningWorker implements Worker {
  readonly ended: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #streams: Streams;
  readonly #store: PostgresInbox;
  readonly #inboxes = new Set<Inbox>();
  readonly #resumed = new Map<string, Promise<unknown>>();
  readonly #sending = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  #inbox: Inbox;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #working: Promise<void> = Promise.resolve();
  #isDue = false;
  #stopListening: () => void;
  readonly #stopWatching: () => void;
  #draining: Promise<void> | undefined;
  #end: () => void = () => undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#streams = new Streams(options.live, (error) => this.#report(error));
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#store = options.inbox();
    this.#inbox = this.#openInbox(this.#store);
    this.#stopListening = this.#store.onSubmit(() => this.#wake());
    for (const signal of options.signals ?? ['SIGTERM']) process.once(signal, this.#onSignal);
    this.#stopWatching = options.lanes.onLost(() => void this.#quietly(() => options.sessions.handOver()));
    options.sessions.keepUnfinished();
    this.#working = this.#start();
  }

  drain(): Promise<void> {
    this.#draining ??= this.#drain().finally(this.#end);
    return this.#draining;
  }

  readonly #onSignal = (): void => {
    void this.drain();
  };

  #openInbox(store: PostgresInbox): Inbox {
    const { agent, lanes, inboxOptions } = this.#options;
    const inbox = createInbox(agent, lanes, { ...inboxOptions, store });
    this.#inboxes.add(inbox);
    inbox.events.subscribe((event) => this.#emit(event));
    return inbox;
  }

  /** Never rejects. */
  async #start(): Promise<void> {
    await this.#quietly(() => this.#resumeTurns());
    await this.#recover(this.#inbox);
    this.#schedule();
    this.#wake();
  }

  #schedule(): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#working = this.#working.then(() => this.#search()).then(() => this.#schedule());
    }, this.#options.recoverEveryMs ?? 5_000);
  }

  /** Resumes turns and takes over messages of dead workers. Never rejects. */
  async #search(): Promise<void> {
    await this.#quietly(() => this.#resumeTurns());
    // A message whose session was busy is tried again.
    for (const inbox of this.#inboxes) await this.#recover(inbox);
    await this.#quietly(() => this.#takeOver());
    await this.#quietly(() => this.#streams.completeEnded(this.#options.sessions));
    this.#wake();
  }

  /** Begins to resume all unfinished turns, and resolves when their sessions are open or could not be opened. */
  async #resumeTurns(): Promise<void> {
    const begun: Promise<void>[] = [];
    const onBegin = new Map<string, () => void>();
    const found = (await this.#options.agent.unfinished()).filter(({ turn }) => !this.#resumed.has(turn));
    for (const { turn } of found) begun.push(new Promise((resolve) => void onBegin.set(turn, resolve)));
    if (found.length === 0 || this.#stop.signal.aborted) return;
    const resuming = recoverTurns(this.#options.agent, {
      policy: 'ask',
      ask: ({ turn }) => (onBegin.has(turn) ? 'resume' : 'leave'),
      // The lanes limit the number of turns at work; those that wait must hold their sessions.
      concurrency: found.length,
      onEvent: (event) => {
        onBegin.get(event.turn)?.();
        this.#emit(event);
      },
    })
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        for (const { turn } of found) {
          onBegin.get(turn)?.();
          this.#resumed.delete(turn);
        }
      });
    for (const { turn } of found) this.#resumed.set(turn, resuming);
    await Promise.race([Promise.all(begun), resuming]);
  }

  async #takeOver(): Promise<void> {
    if (this.#stop.signal.aborted || !(await this.#store.hasAbandoned())) return;
    const inbox = this.#openInbox(this.#options.inbox());
    await this.#recover(inbox);
    const close = inbox.idle().then(async () => {
      this.#inboxes.delete(inbox);
      await inbox.close();
    });
    this.#track(close);
  }

  /** Delivers the messages that an inbox has taken over. Never rejects. */
  async #recover(inbox: Inbox): Promise<void> {
    await this.#quietly(async () => {
      for (const { state, delivery } of await inbox.recover({ sessions: this.#options.sessions })) {
        if (state === 'waiting') this.#track(delivery);
      }
    });
  }

  /** Takes messages now, or again after those that are being taken. */
  #wake(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#working = this.#working.then(async () => {
      this.#isDue = false;
      await this.#quietly(() => this.#take());
    });
  }

  async #take(): Promise<void> {
    const room = (this.#options.maxTaken ?? 16) - this.#sending.size;
    if (room <= 0 || this.#stop.signal.aborted) return;
    const taken = await this.#store.take(room);
    for (const submission of taken) this.#track(this.#deliver(submission));
    if (taken.length === room) this.#wake();
  }

  async #deliver(submission: Submission): Promise<void> {
    const { session, message, options } = submission;
    const sent = this.#inbox.send(session, message, options);
    if (!(await sent.accepted)) await this.#quietly(() => this.#store.giveBack(submission));
    await sent;
  }

  #track(work: Promise<unknown>): void {
    const tracked = work
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#sending.delete(tracked);
        this.#wake();
      });
    this.#sending.add(tracked);
  }

  async #drain(): Promise<void> {
    const { lanes, sessions, drainMs = 20_000, signals = ['SIGTERM'] } = this.#options;
    const until = monotonicMs() + drainMs;
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#stopListening();
    const work = async (): Promise<void> => {
      await this.#working;
      await Promise.all([...this.#sending, ...this.#resumed.values()]);
      await Promise.all(Array.from(this.#inboxes, (inbox) => inbox.idle()));
    };
    if (!(await within(work(), until - monotonicMs()))) {
      // Nothing is written from here on, so that the journals end where another worker resumes them.
      await this.#quietly(() => sessions.handOver());
    }
    const close = Promise.all([
      ...Array.from(this.#inboxes, (inbox) => this.#quietly(() => inbox.close())),
      this.#quietly(() => lanes.shutdown({ reason: 'The worker has ended.' })),
    ]);
    await within(close, handOverMs);
    await this.#quietly(() => this.#streams.close());
    this.#stopWatching();
    for (const signal of signals) process.off(signal, this.#onSignal);
  }

  #emit(event: TurnEvent): void {
    this.#streams.add(event);
    if (event.replayed === true) return;
    try {
      this.#options.onEvent?.(event);
    } catch {
      // An error of the callback has no effect.
    }
  }

  #report(error: unknown): void {
    try {
      this.#options.onProblem?.(error);
    } catch {
      // An error of the callback has no effect.
    }
  }

  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#report(error);
    }
  }
}

/** Returns whether work ends within a time. */
const within = async (work: Promise<unknown>, ms: number): Promise<boolean> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  try {
    return await Promise.race([work.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
};

/** Writes the events of turns to streams, one after the other in each turn. */
class Streams {
  readonly #live: LiveEvents | undefined;
  readonly #onProblem: (error: unknown) => void;
  readonly #turns = new Map<string, { readonly writer: EventWriter; replayed: JSONValue[]; last: Promise<void> }>();

  /** Streams that were found without an end in the latest search. */
  #unended: ReadonlySet<string> = new Set();

  constructor(live: LiveEvents | undefined, onProblem: (error: unknown) => void) {
    this.#live = live;
    this.#onProblem = onProblem;
  }

  add({ replayed: isReplayed, ...event }: TurnEvent): void {
    if (!this.#live) return;
    // The end of a turn that was handed over is not stored: the turn continues in another process.
    if (event.type === 'turn.end' && isKeptAfter(event.error?.code)) {
      this.#turns.delete(event.turn);
      return;
    }
    const { turn, type } = event;
    const stream = this.#turns.get(turn) ?? { writer: this.#live.write(turn), replayed: [], last: Promise.resolve() };
    this.#turns.set(turn, stream);
    const { writer } = stream;
    const body = JSON.parse(JSON.stringify(event)) as JSONValue;
    if (isReplayed === true) {
      stream.replayed.push(body);
      return;
    }
    const earlier = stream.replayed;
    stream.replayed = [];
    const isDelta = type === 'model.delta' || type === 'tool.progress';
    stream.last = stream.last
      .then(async () => {
        if (earlier.length > 0) await writer.complete(earlier, isSameEvent);
        await writer.append(body, { isDelta });
        if (event.type !== 'turn.end') return;
        await writer.dropDeltas();
        await writer.end(event.outcome === 'error' ? 'errored' : 'completed');
        this.#turns.delete(turn);
      })
      .catch(this.#onProblem);
  }

  /**
   * Completes the streams of turns that have ended, and whose worker died before it had written their last events.
   * Streams are completed at the second sight, because a living worker may be about to write to them.
   */
  async completeEnded(sessions: Pick<PostgresSessions, 'journal'>): Promise<void> {
    const unended = await this.#live?.unended?.();
    if (!this.#live || !unended) return;
    const before = this.#unended;
    this.#unended = new Set(unended.filter((turn) => !this.#turns.has(turn)));
    for (const turn of this.#unended) {
      if (!before.has(turn)) continue;
      const journal = await sessions.journal(turn);
      const last = journal.at(-1)?.event;
      if (last?.type !== 'turn.end') continue;
      const writer = this.#live.write(turn);
      const events = journal.map(({ event }) => JSON.parse(JSON.stringify(event)) as JSONValue);
      await writer.complete(events, isSameEvent);
      await writer.dropDeltas();
      await writer.end(last.outcome === 'error' ? 'errored' : 'completed');
    }
  }

  /** Stores what was added. Streams of turns that were handed over stay open. */
  async close(): Promise<void> {
    const streams = [...this.#turns.values()];
    await Promise.all(streams.map(({ last, writer }) => last.then(() => writer.flush())));
  }
}

/** Compares events by the members that identify them: a replayed event may have its members in another order. */
const isSameEvent = (stored: JSONValue, given: JSONValue): boolean => identityOf(stored) === identityOf(given);

const identityOf = (event: JSONValue): string => {
  const { type, at, step, attempt, id, index, origin, key, call } = event as Record<string, JSONValue>;
  const callId = (call as { readonly id?: JSONValue } | undefined)?.id;
  return JSON.stringify([type, at, step, attempt, id, index, origin, key, callId]);
};
