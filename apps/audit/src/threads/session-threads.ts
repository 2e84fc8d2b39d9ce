import { Worker } from 'node:worker_threads';
import type { Analyst } from '../analysis/analyst.js';
import type { Reply, Request } from './serve-sessions.js';

/** Requests that wait for one thread: enough to keep it busy while a file is read, and bounded in memory. */
const maxWaiting = 4;

/** Threads that analyze sessions. A session stays in one thread, and different ones run at the same time. */
export class SessionThreads {
  readonly #threads: readonly Thread[];
  #sessions = 0;

  /** @param program - a module that calls `serveSessions` in a thread */
  constructor(program: URL, count: number) {
    this.#threads = Array.from({ length: count }, () => new Thread(program));
  }

  /** Opens a session in the thread with the least work. */
  open(): Analyst {
    const [thread] = this.#threads.toSorted((one, other) => one.waiting - other.waiting);
    if (thread === undefined) throw new RangeError('There is no thread.');
    const session = (this.#sessions += 1);
    return {
      take: async (records) => {
        await thread.hasRoom();
        // A thread that fails also rejects the last request of the session.
        thread.send({ session, records }).catch(() => undefined);
      },
      end: async (file) => {
        await thread.hasRoom();
        const reply = await thread.send({ session, records: [], file });
        if ('error' in reply) throw new Error(reply.error);
        if (reply.report === undefined) throw new Error('The thread has not sent the report.');
        return reply.report;
      },
    };
  }

  /** Ends the threads. Sessions that are not finished are rejected. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class Thread {
  readonly #worker: Worker;
  /** Requests without a reply, the oldest first. */
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;

  constructor(program: URL) {
    this.#worker = new Worker(program);
    this.#worker.on('message', (reply: Reply) => this.#waiting.shift()?.resolve(reply));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', (code) => this.#fail(new Error(`The thread of the analysis ended with code ${code}.`)));
  }

  get waiting(): number {
    return this.#failure === undefined ? this.#waiting.length : Infinity;
  }

  /** Resolves when few requests wait. */
  async hasRoom(): Promise<void> {
    while (this.#waiting.length >= maxWaiting) await this.#waiting[0]?.reply.catch(() => undefined);
  }

  send(request: Request): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const waiting = waitingForReply();
    this.#waiting.push(waiting);
    this.#worker.postMessage(request, []);
    return waiting.reply;
  }

  async close(): Promise<void> {
    this.#fail(new Error('The analysis was stopped.'));
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

interface Waiting {
  readonly reply: Promise<Reply>;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

const waitingForReply = (): Waiting => {
  let resolve: Waiting['resolve'] = () => undefined;
  let reject: Waiting['reject'] = () => undefined;
  const reply = new Promise<Reply>((onReply, onError) => {
    resolve = onReply;
    reject = onError;
  });
  return { reply, resolve, reject };
};
