import { anyFunction, checkOptions, integerFrom, nonEmptyString, numberFrom } from '@h/options';
import type { SessionInfo } from '@h/session';
import { archivedTurn, RecentSessions, type ArchivedTurn } from '@h/session/format';
import {
  foldJournal,
  SessionBusyError,
  type Message,
  type OpenSession,
  type SessionStore,
  type UnfinishedTurn,
} from '@h/turn';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { IncompleteLogError, isConflict, msUntil, NatsError, retryEnd, retrying } from './errors.js';
import { emptyHead, type StoredHead } from './head.js';
import type { LoadedSession, RecentSession } from './log-entries.js';
import { bucketName, hashOf, newId } from './names.js';
import { NatsSession } from './open-session.js';
import { SessionHeads } from './session-heads.js';
import { SessionLogs } from './session-log.js';
import { clientOf, openBucket, openLog } from './streams.js';

/** Options of {@link natsSessions}. */
export interface NatsSessionsOptions {
  /**
   * Name of the key-value bucket, and of the stream `<bucket>_log` beside it. Both are created if they do not exist.
   *
   * @defaultValue `h_sessions`
   */
  readonly bucket?: string | undefined;
  /**
   * Copies of the data in a cluster, when the bucket is created.
   *
   * @defaultValue `1`, the default of NATS
   */
  readonly replicas?: number | undefined;
  /**
   * How long a process that does not renew its lease keeps its sessions, in milliseconds.
   *
   * @defaultValue `15_000`, the default of `@h/postgres`
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long a request is retried while the server is unavailable, in milliseconds.
   *
   * @defaultValue `30_000`, the time of a restart
   */
  readonly retryMs?: number | undefined;
  /**
   * How long a session is kept after its last turn ended, in milliseconds. `sweep()` deletes older ones. A session whose
   * turn runs or has not ended is never deleted.
   *
   * @defaultValue `Infinity`
   */
  readonly ttlMs?: number | undefined;
  /**
   * Name of this process in errors.
   *
   * @defaultValue the process id
   */
  readonly label?: string | undefined;
  /** Receives failures in the background, such as a lease that could not be renewed. */
  readonly onProblem?: ((error: Error) => void) | undefined;
}

/** A session store in NATS. */
export interface NatsSessions extends SessionStore {
  open(session: string): Promise<OpenSession>;
  locate(turn: string): Promise<string | undefined>;
  unfinished(): Promise<readonly UnfinishedTurn[]>;
  /** Lists sessions with at least one turn, most recently used first. */
  list(): Promise<readonly SessionInfo[]>;
  /** Returns the current history of a session; empty for an unknown one. Needs no claim. */
  messages(session: string): Promise<readonly Message[]>;
  /**
   * Yields the current history as turns, without a claim: all turns before the latest one together, then the latest one.
   * Messages that were replaced, as by compaction, are not part of it.
   */
  archive(session: string): AsyncIterable<ArchivedTurn>;
  /** Deletes a session. @throws SessionBusyError while it is open */
  delete(session: string): Promise<void>;
  /** Deletes the sessions that were not used for `ttlMs`, and returns their number. */
  sweep(): Promise<number>;
  /** Closes all open sessions, so that other processes can resume their turns, and ends the lease. */
  close(): Promise<void>;
}

/**
 * Stores sessions in NATS JetStream, for several processes on several machines.
 *
 * A key-value bucket has the head of each session. Writes of it are checked by revision: one process at a time holds a
 * session, as long as its lease lasts. The records are in a stream. Each is written only after the record that its
 * writer wrote last, so a process that was suspended past its lease writes nothing more.
 *
 * @throws NatsBucketError if an existing bucket would delete keys by age, number or size, or with replicas in a server
 *   before 2.10.23, which can lose them
 *
 * @example
 * ```ts
 * const sessions = await natsSessions(await connect({ servers: 'nats://localhost' }));
 * const agent = harness({ model, tools, sessions }).pipe();
 * ```
 */
