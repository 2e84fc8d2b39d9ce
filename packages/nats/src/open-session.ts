import { firstInputOf, PastTurns, RecordWriter, sessionClosed, sessionTaken, WriteQueue } from '@h/session/format';
import { foldJournal, type JournalRecord, type OpenSession, type PastTurn, type SessionSnapshot } from '@h/turn';
import { isConflict } from './errors.js';
import type { Head, StoredHead } from './head.js';
import type { SessionHeads } from './session-heads.js';
import type { EarlierTurns, LoadedSession, LogEnd, RecentSession } from './log-entries.js';
import type { SessionLogs } from './session-log.js';

interface QueuedRecord {
  readonly record: JournalRecord;
  readonly line: string;
}

/** Limits of one entry of the log. */
const maxRecords = 500;
const maxChars = 500_000;

/** A snapshot is written when the records that it replaces are larger than this, and than half of the snapshot. */
const minUnfoldedBytes = 32_768;
/** … or when the log has more entries. */
const maxEntries = 300;

/** A session that this process holds. */
export class NatsSession implements OpenSession {
  readonly snapshot: SessionSnapshot;
  readonly journal: readonly JournalRecord[];
  readonly #logs: SessionLogs;
  readonly #heads: SessionHeads;
  readonly #key: string;
  readonly #id: string;
  readonly #onClosing: (recent: RecentSession) => void;
  readonly #onClosed: () => void;
  readonly #isRecent: boolean;
  readonly #past: PastTurns;
  readonly #writer = new RecordWriter();
  readonly #queue = new WriteQueue<QueuedRecord>({
    write: (batch) => this.#write(batch),
    sizeOf: ({ line }) => line.length,
    maxSize: maxChars,
    maxItems: maxRecords,
    // An entry has records of one turn.
    startsBatch: ({ record }) => record.seq === 0,
  });
  #head: StoredHead;
  #before: SessionSnapshot;
  #latest: JournalRecord[];
  #log: LogEnd & Omit<EarlierTurns, 'snapshot' | 'past'>;
  #turnBytes: number;
  #entries = 0;
  #next: number;
  #closing: Promise<void> | undefined;

  constructor(
    logs: SessionLogs,
    heads: SessionHeads,
    { key, id, head }: { readonly key: string; readonly id: string; readonly head: StoredHead },
    loaded: LoadedSession,
    onClosing: (recent: RecentSession) => void,
    onClosed: () => void,
  ) {
    this.#logs = logs;
    this.#heads = heads;
    this.#key = key;
    this.#id = id;
    this.#head = restored(head, loaded);
    this.snapshot = loaded.snapshot;
    this.journal = loaded.journal;
    this.#before = loaded.snapshot;
    this.#latest = [...loaded.journal];
    this.#next = loaded.journal.length;
    this.#past = new PastTurns(loaded.past);
    const { lastSeq, lastId, messages, entries, latestSeq, fence, snapshotBytes, unfoldedBytes } = loaded;
    this.#log = { lastSeq, lastId, messages, entries, latestSeq, fence, snapshotBytes, unfoldedBytes };
    this.#turnBytes = loaded.turnBytes;
    this.#isRecent = loaded.isRecent;
    this.#onClosing = onClosing;
    this.#onClosed = onClosed;
  }

  pastTurn(turn: string): PastTurn | undefined {
    return this.#past.get(turn);
  }

  append(record: JournalRecord): Promise<void> {
    if (this.#closing !== undefined) return Promise.reject(sessionClosed(this.#head.session));
    if (this.#queue.failure) return Promise.reject(this.#queue.failure);
    try {
      this.#past.checkNext(record, this.#head.session, this.#next);
      const line = this.#writer.encode(record);
      this.#next = record.seq + 1;
      this.#past.add(record);
      return this.#queue.add({ record, line });
    } catch (error) {
      return Promise.reject(this.#queue.fail(error));
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #write(batch: readonly QueuedRecord[]): Promise<void> {
    try {
      await this.#writeEntry(batch);
    } catch (error) {
      throw isConflict(error) ? sessionTaken(this.#head.session) : error;
    }
  }

  async #writeEntry(batch: readonly QueuedRecord[]): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    const isStart = first.record.seq === 0;
    // Before the records: a process that dies in between leaves a turn that `unfinished()` compares with the log.
    if (isStart) await this.#beginTurn(first.record);
    const text = batch.map(({ line }) => line).join('\n');
    const end = await this.#logs.append(this.#key, 'R', text, this.#log, `${this.#id}-${(this.#entries += 1)}`);
    for (const { record } of batch) this.#latest.push(record);
    this.#turnBytes += text.length;
    // A message of another session may lie between; the sequence of the first record is at most this.
    const latestSeq = isStart ? this.#log.lastSeq + 1 : this.#log.latestSeq;
    this.#log = { ...this.#log, ...end, latestSeq };
    const last = batch.at(-1)?.record.event;
    if (last?.type === 'turn.end') {
      const latest = this.#past.get(last.turn) ?? null;
      await this.#setHead({ latest, updatedAt: last.at, bytes: this.#head.bytes + this.#turnBytes });
    }
  }

  async #beginTurn({ event }: JournalRecord): Promise<void> {
    if (this.#latest.length > 0) {
      this.#before = foldJournal(this.#before, this.#latest);
      this.#latest = [];
      this.#log = { ...this.#log, unfoldedBytes: this.#log.unfoldedBytes + this.#turnBytes };
    }
    this.#turnBytes = 0;
    const { turns, createdAt, firstInput, latest: before, session } = this.#head;
    const latest = { turn: event.turn, startedAt: event.at, outcome: undefined };
    await Promise.all([
      this.#heads.remember(event.turn, session, before?.turn),
      this.#setHead({
        latest,
        turns: turns + 1,
        updatedAt: event.at,
        createdAt: turns === 0 ? event.at : createdAt,
        firstInput: turns === 0 ? firstInputOf(event) : firstInput,
      }),
    ]);
  }

  async #setHead(changes: Partial<Head>): Promise<void> {
    const { revision, ...head } = { ...this.#head, ...changes };
    try {
      this.#head = await this.#heads.set(this.#key, head, revision);
    } catch (error) {
      if (!isConflict(error) || !(await this.#hasLostHead())) throw error;
      this.#head = await this.#heads.set(this.#key, head, 0);
    }
  }

  /**
   * Whether the server has lost the head, as nodes of a cluster can after they were killed. A process that deletes a
   * session removes its log first, and one that takes it over writes to the log.
   */
  async #hasLostHead(): Promise<boolean> {
    const head = await this.#heads.get(this.#key);
    return head === undefined && (await this.#logs.lastSeq(this.#key)) === this.#log.lastSeq;
  }

  async #close(): Promise<void> {
    await this.#queue.idle();
    try {
      if (this.#head.turns === 0) {
        await this.#logs.removeClaims(this.#key);
        await this.#heads.remove(this.#key, this.#head.revision);
        return;
      }
      if (!this.#queue.failure) await this.#keep();
      await this.#setHead({ owner: null });
    } catch (error) {
      if (isConflict(error)) return;
      this.#heads.releaseLater(this.#key);
      this.#heads.report(asError(error));
    } finally {
      this.#onClosed();
    }
  }

  /**
   * Keeps the session in memory, or writes a snapshot if it replaces enough. Without it, the log contains everything all
   * the same. A snapshot is made from what was read from the log: a session that was opened from memory is read again
   * before one is written.
   */
  async #keep(): Promise<void> {
    const { unfoldedBytes, snapshotBytes, entries } = this.#log;
    const past = this.#past.without(this.#latest[0]?.event.turn);
    const session = { ...this.#log, snapshot: this.#before, past };
    if (unfoldedBytes <= Math.max(minUnfoldedBytes, snapshotBytes / 2) && entries <= maxEntries) {
      this.#onClosing(session);
      return;
    }
    if (this.#isRecent) return;
    try {
      await this.#logs.compact(this.#key, session, this.#id);
    } catch (error) {
      if (isConflict(error)) throw error;
      this.#heads.report(asError(error));
    }
  }
}

/** Returns the head; if it was lost, the one that the log proves, because the log of a session without turns is deleted. */
const restored = (head: StoredHead, { past }: LoadedSession): StoredHead => {
  const [first, latest] = [past[0], past.at(-1)];
  if (head.turns > 0 || first === undefined || latest === undefined) return head;
  return { ...head, turns: past.length, latest, createdAt: first.startedAt, updatedAt: latest.startedAt };
};

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
