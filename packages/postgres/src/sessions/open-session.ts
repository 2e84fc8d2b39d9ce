import {
  encodeSnapshot,
  firstInputOf,
  PastTurns,
  RecordWriter,
  sessionClosed,
  sessionTaken,
  WriteQueue,
} from '@h/session/format';
import {
  foldJournal,
  TurnError,
  type JournalRecord,
  type Message,
  type OpenSession,
  type PastTurn,
  type SessionSnapshot,
  type TurnEvent,
  type TurnEventOf,
} from '@h/turn';
import { toPostgresError } from '../errors.js';
import { encodeName, keyOf } from '../keys.js';
import type { Postgres } from '../postgres.js';
import { SessionClaims, type Claim } from './claims.js';
import { mustSave, type LoadedSession, type RecentSession } from './load.js';

interface QueuedRecord {
  readonly turn: number;
  readonly seq: number;
  readonly body: string;
  /** Set by the first and by the last record of a turn. */
  readonly head: Head | undefined;
  /** The inbox messages that the record delivers. */
  readonly tags: readonly string[];
}

/** The state of the session after a record. */
interface Head {
  readonly turns: number;
  readonly at: number;
  readonly turn: PastTurn;
  readonly firstInput: string;
  readonly bytes: number;
}

/** Limits of one statement. */
const maxRecords = 500;
const maxChars = 4_000_000;

/**
 * A session in PostgreSQL that is open for writing.
 *
 * Records that arrive while a statement is under way are written together by the next one. Each statement writes only
 * while the fence of the session is that of this claim.
 */