export const natsSessions = async (
  connection: NatsConnection,
  options: NatsSessionsOptions = {},
): Promise<NatsSessions> => {
  checkOptions('natsSessions()', options, {
    bucket: bucketName,
    replicas: integerFrom(1),
    leaseMs: integerFrom(100),
    retryMs: integerFrom(0),
    ttlMs: numberFrom(1, Infinity),
    label: nonEmptyString,
    onProblem: anyFunction,
  });
  const { bucket = 'h_sessions', replicas = 1, leaseMs = 15_000, retryMs = 30_000, ttlMs = Infinity } = options;
  const { label = `process ${process.pid}`, onProblem } = options;
  const report = (error: Error): void => {
    try {
      onProblem?.(error);
    } catch {
      // An error of the callback has no effect.
    }
  };
  const manager = await retrying('Connecting to JetStream', retryMs, () => jetstreamManager(connection));
  const kv = await openBucket(connection, manager, bucket, replicas, retryMs);
  await openLog(connection, manager, bucket, replicas, retryMs);
  const heads = new SessionHeads(kv, clientOf(connection), manager, bucket, {
    label,
    leaseMs,
    retryMs,
    onProblem: report,
  });
  const logs = new SessionLogs(connection, manager, `${bucket}_log`, `${bucket}.log`, retryMs);
  return new StoredSessions(heads, logs, { ttlMs, retryMs });
};

class StoredSessions implements NatsSessions {
  readonly #heads: SessionHeads;
  readonly #logs: SessionLogs;
  readonly #ttlMs: number;
  readonly #retryMs: number;
  readonly #open = new Set<NatsSession>();
  readonly #recent = new RecentSessions<RecentSession>();
  #starting: Promise<void> | undefined;

  constructor(
    heads: SessionHeads,
    logs: SessionLogs,
    { ttlMs, retryMs }: { readonly ttlMs: number; readonly retryMs: number },
  ) {
    this.#heads = heads;
    this.#logs = logs;
    this.#ttlMs = ttlMs;
    this.#retryMs = retryMs;
  }

  async open(session: string): Promise<OpenSession> {
    const key = hashOf(session);
    const id = newId();
    const head = await this.#claim(session, key);
    try {
      const recent = this.#recent.take(key);
      const loaded = await this.#logs.claim(session, key, { ...head, fence: head.revision, id, recent });
      const opened: NatsSession = new NatsSession(
        this.#logs,
        this.#heads,
        { key, id, head },
        loaded,
        (closed) => this.#recent.put(key, closed, closed.snapshotBytes + closed.unfoldedBytes),
        () => this.#open.delete(opened),
      );
      this.#open.add(opened);
      return opened;
    } catch (error) {
      await this.#heads.set(key, { ...head, owner: null }, head.revision).catch(() => this.#heads.releaseLater(key));
      throw isConflict(error) ? new SessionBusyError(session) : error;
    }
  }

  async locate(turn: string): Promise<string | undefined> {
    const session = await this.#heads.sessionOf(turn);
    if (session === undefined) return undefined;
    const head = await this.#heads.get(hashOf(session));
    return head?.latest?.turn === turn ? session : undefined;
  }

