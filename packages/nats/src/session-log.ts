import { encodeSnapshot } from '@h/session/format';
import { SessionBusyError, type PastTurn } from '@h/turn';
import { PubHeaders, type JetStreamClient, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { IncompleteLogError, isConflict, isMessageMissing, msUntil, retryEnd, retrying } from './errors.js';
import {
  emptySnapshot,
  fold,
  type ClaimText,
  type Entry,
  type LoadedSession,
  type LogEnd,
  type RecentSession,
  type StoredKind,
} from './log-entries.js';
import { readSubject } from './read-subject.js';
import { clientOf } from './streams.js';

type SnapshotOfLog = Pick<LoadedSession, 'snapshot' | 'past' | 'latestSeq' | keyof LogEnd>;

/** A claim of a session by a process. */
interface Claim {
  readonly fence: number;
  /** The latest turn that the head names. */
  readonly latest: PastTurn | null;
  /** Number of turns that the head counts. */
  readonly turns: number;
  /** Makes the message ids of the process unique. */
  readonly id: string;
  /** What this process has in memory of the session. */
  readonly recent: RecentSession | undefined;
}

const emptyEnd: LogEnd = { lastSeq: 0, lastId: '', messages: 0, entries: 0 };
/** Bytes of a message that are not payload: headers and protocol. */
const overheadBytes = 1_024;
/** The size of a chunk in the object stores of NATS. A slow link delivers it within the time limit of a request. */
const maxPartBytes = 128 * 1_024;
const perRequest = 200;
const messageId = 'Nats-Msg-Id';
const lastPart = '.'.charCodeAt(0);

/**
 * The logs of all sessions in one stream, one subject each.
 *
 * Every message is written with the sequence that its writer read or wrote last, so that the server rejects a writer
 * after another process has claimed the session.
 */
export class SessionLogs {
  readonly #stream: string;
  readonly #subject: string;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #connection: NatsConnection;
  readonly #retryMs: number;

  constructor(connection: NatsConnection, manager: JetStreamManager, stream: string, subject: string, retryMs: number) {
    this.#connection = connection;
    this.#stream = stream;
    this.#subject = subject;
    this.#client = clientOf(connection);
    this.#manager = manager;
    this.#retryMs = retryMs;
  }

  /**
   * Reads a session and claims it with a fence. Earlier writers are rejected from then on.
   *
   * @throws NatsError if the log lacks messages, or turns that the head says have ended
   */
  async claim(session: string, key: string, claim: Claim): Promise<LoadedSession> {
    const { fence, latest, turns, id, recent } = claim;
    const end = retryEnd(this.#retryMs);
    for (;;) {
      const loaded = await retrying('Reading a session', this.#retryMs, async () => {
        const found = await this.#load(key, recent);
        const isBehind = latest?.outcome !== undefined && !found.past.some(({ turn }) => turn === latest.turn);
        // The head counts a turn before its records are written.
        if (isBehind || (turns > 1 && found.past.length === 0)) throw new IncompleteLogError('the latest turn');
        return found;
      });
      if (loaded.fence > fence) throw new SessionBusyError(session);
      try {
        const text = JSON.stringify({ fence, isEmpty: loaded.past.length === 0 } satisfies ClaimText);
        return { ...loaded, ...(await this.append(key, 'C', text, loaded, `${id}-claim`)), fence };
      } catch (error) {
        // The previous writer was faster. What it wrote is part of the session.
        if (!isConflict(error) || msUntil(end) === 0) throw error;
      }
    }
  }

  /**
   * Adds an entry to a log, and returns its new end.
   *
   * @throws JetStreamApiError if the log has another last message
   */
  async append(key: string, kind: StoredKind, text: string, log: LogEnd, id: string): Promise<LogEnd> {
    const content = Buffer.from(text);
    // Another server of a cluster may have another limit. One that is too small rejects the message.
    const limit = (this.#connection.info?.max_payload ?? 1_048_576) - overheadBytes;
    const maxBytes = Math.max(overheadBytes, Math.min(maxPartBytes, limit));
    let { lastSeq, lastId, messages } = log;
    let [at, part] = [0, 0];
    do {
      const end = Math.min(content.byteLength, at + maxBytes);
      const more = end < content.byteLength ? '+' : '.';
      const message = Buffer.concat([Buffer.from(`${kind}${more}`), content.subarray(at, end)]);
      lastId = `${id}-${part}`;
      lastSeq = await this.#publish(key, message, lastId, lastSeq);
      messages += 1;
      at = end;
      part += 1;
    } while (at < content.byteLength);
    return { lastSeq, lastId, messages, entries: log.entries + 1 };
  }

  /**
   * Writes a message after the message `lastSeq`, and returns its sequence.
   *
   * An attempt may be stored although its answer is lost. The server recognizes the repetition by its id, unless its
   * leader has changed or its duplicate window has passed: then it reports a conflict with the stored message.
   */
  #publish(key: string, message: Uint8Array, msgID: string, lastSeq: number): Promise<number> {
    const options = { msgID, expect: { lastSubjectSequence: lastSeq }, retries: 0 };
    return retrying('Writing a session', this.#retryMs, async () => {
      try {
        return (await this.#client.publish(this.#subjectOf(key), message, options)).seq;
      } catch (error) {
        if (!isConflict(error)) throw error;
        const stored = await this.#last(key);
        if (stored?.header.get(messageId) === msgID) return stored.seq;
        throw error;
      }
    });
  }

  /** Returns the last message of a session. */
  async #last(key: string): Promise<StoredMsg | null> {
    try {
      return await this.#manager.streams.getMessage(this.#stream, { last_by_subj: this.#subjectOf(key) });
    } catch (error) {
      if (isMessageMissing(error)) return null;
      throw error;
    }
  }

  /** Writes a snapshot of the session before its latest turn, and removes what it replaces. */
  async compact(key: string, log: SnapshotOfLog, id: string): Promise<void> {
    await this.#writeSnapshot(key, log, id);
    await this.#removeBefore(key, log.latestSeq);
  }

  /**
   * Deletes a session whose last message is `lastSeq`. It is empty from the first step on, also if the process dies
   * before all messages are removed.
   *
   * @throws JetStreamApiError if the log has another last message
   */
  async delete(key: string, lastSeq: number, id: string): Promise<void> {
    const empty = { ...emptyEnd, snapshot: emptySnapshot, past: [], latestSeq: lastSeq + 1, lastSeq };
    const end = await this.#writeSnapshot(key, empty, id);
    await this.#removeBefore(key, end.lastSeq + 1);
  }

  #writeSnapshot(key: string, log: SnapshotOfLog, id: string): Promise<LogEnd> {
    const { snapshot, past, latestSeq } = log;
    const text = `${JSON.stringify({ from: latestSeq, past })}\n${encodeSnapshot(snapshot)}`;
    return this.append(key, 'S', text, log, `${id}-snapshot`);
  }

  /** Removes the messages of a session before a sequence. */
  async #removeBefore(key: string, seq: number): Promise<void> {
    await retrying('Deleting a session', this.#retryMs, () =>
      this.#manager.streams.purge(this.#stream, { filter: this.#subjectOf(key), seq }),
    );
  }

  /** Removes the claims of a session that has nothing else. */
  async removeClaims(key: string): Promise<void> {
    const { entries } = await retrying('Reading a session', this.#retryMs, async () =>
      this.#read(key, await this.#last(key)),
    );
    if (entries.some(({ kind }) => kind !== 'C')) return;
    // One by one, from the last: what is left if the process dies is a log without a gap.
    for (const { seq } of entries.toReversed()) {
      await retrying('Deleting a session', this.#retryMs, () =>
        this.#manager.streams.deleteMessage(this.#stream, seq, false),
      );
    }
  }

  /** Returns the sequence of the last message of a session; 0 if there is none. */
  async lastSeq(key: string): Promise<number> {
    const last = await retrying('Reading a session', this.#retryMs, () => this.#last(key));
    return last?.seq ?? 0;
  }

  /** Reads a session. */
  load(key: string, retryMs = this.#retryMs): Promise<LoadedSession> {
    return retrying('Reading a session', retryMs, () => this.#load(key));
  }

  /** @param recent - an earlier state, which saves reading what it contains if the log has not changed since */
  async #load(key: string, recent?: RecentSession): Promise<LoadedSession> {
    const last = await this.#last(key);
    if (recent !== undefined && last?.header.get(messageId) === recent.lastId) {
      const { lastSeq, lastId, messages, entries } = recent;
      const [later, count] = await Promise.all([this.#read(key, last, recent.latestSeq), this.#countMessages(key)]);
      if (count === messages) {
        return { ...fold(later.entries, recent), lastSeq, lastId, messages, entries, isRecent: true };
      }
    }
    const { entries, end } = await this.#read(key, last);
    return { ...fold(entries), ...end, isRecent: false };
  }

  async #countMessages(key: string): Promise<number> {
    const subject = this.#subjectOf(key);
    const { state } = await this.#manager.streams.info(this.#stream, { subjects_filter: subject });
    return state.subjects?.[subject] ?? 0;
  }

  /**
   * Reads the entries of a session from a sequence.
   *
   * @throws IncompleteLogError if the last message is not among them
   */
  async #read(key: string, last: StoredMsg | null, first = 1): Promise<{ entries: readonly Entry[]; end: LogEnd }> {
    if (last === null) return { entries: [], end: emptyEnd };
    const entries: Entry[] = [];
    let open: { kind: StoredKind; seq: number; parts: Buffer[] } | undefined;
    let [count, before] = [0, 0];
    const messages = readSubject(this.#client, this.#manager, this.#stream, this.#subjectOf(key), perRequest, first);
    for await (const { seq, data, headers } of messages) {
      if (seq > last.seq) break;
      count += 1;
      // The message before this one, as its writer knew it.
      const expected = Number(headers?.get(PubHeaders.ExpectedLastSubjectSequenceHdr) ?? 0);
      if (expected > before) entries.push({ kind: 'gap', seq: expected, text: '' });
      before = seq;
      const kind = String.fromCharCode(data[0] ?? 0) as StoredKind;
      // An entry of another kind follows one that was not completed.
      if (open?.kind !== kind) open = { kind, seq, parts: [] };
      open.parts.push(Buffer.from(data.subarray(2)));
      if (data[1] === lastPart) {
        entries.push({ kind, seq: open.seq, text: Buffer.concat(open.parts).toString() });
        open = undefined;
      }
    }
    if (before !== last.seq) throw new IncompleteLogError(`message ${last.seq}`);
    const lastId = last.header.get(messageId);
    return { entries, end: { lastSeq: last.seq, lastId, messages: count, entries: entries.length } };
  }

  #subjectOf(key: string): string {
    return `${this.#subject}.${key}`;
  }
}