export class PostgresSession implements OpenSession {
  readonly snapshot: SessionSnapshot;
  readonly journal: readonly JournalRecord[];
  mustResume = false;
  readonly #database: Postgres;
  readonly #claim: Claim;
  readonly #past: PastTurns;
  readonly #writer = new RecordWriter();
  readonly #queue = new WriteQueue<QueuedRecord>({
    write: (batch) => this.#write(batch),
    sizeOf: ({ body }) => body.length,
    maxSize: maxChars,
    maxItems: maxRecords,
  });
  readonly #onClosing: (stored: RecentSession) => void;
  readonly #onReleased: () => void;
  #snapshotBytes: number;
  #unfoldedBytes: number;
  #bytes: number;
  #turnBytes: number;
  #turns: number;
  #next: number;
  /** The session before the latest turn, and the records of the latest turn. */
  #before: SessionSnapshot;
  #latest: JournalRecord[];
  #hasFolded = false;
  #closing: Promise<void> | undefined;

  constructor(
    database: Postgres,
    claim: Claim,
    loaded: LoadedSession,
    past: readonly PastTurn[],
    onClosing: (stored: RecentSession) => void,
    onReleased: () => void,
  ) {
    this.#database = database;
    this.#claim = claim;
    this.#past = new PastTurns(past);
    this.snapshot = loaded.snapshot;
    this.journal = loaded.journal;
    this.#before = loaded.snapshot;
    this.#latest = [...loaded.journal];
    this.#snapshotBytes = loaded.snapshotBytes;
    this.#unfoldedBytes = loaded.unfoldedBytes;
    this.#turnBytes = loaded.turnBytes;
    this.#bytes = claim.bytes;
    this.#turns = loaded.turns;
    this.#next = loaded.journal.length;
    this.#onClosing = onClosing;
    this.#onReleased = onReleased;
  }

  get session(): string {
    return this.#claim.session;
  }

  get fence(): number {
    return Number(this.#claim.fence);
  }

  pastTurn(turn: string): PastTurn | undefined {
    return this.#past.get(turn);
  }

  append(record: JournalRecord): Promise<void> {
    if (this.#closing) return Promise.reject(sessionClosed(this.#claim.session));
    if (this.#queue.failure) return Promise.reject(this.#queue.failure);
    try {
      return this.#enqueue(record);
    } catch (error) {
      return Promise.reject(this.#queue.fail(error));
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #enqueue(record: JournalRecord): Promise<void> {
    this.#past.checkNext(record, this.#claim.session, this.#next);
    const { seq, event } = record;
    const tags = tagsIn(event).filter((tag) => this.#database.inboxTags.has(tag));
    if (tags.length > 0 && this.#contains(tags)) throw deliveredError(this.#claim.session);
    const body = this.#writer.encode(record);
    if (seq === 0) this.#beginTurn();
    this.#latest.push(record);
    this.#next = seq + 1;
    this.#bytes += body.length;
    this.#turnBytes += body.length;
    this.#past.add(record);
    const turn = this.#past.get(event.turn);
    const isHead = seq === 0 || event.type === 'turn.end';
    const head: Head | undefined =
      isHead && turn
        ? { turns: this.#turns, at: event.at, turn, firstInput: firstInputOf(event), bytes: this.#bytes }
        : undefined;
    return this.#queue.add({ turn: this.#turns - 1, seq, body, head, tags });
  }

  /** Whether the history has one of these messages: an inbox whose messages were taken over may still send it. */
  #contains(tags: readonly string[]): boolean {
    const isGiven = (message: Message): boolean => tags.includes(tagOf(message) ?? '');
    for (const message of this.#before.messages) if (isGiven(message)) return true;
    const [first] = this.#latest;
    const input = first?.event.type === 'turn.start' ? first.event.input : [];
    return this.#latest.some(({ event }) => event.type === 'history.append' && appendedBy(event, input).some(isGiven));
  }

  #beginTurn(): void {
    this.#turns += 1;
    if (this.#latest.length === 0) return;
    this.#before = foldJournal(this.#before, this.#latest);
    this.#latest = [];
    this.#unfoldedBytes += this.#turnBytes;
    this.#turnBytes = 0;
    this.#hasFolded = true;
  }

  async #write(batch: readonly QueuedRecord[]): Promise<void> {
    const { id, fence, session } = this.#claim;
    const heads = batch.flatMap(({ head }) => (head ? [head] : []));
    const last = heads.at(-1);
    const values: unknown[] = [
      id,
      fence,
      batch.map(({ turn }) => turn),
      batch.map(({ seq }) => seq),
      batch.map(({ body }) => body),
    ];
    if (last) values.push(...headValues(heads, last));
    const tags = batch.flatMap((each) => each.tags);
    // A turn may have waited for its slot since its message was checked, and another process has the message now.
    const own = tags.length > 0 ? ownsMessages(this.#database, values.push(tags), values.push(this.#database.id)) : '';
    const rows = await this.#database.query<{ held: number }>(
      last ? writeHeadSql(this.#database, own) : writeSql(this.#database, own),
      values,
    );
    if (rows[0]?.held === 1) return;
    if (own !== '' && (await this.#isHeld())) throw messageTakenError(session);
    throw sessionTaken(session);
  }

  async #isHeld(): Promise<boolean> {
    const sql = `select 1 from ${this.#database.name('session')} where id = $1 and fence = $2`;
    return (await this.#database.query(sql, [this.#claim.id, this.#claim.fence])).length > 0;
  }

  async #close(): Promise<void> {
    await this.#queue.idle();
    try {
      if (!this.#queue.failure) await this.#saveSnapshot();
    } catch (error) {
      // The records contain everything; the next process that opens the session folds them.
      this.#database.settings.onProblem(toPostgresError(error));
    }
    if (!this.#queue.failure && this.#turns > 0) this.#onClosing(this.#stored());
    await SessionClaims.of(this.#database).release(this.#claim);
    this.#onReleased();
  }

  /** The session before its latest turn. */
  #stored(): RecentSession {
    return {
      id: this.#claim.id,
      fence: this.fence,
      turns: this.#turns - 1,
      snapshot: this.#before,
      snapshotBytes: this.#snapshotBytes,
      unfoldedBytes: this.#unfoldedBytes,
    };
  }

  async #saveSnapshot(): Promise<void> {
    if (!this.#hasFolded || !mustSave(this.#stored())) return;
    const body = encodeSnapshot(this.#before);
    const { id, fence } = this.#claim;
    await this.#database.query(
      `insert into ${this.#database.name('snapshot')} (session, turn, bytes, body)
       select id, $3, $4, $5 from ${this.#database.name('session')} where id = $1 and fence = $2 for share
       on conflict (session) do update set turn = excluded.turn, bytes = excluded.bytes, body = excluded.body`,
      [id, fence, this.#turns - 1, body.length, body],
      { retryMs: 0 },
    );
    [this.#snapshotBytes, this.#unfoldedBytes] = [body.length, 0];
  }
}

/**
 * A condition: the messages with these tags belong to this process. A message that another process has delivered since
 * has no tag.
 */
const ownsMessages = (
  database: Postgres,
  tags: number,
  process: number,
): string => `and cardinality($${tags}::text[]) = (
    select count(*) from ${database.name('inbox_message')} m join ${database.name('holder')} h on h.id = m.owner
    where m.tag = any ($${tags}::text[]) and h.process = $${process})`;

/** Returns the tags by which inboxes identify the messages that an event adds to the turn. */
const tagsIn = (event: TurnEvent): readonly string[] => {
  const messages = event.type === 'turn.start' ? event.input : event.type === 'input.received' ? [event.message] : [];
  return messages.flatMap((message) => tagOf(message) ?? []);
};

/** A record may omit messages that earlier records contain. */
const appendedBy = (event: TurnEventOf<'history.append'>, input: readonly Message[]): readonly Message[] =>
  (event as Partial<typeof event>).messages ?? (event.origin === 'input' ? input : []);

const tagOf = ({ metadata }: Message): string | undefined => {
  const tag = metadata?.['inbox'];
  return typeof tag === 'string' ? tag : undefined;
};

const addRecords = (database: Postgres): string =>
  `insert into ${database.name('record')} (session, turn, seq, body)
   select held.id, given.turn, given.seq, given.body
   from held, unnest($3::integer[], $4::integer[], $5::text[]) as given (turn, seq, body)
   on conflict do nothing`;

/** The row lock makes a claim by another process wait until the records are written, or the records for the claim. */
const writeSql = (database: Postgres, own: string): string => `
  with held as (select id from ${database.name('session')} where id = $1 and fence = $2 ${own} for share),
  added as (${addRecords(database)})
  select count(*)::integer as held from held`;

const writeHeadSql = (database: Postgres, own: string): string => `
  with held as (
    update ${database.name('session')} set turns = $6, updated_at = $7, latest_turn = $8, latest_key = $9,
      latest_started = $10, has_ended = $11, bytes = $12, created_at = coalesce(created_at, $13),
      first_input = coalesce(first_input, $14)
    where id = $1 and fence = $2 ${own} returning id
  ),
  added as (${addRecords(database)}),
  turns as (
    insert into ${database.name('turn')} (session, ordinal, key, name, started_at, outcome)
    select held.id, given.* from held,
      unnest($15::integer[], $16::text[], $17::text[], $18::bigint[], $19::text[]) as given
    on conflict (session, ordinal) do update set outcome = excluded.outcome
  )
  select count(*)::integer as held from held`;

const headValues = (heads: readonly Head[], last: Head): readonly unknown[] => {
  // A turn that begins and ends in the same batch is written once.
  const turns = [...new Map(heads.map((head) => [head.turns, head])).values()];
  const { turn } = last;
  return [
    last.turns,
    last.at,
    encodeName(turn.turn),
    keyOf(turn.turn),
    turn.startedAt,
    turn.outcome !== undefined,
    last.bytes,
    heads[0]?.at,
    encodeName(heads[0]?.firstInput ?? ''),
    turns.map((head) => head.turns - 1),
    turns.map((head) => keyOf(head.turn.turn)),
    turns.map((head) => encodeName(head.turn.turn)),
    turns.map((head) => head.turn.startedAt),
    turns.map((head) => head.turn.outcome ?? null),
  ];
};

const messageTakenError = (session: string): TurnError =>
  new TurnError(
    'inbox-taken',
    `Another process has taken over a message for session ${JSON.stringify(session)}, because the lease of this one ended. That process delivers the message.`,
  );

const deliveredError = (session: string): TurnError =>
  new TurnError(
    'inbox-delivered',
    `The history of session ${JSON.stringify(session)} contains the message already: another inbox took it over and delivered it. Nothing was recorded.`,
  );