  async unfinished(): Promise<readonly UnfinishedTurn[]> {
    const turns: UnfinishedTurn[] = [];
    // For all damaged sessions together, or many of them would delay the turns of others for long.
    const end = retryEnd(this.#retryMs);
    for await (const { key, ...head } of this.#heads.all()) {
      const { session, latest } = head;
      if (latest === null || latest.outcome !== undefined) continue;
      if ((await this.#heads.holderOf(key, head)) !== undefined) continue;
      const recorded = await this.#recorded(key, head, msUntil(end));
      if (recorded && recorded.outcome === undefined) {
        turns.push({ turn: recorded.turn, session, startedAt: recorded.startedAt });
      }
    }
    return turns.toSorted((a, b) => a.startedAt - b.startedAt);
  }

  async list(): Promise<readonly SessionInfo[]> {
    const infos: SessionInfo[] = [];
    for await (const { key, ...head } of this.#heads.all()) {
      const { session, createdAt, updatedAt, turns, firstInput, latest, bytes } = head;
      if (latest === null) continue;
      const isHeld = (await this.#heads.holderOf(key, head)) !== undefined;
      const state = isHeld ? 'running' : latest.outcome === undefined ? 'unfinished' : 'idle';
      infos.push({ session, createdAt, updatedAt, turns, firstInput, latestTurn: latest.turn, state, bytes });
    }
    return infos.toSorted((a, b) => b.updatedAt - a.updatedAt);
  }

  async messages(session: string): Promise<readonly Message[]> {
    const { snapshot, journal } = await this.#logs.load(hashOf(session));
    return [...foldJournal(snapshot, journal).messages];
  }

  async *archive(session: string): AsyncGenerator<ArchivedTurn> {
    const { snapshot, journal, past } = await this.#logs.load(hashOf(session));
    const latest = journal[0]?.event.turn;
    const earlier = past.filter(({ turn }) => turn !== latest);
    const messages = [...snapshot.messages];
    const last = earlier.at(-1);
    if (last && messages.length > 0) {
      const { turn, outcome } = last;
      const startedAt = earlier[0]?.startedAt ?? last.startedAt;
      yield { turn, trigger: 'user', startedAt, endedAt: last.startedAt, outcome, messages, replacements: 0 };
    }
    if (journal.length > 0) yield archivedTurn(journal);
  }

  async delete(session: string): Promise<void> {
    const key = hashOf(session);
    if ((await this.#heads.get(key)) !== undefined) await this.#delete(key, await this.#claim(session, key));
  }

  async sweep(): Promise<number> {
    await this.#heads.forgetProcesses();
    if (this.#ttlMs === Infinity) return 0;
    let count = 0;
    const now = await this.#heads.renew();
    for await (const { key, ...head } of this.#heads.all()) {
      const { latest, updatedAt, session } = head;
      const isInUse = latest === null ? head.owner !== null : latest.outcome === undefined;
      if (isInUse || now - updatedAt <= this.#ttlMs) continue;
      if ((await this.#heads.holderOf(key, head)) !== undefined) continue;
      try {
        await this.#delete(key, await this.#take({ ...head, session }, key));
        count += 1;
      } catch (error) {
        // The session has been opened since.
        if (!isConflict(error)) throw error;
      }
    }
    return count;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open, (each) => each.close()));
    await this.#starting?.catch(() => undefined);
    this.#starting = undefined;
    await this.#heads.stop();
  }

  /** Writes this process into the head of a session that no other process holds. */
  async #claim(session: string, key: string): Promise<StoredHead> {
    await this.#start();
    const head = await this.#heads.get(key);
    const owner = head && (await this.#heads.holderOf(key, head));
    if (owner !== undefined) throw new SessionBusyError(session, { owner });
    try {
      return await this.#take({ ...(head ?? emptyHead), session }, key);
    } catch (error) {
      throw isConflict(error) ? new SessionBusyError(session) : error;
    }
  }

  async #take(head: StoredHead, key: string): Promise<StoredHead> {
    await this.#start();
    return this.#heads.take(key, head);
  }

  async #start(): Promise<void> {
    this.#starting ??= this.#heads.start();
    try {
      await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  async #delete(key: string, head: StoredHead): Promise<void> {
    try {
      if (head.latest !== null) await this.#heads.forget(head.latest.turn);
      const { revision } = await this.#heads.set(key, { ...head, turns: 0, latest: null }, head.revision);
      await this.#logs.delete(key, await this.#logs.lastSeq(key), newId());
      await this.#heads.remove(key, revision);
    } catch (error) {
      this.#heads.releaseLater(key);
      throw error;
    }
  }

  /** Reads a session. One that lacks messages or is damaged must not hide the turns of others. */
  async #loadOrReport(key: string, { session }: StoredHead, retryMs: number): Promise<LoadedSession | undefined> {
    try {
      return await this.#logs.load(key, retryMs);
    } catch (error) {
      const cause = error instanceof NatsError ? error.cause : error;
      if (error instanceof NatsError && error.isRetryable && !(cause instanceof IncompleteLogError)) throw error;
      this.#heads.report(new NatsError(`Reading session ${session}`, cause));
      return undefined;
    }
  }

  /** Returns the latest turn of the log. The head of a process that died may name another one; it is corrected. */
  async #recorded(key: string, head: StoredHead, retryMs: number): Promise<StoredHead['latest'] | undefined> {
    const log = await this.#loadOrReport(key, head, retryMs);
    if (log === undefined) return undefined;
    const { past, journal } = log;
    const latest = past.findLast(({ turn }) => turn === journal[0]?.event.turn);
    if (latest === undefined || latest.turn === head.latest?.turn) return latest;
    try {
      await this.#heads.set(key, { ...head, latest }, head.revision);
      await this.#heads.remember(latest.turn, head.session, head.latest?.turn);
    } catch (error) {
      // Another process has corrected it, or has opened the session.
      if (!isConflict(error)) throw error;
    }
    return latest;
  }
}
