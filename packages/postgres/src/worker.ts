import { setTimeout as delay } from 'node:timers/promises';
import { createInbox, type Inbox, type Sent } from '@h/queue/inbox';
import { SessionUnfinishedError, toErrorInfo, type SessionStore, type TurnEvent, type UnfinishedTurn } from '@h/turn';
import pTimeout from 'p-timeout';
import { monotonicMs } from './clock.js';
import type { PostgresInbox, Submission } from './queue/inbox.js';
import { isKeptAfter } from './queue/inbox-errors.js';
import type { PostgresSessions } from './sessions/postgres-sessions.js';
import { TurnApprovals } from './turn-approvals.js';
import { TurnStreams } from './turn-streams.js';
import { checkWorkerOptions, type WorkerOptions } from './worker-options.js';

export type { WorkerOptions } from './worker-options.js';

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
  checkWorkerOptions(options);
  return new RunningWorker(options);
};

/** A message that an inbox has stored. In an object, because a promise of `Sent` would resolve to its delivery. */
interface Accepted {
  readonly sent: Sent;
}

/** How long a worker that hands over waits for its turns to notice. */
const handOverMs = 5_000;

class RunningWorker implements Worker {
  readonly ended: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #streams: TurnStreams;
  readonly #approvals: TurnApprovals;
  #store: PostgresInbox;
  readonly #inboxes = new Set<Inbox>();
  readonly #resumed = new Map<string, Promise<unknown>>();
  readonly #sending = new Set<Promise<unknown>>();
  /** The messages that were sent last and are being stored, by session. */
  readonly #accepting = new Map<string, Promise<Accepted | undefined>>();
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
    this.#streams = new TurnStreams(options.live, options.sessions, (error) => this.#report(error));
    this.#approvals = new TurnApprovals(options.approvals, options.agent, (error) => this.#report(error));
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
    const { agent, lanes, inboxOptions, maxTaken = 16 } = this.#options;
    store.takeOverAtMost(maxTaken);
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
    await this.#quietly(() => this.#streams.completeEnded());
    this.#approvals.look();
    this.#wake();
  }

  /** Begins to resume all unfinished turns, and resolves when their sessions are open or could not be opened. */
  async #resumeTurns(): Promise<void> {
    const { agent } = this.#options;
    const unfinished = await agent.unfinished();
    // The lease of this process may have ended while its turns run: after a suspension, or without a connection.
    const own = new Set([...this.#resumed.keys(), ...agent.running().map(({ turn }) => turn)]);
    const found = unfinished.filter(({ turn }) => !own.has(turn));
    if (!this.#stop.signal.aborted) await Promise.all(found.map((turn) => this.#resume(turn)));
  }

  /** Resumes or finishes a turn, and resolves with its first event. Never rejects. */
  #resume(unfinished: UnfinishedTurn): Promise<void> {
    const { agent, recoveryOf = () => 'resume' } = this.#options;
    const { turn } = unfinished;
    return new Promise((onBegin) => {
      const resumed = new Promise<void>((resolve, reject) => {
        const isFinished = recoveryOf(unfinished) === 'finish';
        const events = isFinished ? agent.finish(turn, 'The process that ran this turn died.') : agent.resume(turn);
        events.subscribe({
          next: (event) => {
            onBegin();
            if (!isFinished) this.#emit(event);
          },
          error: reject,
          complete: resolve,
        });
      })
        .catch((error: unknown) => {
          // Another worker was faster, or the search for its messages has the session open: the next search finds it.
          if (!isKeptAfter(toErrorInfo(error).code)) this.#report(error);
        })
        .finally(() => {
          onBegin();
          this.#resumed.delete(turn);
          this.#recoverNow();
        });
      this.#resumed.set(turn, resumed);
    });
  }

  async #takeOver(): Promise<void> {
    if (this.#stop.signal.aborted || !(await this.#store.hasAbandoned())) return;
    const inbox = this.#openInbox(this.#options.inbox());
    await this.#recover(inbox);
    this.#retire(inbox);
  }

  /** Closes an inbox after its turns. */
  #retire(inbox: Inbox): void {
    const close = inbox.idle().then(async () => {
      this.#inboxes.delete(inbox);
      await inbox.close();
    });
    this.#track(close);
  }

  /** Begins again with another inbox, after the lease has ended and another process has taken over the messages. */
  async #replaceInbox(): Promise<void> {
    const lost = this.#inbox;
    this.#stopListening();
    this.#store = this.#options.inbox();
    this.#inbox = this.#openInbox(this.#store);
    this.#stopListening = this.#store.onSubmit(() => this.#wake());
    this.#retire(lost);
    await this.#recover(this.#inbox);
    this.#wake();
  }

  /** Delivers the messages that were left because their session was busy with a turn that was resumed. */
  #recoverNow(): void {
    this.#working = this.#working.then(async () => {
      for (const inbox of this.#inboxes) await this.#recover(inbox);
    });
  }

  /** Delivers the messages that an inbox has taken over. Never rejects. */
  async #recover(inbox: Inbox): Promise<void> {
    await this.#quietly(async () => {
      for (const { state, delivery } of await inbox.recover({ sessions: endedOnly(this.#options.sessions) })) {
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
    const store = this.#store;
    let taken: readonly Submission[];
    try {
      taken = await store.take(room);
    } catch (error) {
      if (toErrorInfo(error).code !== 'inbox-taken') throw error;
      await this.#replaceInbox();
      return;
    }
    // The worker may have begun to drain meanwhile.
    const { signal } = this.#stop;
    for (const each of taken) this.#track(signal.aborted ? this.#giveBack(store, each) : this.#deliver(each));
    if (taken.length === room) this.#wake();
  }

  /** Sends a message to the inbox. If it is not accepted, those behind it are taken again after it. Never rejects. */
  async #deliver(submission: Submission): Promise<void> {
    const { session } = submission;
    const accepting = this.#accept(submission, this.#accepting.get(session));
    this.#accepting.set(session, accepting);
    const accepted = await accepting;
    if (this.#accepting.get(session) === accepting) this.#accepting.delete(session);
    if (accepted) await accepted.sent;
    else await this.#pause();
  }

  /** Resolves when the inbox has stored the message; to nothing if the message was given back. Never rejects. */
  async #accept(
    submission: Submission,
    earlier: Promise<Accepted | undefined> | undefined,
  ): Promise<Accepted | undefined> {
    const { session, message, options } = submission;
    const [inbox, store] = [this.#inbox, this.#store];
    if (!earlier || (await earlier)) {
      try {
        const sent = inbox.send(session, message, options);
        if (await sent.accepted) return { sent };
        const delivery = await sent;
        if (delivery.status === 'failed') this.#report(delivery.error);
      } catch (error) {
        this.#report(error);
      }
    }
    await this.#giveBack(store, submission);
    return undefined;
  }

  /** Tries until it succeeds or the inbox closes, which gives the message back as well. Never rejects. */
  async #giveBack(store: PostgresInbox, submission: Submission): Promise<void> {
    do {
      try {
        await store.giveBack(submission);
        return;
      } catch (error) {
        this.#report(error);
        await this.#pause();
      }
    } while (!this.#stop.signal.aborted);
  }

  /** Resolves at the time of the next search, or when the worker drains. */
  async #pause(): Promise<void> {
    const { signal } = this.#stop;
    await delay(this.#options.recoverEveryMs ?? 5_000, undefined, { signal }).catch(() => undefined);
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
      await this.#quietly(() => sessions.handOver({ final: true }));
    }
    const close = Promise.all([
      ...Array.from(this.#inboxes, (inbox) => this.#quietly(() => inbox.close())),
      this.#quietly(() => lanes.shutdown({ reason: 'The worker has ended.' })),
    ]);
    await within(close, handOverMs);
    await this.#quietly(() => this.#streams.close());
    await this.#approvals.close();
    this.#stopWatching();
    for (const signal of signals) process.off(signal, this.#onSignal);
  }

  #emit(event: TurnEvent): void {
    this.#streams.add(event);
    this.#approvals.see(event);
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

/** Sessions whose latest turn has ended. An inbox would end an unfinished one, which a worker resumes instead. */
const endedOnly = (sessions: PostgresSessions): SessionStore => ({
  open: async (session) => {
    const open = await sessions.open(session);
    const last = open.journal.at(-1)?.event;
    if (last === undefined || last.type === 'turn.end') return open;
    await open.close();
    throw new SessionUnfinishedError(session, last.turn);
  },
  locate: (turn) => sessions.locate(turn),
  unfinished: () => sessions.unfinished(),
});

/** Returns whether work ends within a time. */
const within = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  pTimeout(
    work.then(() => true),
    { milliseconds: Math.max(1, ms), fallback: () => false },
  );
