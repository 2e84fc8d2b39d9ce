import type { SessionInfo } from '@h/session';
import { archivedTurn, RecentSessions, RecordReader, sessionClosed, type ArchivedTurn } from '@h/session/format';
import {
  foldJournal,
  SessionBusyError,
  type JournalRecord,
  type MaybePromise,
  type Message,
  type OpenOptions,
  type OpenSession,
  type SessionStore,
  type UnfinishedTurn,
} from '@h/turn';
import { anyBoolean, anyFunction, checkOptions, checkValue, instanceOf, integerFrom } from '@h/options';
import { isAlive } from '../holders.js';
import { decodeName, keyOf } from '../keys.js';
import { Postgres } from '../postgres.js';
import { createOpening } from './openings.js';
import { loadSession, loadTurns, type RecentSession } from './load.js';
import { SessionClaims, type Claim } from './claims.js';
import { PostgresSession } from './open-session.js';

/** Options of {@link postgresSessions}. */
export interface PostgresSessionsOptions {
  /**
   * Called when a session was opened in order to resume its turn, before the turn continues. No other process has the
   * session then, so this is the time to take over what belongs to the turn, such as its sub-agents. If it fails, the
   * turn stays unfinished.
   */
  readonly onUnfinished?:
    | ((turn: { readonly session: string; readonly turn: string }) => MaybePromise<void>)
    | undefined;
}

/** Which sessions {@link PostgresSessions.list} returns. */
export interface ListOptions {
  /** @defaultValue `1000` */
  readonly limit?: number | undefined;
  /** How many of the most recently used sessions are skipped. @defaultValue `0` */
  readonly offset?: number | undefined;
}

/** Options of {@link PostgresSessions.handOver}. */
export interface HandOverOptions {
  /**
   * Whether this process opens no session afterwards: `open()` fails with `session-closed`. For a process that ends, whose
   * waiting turns would begin when those before them have been handed over.
   *
   * @defaultValue `false`
   */
  readonly final?: boolean | undefined;
}

/** A session store in PostgreSQL. */
export interface PostgresSessions extends SessionStore {
  open(session: string, options?: OpenOptions): Promise<OpenSession>;
  locate(turn: string): Promise<string | undefined>;
  unfinished(): Promise<readonly UnfinishedTurn[]>;
  /** Lists sessions with at least one turn, most recently used first. */
  list(options?: ListOptions): Promise<readonly SessionInfo[]>;
  /** Returns the current history of a session; empty for an unknown one. Needs no claim. */
  messages(session: string): Promise<readonly Message[]>;
  /** Yields every turn of a session from the first, including what compaction has replaced since. */
  archive(session: string): AsyncIterable<ArchivedTurn>;
  /** Returns the records of a turn, also of an earlier one; empty for an unknown turn. Needs no claim. */
  journal(turn: string): Promise<readonly JournalRecord[]>;
  /**
   * Closes all open sessions, so that other processes can resume their turns. The turns here write nothing more; their
   * work may still be under way.
   */
  handOver(options?: HandOverOptions): Promise<void>;
  /**
   * From now on, a turn cannot begin in a session whose latest turn has not ended: it fails with `session-unfinished`
   * until that turn was resumed. `runWorker()` calls it, because another worker may be about to resume that turn.
   * Without it, a new turn ends the unfinished one.
   */
  keepUnfinished(): void;
  /**
   * Returns the fence of a session that this process has open, for stores that reject earlier writers. Each claim of a
   * session has a larger one.
   */
  fenceOf(session: string): number | undefined;
  /** Deletes a session with all its rows. @throws SessionBusyError while it is open */
  delete(session: string): Promise<void>;
}

/** Returns the id of the latest turn if it has not ended. */
const unfinishedIn = (journal: readonly JournalRecord[]): string | undefined => {
  const last = journal.at(-1)?.event;
  return last === undefined || last.type === 'turn.end' ? undefined : last.turn;
};

/** How many earlier turns of a session are known by their ids. */
const maxPastTurns = 1000;

