import { decodeSnapshot, encodeSnapshot, RecordReader } from '@h/session/format';
import {
  foldJournal,
  MessageList,
  SessionBusyError,
  type JournalRecord,
  type PastTurn,
  type SessionSnapshot,
} from '@h/turn';
import { jetstream, type JetStreamClient, type JetStreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { isConflict, isMessageMissing, NatsError, retrying } from './errors.js';
import { readSubject } from './read-subject.js';

/** Claims, records and snapshots are entries of the log. A large entry has several messages. */
type EntryKind = 'C' | 'R' | 'S';

interface Entry {
  readonly kind: EntryKind;
  /** Sequence of its first message in the stream. */
  readonly seq: number;
  readonly text: string;
}

/** A session as read from its log. */
export interface LoadedSession {
  /** The session before its latest turn. */
  readonly snapshot: SessionSnapshot;
  readonly journal: readonly JournalRecord[];
  /** Turns before the latest one that the snapshot remembers, and those of the log. */
  readonly past: readonly PastTurn[];
  /** Sequence of the first record of the latest turn. */
  readonly latestSeq: number;
  readonly lastSeq: number;
  /** The highest fence of all claims. */
  readonly fence: number;
  readonly snapshotBytes: number;
  /** Bytes and messages that a new snapshot would replace. */
  readonly unfoldedBytes: number;
  readonly messages: number;
}

/** A claim of a session by a process. */
interface Claim {
  readonly fence: number;
  readonly turns: number;
  /** Makes the message ids of the process unique. */
  readonly id: string;
}

/** Bytes of a message that are not payload: headers and protocol. */
const overheadBytes = 1_024;
const requestTimeoutMs = 3_000;
const perRequest = 200;
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
  readonly #maxBytes: number;
  readonly #retryMs: number;

  constructor(connection: NatsConnection, manager: JetStreamManager, stream: string, subject: string, retryMs: number) {
    this.#stream = stream;
    this.#subject = subject;
    this.#client = jetstream(connection, { timeout: requestTimeoutMs });
    this.#manager = manager;
    this.#maxBytes = (connection.info?.max_payload ?? 1_048_576) - overheadBytes;
    this.#retryMs = retryMs;
  }

  /**
   * Reads a session and claims it with a fence. Earlier writers are rejected from then on.
   *
   * @param turns number of turns that the head of the session names
   * @throws NatsError if there are such turns and the log is empty, as it can be on a node that has just restarted
   */
  async claim(session: string, key: string, { fence, turns, id }: Claim): Promise<LoadedSession> {
    for (;;) {
      const loaded = await this.load(key);
      if (turns > 0 && loaded.past.length === 0) {
        throw new NatsError('Reading a session', new Error(`its log has none of its ${turns} turns`));
      }
      if (loaded.fence > fence) throw new SessionBusyError(session);
      try {
        const lastSeq = await this.append(key, 'C', JSON.stringify({ fence }), loaded.lastSeq, `${id}-claim`);
        return { ...loaded, lastSeq, fence };
      } catch (error) {
        // The previous writer was faster. What it wrote is part of the session.
        if (!isConflict(error)) throw error;
      }
    }
  }

  /**
   * Adds an entry after the message `lastSeq`, and returns the sequence of its last message.
   *
   * @throws JetStreamApiError if the log has another last message
   */
  async append(key: string, kind: EntryKind, text: string, lastSeq: number, id: string): Promise<number> {
    const content = Buffer.from(text);
    let [at, part, seq] = [0, 0, lastSeq];
    do {
      const end = Math.min(content.byteLength, at + this.#maxBytes);
      const more = end < content.byteLength ? '+' : '.';
      const message = Buffer.concat([Buffer.from(`${kind}${more}`), content.subarray(at, end)]);
      seq = await this.#publish(key, message, `${id}-${part}`, seq);
      at = end;
      part += 1;
    } while (at < content.byteLength);
    return seq;
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
        if (stored?.header.get('Nats-Msg-Id') === msgID) return stored.seq;
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
  async compact(
    key: string,
    { snapshot, past, latestSeq, lastSeq }: Pick<LoadedSession, 'snapshot' | 'past' | 'latestSeq' | 'lastSeq'>,
    id: string,
  ): Promise<number> {
    const text = `${JSON.stringify({ from: latestSeq, past })}\n${encodeSnapshot(snapshot)}`;
    const seq = await this.append(key, 'S', text, lastSeq, `${id}-snapshot`);
    await this.remove(key, latestSeq - 1);
    return seq;
  }

  /** Removes the messages of a session up to a sequence. */
  async remove(key: string, lastSeq: number): Promise<void> {
    await retrying('Deleting a session', this.#retryMs, () =>
      this.#manager.streams.purge(this.#stream, { filter: this.#subjectOf(key), seq: lastSeq + 1 }),
    );
  }

  /** Removes the claims of a session that has nothing else. */
  async removeClaims(key: string): Promise<void> {
    const { entries } = await retrying('Reading a session', this.#retryMs, () => this.#read(key));
    if (entries.some(({ kind }) => kind !== 'C')) return;
    // One by one: a node that has just restarted may not have returned all messages.
    for (const { seq } of entries) {
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
  load(key: string): Promise<LoadedSession> {
    return retrying('Reading a session', this.#retryMs, async () => {
      const { entries, lastSeq, messages } = await this.#read(key);
      return { ...fold(entries), lastSeq, messages };
    });
  }

  async #read(key: string): Promise<{ entries: readonly Entry[]; lastSeq: number; messages: number }> {
    const subject = this.#subjectOf(key);
    const last = await this.#last(key);
    if (last === null) return { entries: [], lastSeq: 0, messages: 0 };
    const entries: Entry[] = [];
    let open: { kind: EntryKind; seq: number; parts: Buffer[] } | undefined;
    let messages = 0;
    for await (const { seq, data } of readSubject(this.#client, this.#manager, this.#stream, subject, perRequest)) {
      if (seq > last.seq) break;
      messages += 1;
      const kind = String.fromCharCode(data[0] ?? 0) as EntryKind;
      // An entry of another kind follows one that was not completed.
      if (open?.kind !== kind) open = { kind, seq, parts: [] };
      open.parts.push(Buffer.from(data.subarray(2)));
      if (data[1] === lastPart) {
        entries.push({ kind, seq: open.seq, text: Buffer.concat(open.parts).toString() });
        open = undefined;
      }
    }
    return { entries, lastSeq: last.seq, messages };
  }

  #subjectOf(key: string): string {
    return `${this.#subject}.${key}`;
  }
}

const fold = (entries: readonly Entry[]): Omit<LoadedSession, 'lastSeq' | 'messages'> => {
  const latest = entries.findLast(({ kind }) => kind === 'S');
  const [header = '', body = ''] = latest === undefined ? [] : splitOnce(latest.text);
  const { from, past } =
    latest === undefined ? { from: 0, past: [] } : (JSON.parse(header) as { from: number; past: readonly PastTurn[] });
  let snapshot: SessionSnapshot = body === '' ? { messages: MessageList.empty, state: {} } : decodeSnapshot(body);
  let journal: JournalRecord[] = [];
  let [fence, latestSeq, unfoldedBytes, journalBytes] = [0, 0, 0, 0];
  const turns: JournalRecord[] = [];
  const reader = new RecordReader();
  for (const { kind, seq, text } of entries) {
    if (kind === 'C') fence = Math.max(fence, (JSON.parse(text) as { fence: number }).fence);
    if (kind !== 'R' || seq < from) continue;
    for (const line of text.split('\n')) {
      const record = reader.decode(line);
      if (record.seq === 0) {
        snapshot = foldJournal(snapshot, journal);
        unfoldedBytes += journalBytes;
        [journal, journalBytes, latestSeq] = [[], 0, seq];
      }
      if (record.seq === 0 || record.event.type === 'turn.end') turns.push(record);
      journal.push(record);
      journalBytes += line.length;
    }
  }
  return {
    snapshot,
    journal,
    past: addTurns(past, turns),
    latestSeq,
    fence,
    snapshotBytes: body.length,
    unfoldedBytes,
  };
};

const addTurns = (past: readonly PastTurn[], records: readonly JournalRecord[]): readonly PastTurn[] => {
  const turns = new Map(past.map((each) => [each.turn, each]));
  for (const { seq, event } of records) {
    const { turn, at } = event;
    if (seq === 0) turns.set(turn, { turn, startedAt: at, outcome: undefined });
    const begun = turns.get(turn);
    if (event.type === 'turn.end' && begun !== undefined) turns.set(turn, { ...begun, outcome: event.outcome });
  }
  return [...turns.values()];
};

const splitOnce = (text: string): readonly [string, string] => {
  const at = text.indexOf('\n');
  return [text.slice(0, at), text.slice(at + 1)];
};
