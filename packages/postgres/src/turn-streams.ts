import { journalEvents, type JSONValue, type TurnEvent } from '@h/turn';
import type { LiveEvents } from './live-events.js';
import { isKeptAfter } from './queue/inbox-errors.js';
import type { PostgresSessions } from './sessions/postgres-sessions.js';
import type { EventWriter } from './stream-writer.js';

interface Stream {
  readonly writer: EventWriter;
  /**
   * Events of a new turn before it holds its session; `undefined` from then on. Its message may be left to another
   * worker, which begins another turn: nothing would end the stream of this one.
   */
  early: TurnEvent[] | undefined;
  /** Replayed events that were not compared with the stored ones yet. */
  replayed: JSONValue[];
  last: Promise<void>;
  /** Whether an event could not be written. Nothing more is written then, and a worker completes the stream later. */
  isBroken: boolean;
}

/** Writes the events of turns to streams, one after the other in each turn. */
export class TurnStreams {
  readonly #live: LiveEvents | undefined;
  readonly #sessions: Pick<PostgresSessions, 'journal' | 'fenceOf'>;
  readonly #onProblem: (error: unknown) => void;
  readonly #turns = new Map<string, Stream>();
  /** Streams that were found without an end in the latest search. */
  #unended: ReadonlySet<string> = new Set();

  constructor(
    live: LiveEvents | undefined,
    sessions: Pick<PostgresSessions, 'journal' | 'fenceOf'>,
    onProblem: (error: unknown) => void,
  ) {
    this.#live = live;
    this.#sessions = sessions;
    this.#onProblem = onProblem;
  }

  add(given: TurnEvent): void {
    const { replayed: isReplayed, ...event } = given;
    const { turn, type } = event;
    // The end of a turn that was handed over is not stored: the turn continues in another process.
    if (event.type === 'turn.end' && isKeptAfter(event.error?.code)) {
      this.#turns.delete(turn);
      return;
    }
    const stream = this.#turns.get(turn) ?? this.#open(given);
    if (!stream) return;
    this.#turns.set(turn, stream);
    if (isReplayed === true) {
      stream.replayed.push(streamed(event));
      return;
    }
    const { early } = stream;
    if (early && type !== 'session.loaded' && type !== 'turn.end') {
      // A wait has an event for each change of its position.
      if (type === 'queue.waiting' && early.at(-1)?.type === type) early.pop();
      early.push(event);
      return;
    }
    stream.early = undefined;
    for (const each of [...(early ?? []), event]) this.#write(stream, each);
  }

  #write(stream: Stream, event: TurnEvent): void {
    const { turn, type } = event;
    const body = streamed(event);
    const { writer } = stream;
    const earlier = stream.replayed;
    stream.replayed = [];
    const isDelta = type === 'model.delta' || type === 'tool.progress';
    stream.last = stream.last
      .then(async () => {
        if (stream.isBroken) return;
        if (earlier.length > 0) await writer.complete(earlier, isSameEvent);
        await writer.append(body, { isDelta });
        if (event.type !== 'turn.end') return;
        await writer.dropDeltas();
        await writer.end(event.outcome === 'error' ? 'errored' : 'completed');
      })
      .catch((error: unknown) => {
        stream.isBroken = true;
        this.#onProblem(error);
      })
      .then(() => {
        if (event.type === 'turn.end') this.#turns.delete(turn);
      });
  }

  /**
   * Completes the streams of turns that have ended, and whose worker died before it had written their last events.
   * Streams are completed at the second sight, because a living worker may be about to write to them.
   */
  async completeEnded(): Promise<void> {
    const unended = await this.#live?.unended?.();
    if (!this.#live || !unended) return;
    const before = this.#unended;
    const found = unended.filter(({ stream }) => !this.#turns.has(stream));
    this.#unended = new Set(found.map(({ stream }) => stream));
    for (const { stream, fence } of found) {
      if (!before.has(stream)) continue;
      const journal = await this.#sessions.journal(stream);
      const last = journal.at(-1)?.event;
      if (last?.type !== 'turn.end') continue;
      const writer = this.#live.write(stream, { fence });
      await writer.complete(journalEvents(journal).map(streamed), isSameEvent);
      await writer.dropDeltas();
      await writer.end(last.outcome === 'error' ? 'errored' : 'completed');
    }
  }

  /** Stores what was added. Streams of turns that were handed over stay open. */
  async close(): Promise<void> {
    const streams = [...this.#turns.values()].filter(({ isBroken }) => !isBroken);
    await Promise.all(streams.map(({ last, writer }) => last.then(() => writer.flush())));
  }

  /**
   * Opens the stream of a turn. No other process writes to that of a new turn; a turn that is resumed has the fence of
   * its session, by which a worker that was suspended meanwhile is rejected.
   */
  #open(event: TurnEvent): Stream | undefined {
    if (!this.#live) return undefined;
    const fence = event.replayed === true && event.type === 'turn.start' ? this.#sessions.fenceOf(event.session) : 0;
    return {
      writer: this.#live.write(event.turn, { fence: fence ?? 0 }),
      early: event.replayed === true ? undefined : [],
      replayed: [],
      last: Promise.resolve(),
      isBroken: fence === undefined,
    };
  }
}

/**
 * An event as it is stored in a stream. Each request repeats the history, the prompt and the tools, so that a stream with
 * them would grow with the square of the steps.
 */
const streamed = (event: TurnEvent): JSONValue => {
  const repeated =
    event.type === 'session.loaded'
      ? { messages: [] }
      : event.type === 'model.request' && { messages: [], system: [], tools: [] };
  // The writer encodes it.
  return (repeated ? { ...event, ...repeated } : event) as object as JSONValue;
};

/** Compares events by the members that identify them: a replayed event may have its members in another order. */
const isSameEvent = (stored: JSONValue, given: JSONValue): boolean => identityOf(stored) === identityOf(given);

const identityOf = (event: JSONValue): string => {
  const { type, at, step, attempt, id, index, origin, key, call } = event as Record<string, JSONValue>;
  const callId = (call as { readonly id?: JSONValue } | undefined)?.id;
  return JSON.stringify([type, at, step, attempt, id, index, origin, key, callId]);
};