/**
 * Stores sessions in PostgreSQL, for several processes on several machines.
 *
 * One process at a time holds a session, as long as its lease lasts. Each claim increases the fence of the session, and
 * a record is written only while the fence is that of its writer: a process that was suspended past its lease writes
 * nothing more. A confirmed record is committed. Records that arrive during a round trip are written together.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const database = connectPostgres({ connectionString });
 * const agent = harness({ model, tools, sessions: postgresSessions(database) }).pipe();
 * ```
 */
export const postgresSessions = (database: Postgres, options: PostgresSessionsOptions = {}): PostgresSessions => {
  checkValue('postgresSessions()', 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  checkOptions('postgresSessions()', options, { onUnfinished: anyFunction });
  const claims = SessionClaims.of(database);
  const opening = createOpening(database.settings.retryMs);
  const recent = new RecentSessions<RecentSession>();
  /** Returns the state in memory, unless another claim followed the one that left it. */
  const recall = (session: string, { id, fence }: Claim): RecentSession | undefined => {
    const latest = recent.take(session);
    return latest?.id === id && latest.fence + 1 === Number(fence) ? latest : undefined;
  };
  const claimAndLoad = async (session: string) => {
    const claim = await claims.claim(session);
    try {
      const [loaded, past] = await Promise.all([
        loadSession(database, claim.id, recall(session, claim)),
        loadTurns(database, claim.id, maxPastTurns),
      ]);
      return { claim, loaded, past };
    } catch (error) {
      await claims.release(claim);
      throw error;
    }
  };
  const open = new Set<PostgresSession>();
  const state = { handOvers: 0, isOver: false, keepsUnfinished: false };
  const handOver = async ({ final = false }: HandOverOptions = {}): Promise<void> => {
    state.handOvers += 1;
    state.isOver ||= final;
    await Promise.all(Array.from(open, (each) => each.close()));
  };
  database.onClose(() => handOver());
  return {
    open: async (session, { resume } = {}) => {
      if (state.isOver) throw sessionClosed(session);
      const { handOvers } = state;
      const { claim, loaded, past } = await opening(() => {
        // A hand-over does not wait for sessions that wait to be opened.
        if (handOvers !== state.handOvers) throw sessionClosed(session);
        return claimAndLoad(session);
      });
      try {
        const opened = new PostgresSession(
          database,
          claim,
          loaded,
          past,
          (stored) => recent.put(session, stored, stored.snapshotBytes + stored.unfoldedBytes),
          () => open.delete(opened),
        );
        const latest = unfinishedIn(loaded.journal);
        if (latest !== undefined && latest === resume) await options.onUnfinished?.({ session, turn: latest });
        opened.mustResume = state.keepsUnfinished;
        // A session that was being opened is handed over too. Its turn may have been stopped since.
        if (handOvers !== state.handOvers) throw sessionClosed(session);
        open.add(opened);
        return opened;
      } catch (error) {
        await claims.release(claim);
        throw error;
      }
    },
    locate: async (turn) => {
      const [found] = await database.query<{ name: string }>(
        `select name from ${database.name('session')} where latest_key = $1 order by id limit 1`,
        [keyOf(turn)],
      );
      return found && decodeName(found.name);
    },
    unfinished: () => unfinishedTurns(database),
    list: (listOptions = {}) => listSessions(database, listOptions),
    messages: async (session) => {
      const id = await idOf(database, session);
      if (id === undefined) return [];
      const { snapshot, journal } = await loadSession(database, id);
      return [...foldJournal(snapshot, journal).messages];
    },
    archive: (session) => readArchive(database, session),
    journal: (turn) => readJournal(database, turn),
    handOver: (handOverOptions = {}) => {
      checkOptions('handOver()', handOverOptions, { final: anyBoolean });
      return handOver(handOverOptions);
    },
    keepUnfinished: () => {
      state.keepsUnfinished = true;
    },
    // The latest claim is the last of the set.
    fenceOf: (session) => [...open].findLast((each) => each.session === session)?.fence,
    delete: (session) => deleteSession(database, session),
  };
};

const isHeld = (database: Postgres): string => isAlive(database, 's.owner');

const idOf = async (database: Postgres, session: string): Promise<string | undefined> => {
  const sql = `select id from ${database.name('session')} where key = $1`;
  const [row] = await database.query<{ id: string }>(sql, [keyOf(session)]);
  return row?.id;
};

const unfinishedTurns = async (database: Postgres): Promise<readonly UnfinishedTurn[]> => {
  const rows = await database.query<{ name: string; latest_turn: string; latest_started: string }>(
    `select name, latest_turn, latest_started from ${database.name('session')} s
     where not has_ended and not ${isHeld(database)} order by latest_started, id`,
  );
  return rows.map(({ name, latest_turn: turn, latest_started: startedAt }) => ({
    turn: decodeName(turn),
    session: decodeName(name),
    startedAt: Number(startedAt),
  }));
};

interface InfoRow {
  readonly name: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly turns: number;
  readonly first_input: string;
  readonly latest_turn: string;
  readonly has_ended: boolean;
  readonly is_held: boolean;
  readonly bytes: string;
}

const listSessions = async (database: Postgres, options: ListOptions): Promise<readonly SessionInfo[]> => {
  checkOptions('list()', options, { limit: integerFrom(1), offset: integerFrom(0) });
  const { limit = 1000, offset = 0 } = options;
  const rows = await database.query<InfoRow>(
    `select name, created_at, updated_at, turns, first_input, latest_turn, has_ended, bytes,
       ${isHeld(database)} as is_held
     from ${database.name('session')} s where turns > 0 order by updated_at desc, id desc limit $1 offset $2`,
    [limit, offset],
  );
  return rows.map((row) => ({
    session: decodeName(row.name),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    turns: row.turns,
    firstInput: decodeName(row.first_input),
    latestTurn: decodeName(row.latest_turn),
    state: row.is_held ? 'running' : row.has_ended ? 'idle' : 'unfinished',
    bytes: Number(row.bytes),
  }));
};

const readJournal = async (database: Postgres, turn: string): Promise<readonly JournalRecord[]> => {
  const rows = await database.query<{ body: string }>(
    `select r.body from ${database.name('record')} r join ${database.name('turn')} t
       on t.session = r.session and t.ordinal = r.turn
     where t.key = $1 order by r.session, r.seq`,
    [keyOf(turn)],
  );
  const reader = new RecordReader();
  return rows.map(({ body }) => reader.decode(body));
};

/** How many turns are read at once. */
const turnsPerPage = 8;

async function* readArchive(database: Postgres, session: string): AsyncGenerator<ArchivedTurn> {
  const id = await idOf(database, session);
  if (id === undefined) return;
  const sql = `select turn, body from ${database.name('record')}
    where session = $1 and turn >= $2 and turn < $3 order by turn, seq`;
  for (let from = 0; ; from += turnsPerPage) {
    const rows = await database.query<{ turn: number; body: string }>(sql, [id, from, from + turnsPerPage]);
    if (rows.length === 0) return;
    const reader = new RecordReader();
    const turns = new Map<number, JournalRecord[]>();
    for (const { turn, body } of rows) {
      const journal = turns.get(turn) ?? [];
      turns.set(turn, journal);
      journal.push(reader.decode(body));
    }
    for (const journal of turns.values()) yield archivedTurn(journal);
  }
}

const deleteSession = async (database: Postgres, session: string): Promise<void> => {
  const of = (table: string): string => `delete from ${database.name(table)} using gone where session = gone.id`;
  const [row] = await database.query<{ gone: number; known: number }>(
    `with known as (select id from ${database.name('session')} where key = $1),
     gone as (delete from ${database.name('session')} s where key = $1 and not ${isHeld(database)} returning s.id),
     turns as (${of('turn')}), records as (${of('record')}), snapshots as (${of('snapshot')})
     select (select count(*)::integer from gone) as gone, (select count(*)::integer from known) as known`,
    [keyOf(session)],
  );
  if (row && row.known > row.gone) throw new SessionBusyError(session);
};
