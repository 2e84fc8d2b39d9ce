import { checkOptions, checkValue, instanceOf, nonEmptyString } from '@h/options';
import type { InboxContents, InboxStore, KeptMessage, KnownDelivery, SendOptions } from '@h/queue/inbox';
import { checkSendOptions, decodeEntry, encodeEntry } from '@h/queue/shared';
import { harness, type ErrorInfo, type UserMessage } from '@h/turn';
import { newId } from '../clock.js';
import { hasNoHolder, hold, isHolder, ownHolder, removeDeadHolders, unowned } from '../holders.js';
import { keyOf } from '../keys.js';
import { Postgres } from '../postgres.js';
import { behindError, closedError, isKeptAfter, takenError } from './inbox-errors.js';

/** Options of {@link postgresInbox}. */
export interface PostgresInboxOptions {
  /**
   * The name of the inbox. Processes with the same name share its messages.
   *
   * @defaultValue `'inbox'`
   */
  readonly name?: string | undefined;
}

/** A message that was submitted and that this process has taken. */
export interface Submission {
  readonly session: string;
  readonly message: UserMessage;
  /** The options for `inbox.send()`; their `id` is set. */
  readonly options: SendOptions;
}

/**
 * The messages of an inbox in PostgreSQL.
 *
 * Each message belongs to one process. `open()` takes over the messages of processes whose lease has ended.
 */
export interface PostgresInbox extends InboxStore {
  leave(tag: string): Promise<void>;
  /**
   * Limits how many messages `open()` takes over, oldest first. The others stay for the next inbox that is opened, so
   * that processes which die during recovery still make progress.
   */
  takeOverAtMost(messages: number): void;
  /**
   * Stores a message for the worker that runs its session or has room for it, from any process.
   *
   * @returns whether it is new; `false` if a message with this id and session was submitted or delivered before
   * @throws InvalidOptionError
   * @throws InvalidInputError if the session or the message is invalid
   */
  submit(session: string, message: UserMessage | string, options?: SendOptions): Promise<boolean>;
  /**
   * Takes submitted messages in order: those of sessions that this process runs, and those of sessions that no process
   * runs. A message waits while an earlier one of its session belongs to another inbox.
   *
   * Pass each to `inbox.send()`, which stores it as pending. Those that were taken by a process that died since are
   * taken again.
   *
   * @throws TurnError `inbox-taken` if the lease of this process ended and another one has taken over its messages
   */
  take(limit: number): Promise<readonly Submission[]>;
  /** Returns a message that was taken and not accepted by `inbox.send()`, so that it is taken again. */
  giveBack(submission: Submission): Promise<void>;
  /** Returns whether messages of a dead process or of a closed inbox can be taken over by `open()` of another one. */
  hasAbandoned(): Promise<boolean>;
  /** Calls back when a message was submitted, and when notifications may have been lost. */
  onSubmit(callback: () => void): () => void;
}

const owner = 'postgresInbox()';
/** An agent that checks inputs; none of its turns is started. */
const unrunnable = harness({ model: () => [] }).pipe();
/** How many deliveries are loaded and remembered. */
const maxKnown = 1000;

/**
 * Stores the messages of an inbox in PostgreSQL, for the inboxes of several processes.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const inbox = createInbox(agent, lanes, { store: postgresInbox(database) });
 * await inbox.recover({ sessions });
 * ```
 */
export const postgresInbox = (database: Postgres, options: PostgresInboxOptions = {}): PostgresInbox => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  checkOptions(owner, options, { name: nonEmptyString });
  return new Inbox(database, keyOf(options.name ?? 'inbox'));
};

class Inbox implements PostgresInbox {
  readonly #database: Postgres;
  readonly #name: string;
  readonly #store: string;
  readonly #holder = newId();
  readonly #table: string;
  /** The tags of the messages that this inbox has, or had before another process took them over. */
  readonly #tags = new Set<string>();
  /** The numbers of the submissions that were taken, and neither saved nor given back, by session and id. */
  readonly #taken = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();
  #state: 'new' | 'open' | 'closed' = 'new';
  #maxTakenOver: number | null = null;

  constructor(database: Postgres, name: string) {
    this.#database = database;
    this.#name = name;
    this.#store = `inbox:${name}`;
    this.#table = database.name('inbox_message');
  }

  open(): Promise<InboxContents> {
    if (this.#state !== 'new') return Promise.reject(closedError(this.#name));
    this.#state = 'open';
    return this.#inOrder(async () => {
      try {
        return await this.#open();
      } catch (error) {
        this.#state = 'new';
        throw error;
      }
    });
  }

  takeOverAtMost(messages: number): void {
    this.#maxTakenOver = messages;
  }

  save(message: KeptMessage): Promise<void> {
    return this.#whileOpen(async () => {
      const id = message.options.id;
      // By which a repeated statement finds its row.
      const unique = id === undefined ? '(tag) where tag is not null' : '(inbox, session, id)';
      this.#know(message.tag);
      const rows = await this.#database.query<{ is_saved: boolean }>(
        `with ${ownHolder(this.#database)},
         saved as (
           insert into ${this.#table} as m (inbox, session, id, tag, owner, body)
           select $2, $3, $4, $5, own.id, $6 from own
           on conflict ${unique} do update set tag = excluded.tag, body = excluded.body
             where m.owner = excluded.owner and m.delivery is null
           returning 1
         )
         select exists (select 1 from own) as is_own, exists (select 1 from saved) as is_saved`,
        [
          this.#holder,
          this.#name,
          keyOf(message.session),
          id === undefined ? null : keyOf(id),
          message.tag,
          encodeEntry({ type: 'saved', message }),
        ],
      );
      if (rows[0]?.is_saved !== true) throw takenError(this.#name);
      this.#taken.delete(submissionKey(message));
    });
  }

  remove(tag: string, delivered?: KnownDelivery): Promise<void> {
    return this.#whileOpen(async () => {
      const isKnown = delivered !== undefined;
      const [row] = await this.#database.query<{ is_own: boolean }>(
        isKnown
          ? `with ${ownHolder(this.#database)},
             gone as (
               update ${this.#table} set number = nextval('${this.#database.name('inbox_order')}'), tag = null,
                 owner = null, body = null, id = $4, delivery = $3
               where tag = $2 and owner = $1 and exists (select 1 from own) returning 1
             )
             select exists (select 1 from own) as is_own`
          : `with ${ownHolder(this.#database)},
             gone as (delete from ${this.#table} where tag = $2 and owner = $1 and exists (select 1 from own) returning 1)
             select exists (select 1 from own) as is_own`,
        [this.#holder, tag, ...(isKnown ? [encodeEntry({ type: 'delivered', delivered }), keyOf(delivered.id)] : [])],
      );
      if (row?.is_own !== true) throw takenError(this.#name);
      this.#forget(tag);
    });
  }

  check(session?: string, tag?: string): Promise<void> {
    return this.#whileOpen(async () => {
      const [row] = await this.#database.query<{ is_own: boolean; is_behind: boolean }>(
        `select exists (select 1 from ${this.#database.name('holder')} where id = $1) as is_own,
           exists (
             select 1 from ${this.#table} o, ${this.#table} m
             where m.tag = $4 and o.inbox = $2 and o.session = $3 and o.number < m.number and o.delivery is null
               and o.tag is not null and o.owner <> $1
           ) as is_behind`,
        [this.#holder, this.#name, session === undefined ? null : keyOf(session), tag ?? null],
      );
      if (row?.is_own !== true) throw takenError(this.#name);
      if (row.is_behind) throw behindError(session ?? '');
    });
  }

  /** Messages stay with this process; the next one takes them over when its lease ends. */
  async close(): Promise<void> {
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    await this.#last;
    for (const tag of this.#tags) this.#forget(tag);
    if (!wasOpen) return;
    await this.#database.query(
      `with gone as (delete from ${this.#database.name('holder')} where id = $1)
       update ${this.#table} set owner = case when tag is null then null else $2::uuid end where owner = $1`,
      [this.#holder, unowned],
      { retryMs: 1_000 },
    );
  }

  async submit(session: string, given: UserMessage | string, options: SendOptions = {}): Promise<boolean> {
    checkSendOptions(options);
    const { id = newId(), trigger, priority, metadata } = options;
    const message: UserMessage = typeof given === 'string' ? { role: 'user', content: given } : given;
    // Only checks the input: a worker could never deliver a message that is invalid.
    unrunnable.turn({ session, input: [message], trigger, priority, metadata });
    const kept: KeptMessage = { tag: id, session, message, mode: 'steer', mergeKey: '', options: { ...options, id } };
    const rows = await this.#database.query(
      `with added as (
         insert into ${this.#table} as m (inbox, session, id, body, submission) values ($1, $2, $3, $4, $7)
         on conflict (inbox, session, id) do update set submission = excluded.submission
           where m.submission = excluded.submission
         returning 1
       )
       select pg_notify($5, $6) from added`,
      [
        this.#name,
        keyOf(session),
        keyOf(id),
        encodeEntry({ type: 'saved', message: kept }),
        this.#database.channel,
        this.#topic,
        newId(),
      ],
    );
    return rows.length > 0;
  }

  async take(limit: number): Promise<readonly Submission[]> {
    await this.#whileOpen(() => Promise.resolve());
    const rows = await this.#database.query<{ is_own: boolean; number: string | null; body: string | null }>(
      `select exists (select 1 from ${this.#database.name('holder')} where id = $2) as is_own, t.number, t.body
       from (select 1) one left join ${this.#database.name('inbox_take')}($1, $2, $3, $4, $5) t on true
       order by t.number`,
      [this.#name, this.#holder, this.#database.id, limit, [...this.#taken.values()]],
    );
    if (rows[0]?.is_own !== true) throw takenError(this.#name);
    return rows.flatMap(({ number, body }) => {
      const entry = body === null ? undefined : decodeEntry(body);
      if (number === null || entry?.type !== 'saved') return [];
      this.#taken.set(submissionKey(entry.message), number);
      return [entry.message];
    });
  }

  async giveBack(submission: Submission): Promise<void> {
    const { session, options } = submission;
    // It may have a tag: of an attempt to save it that had no answer.
    await this.#database.query(
      `update ${this.#table} set owner = null, tag = null
       where inbox = $1 and session = $2 and id = $3 and owner = $4 and delivery is null`,
      [this.#name, keyOf(session), keyOf(options.id ?? ''), this.#holder],
    );
    this.#taken.delete(submissionKey(submission));
  }

  keeps({ code }: ErrorInfo): boolean {
    return isKeptAfter(code);
  }

  leave(tag: string): Promise<void> {
    return this.#whileOpen(async () => {
      await this.#database.query(
        `update ${this.#table} set owner = $3 where tag = $1 and owner = $2 and delivery is null`,
        [tag, this.#holder, unowned],
      );
    });
  }

  async hasAbandoned(): Promise<boolean> {
    const rows = await this.#database.query(
      `select 1 from ${this.#table} m where m.inbox = $1 and m.delivery is null and m.tag is not null
         and not ${isHolder(this.#database, 'm.owner')} limit 1`,
      [this.#name],
    );
    return rows.length > 0;
  }

  onSubmit(callback: () => void): () => void {
    return this.#database.listen(this.#topic, callback);
  }

  get #topic(): string {
    return `inbox:${this.#name}`;
  }

  async #open(): Promise<InboxContents> {
    await hold(this.#database, this.#store, this.#holder);
    await removeDeadHolders(this.#database, this.#store);
    await this.#database.query(
      `update ${this.#table} m set owner = $2
       where m.inbox = $1 and m.delivery is null and m.tag is not null and ${hasNoHolder(this.#database, 'm.owner')}`,
      [this.#name, unowned],
    );
    // A process that was suspended here takes nothing: its messages would belong to a holder that no longer exists.
    const pending = await this.#database.query<{ number: string; body: string }>(
      `with own as (select id from ${this.#database.name('holder')} where id = $2 for share),
       had as (
         select number, body from ${this.#table}
         where inbox = $1 and delivery is null and tag is not null and owner = $2
       ),
       oldest as (
         select tag from ${this.#table} where inbox = $1 and delivery is null and tag is not null and owner = $3
         order by number limit $4::bigint - (select least($4::bigint, count(*)) from had) for update
       ),
       taken as (
         update ${this.#table} m set owner = own.id from oldest, own where m.tag = oldest.tag and m.owner = $3
         returning m.number, m.body
       )
       select number, body from taken union all select number, body from had`,
      // A repeated statement finds what the first attempt took.
      [this.#name, this.#holder, unowned, this.#maxTakenOver],
    );
    const known = await this.#database.query<{ delivery: string }>(
      `select delivery from ${this.#table} where inbox = $1 and delivery is not null order by number desc limit $2`,
      [this.#name, maxKnown],
    );
    await this.#database.query(
      `delete from ${this.#table} where inbox = $1 and delivery is not null and number < (
         select number from ${this.#table} where inbox = $1 and delivery is not null
         order by number desc offset $2 limit 1)`,
      [this.#name, 10 * maxKnown],
    );
    const messages = pending
      .toSorted((left, right) => (BigInt(left.number) < BigInt(right.number) ? -1 : 1))
      .flatMap(({ body }) => {
        const entry = decodeEntry(body);
        return entry?.type === 'saved' ? [entry.message] : [];
      });
    for (const { tag } of messages) this.#know(tag);
    const delivered = known.toReversed().flatMap(({ delivery }) => {
      const entry = decodeEntry(delivery);
      return entry?.type === 'delivered' ? [entry.delivered] : [];
    });
    return { messages, delivered };
  }

  #know(tag: string): void {
    if (this.#tags.has(tag)) return;
    const { inboxTags } = this.#database;
    this.#tags.add(tag);
    inboxTags.set(tag, (inboxTags.get(tag) ?? 0) + 1);
  }

  #forget(tag: string): void {
    if (!this.#tags.delete(tag)) return;
    const { inboxTags } = this.#database;
    const others = (inboxTags.get(tag) ?? 1) - 1;
    if (others > 0) inboxTags.set(tag, others);
    else inboxTags.delete(tag);
  }

  #whileOpen<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#state === 'open' ? this.#inOrder(work) : Promise.reject(closedError(this.#name));
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

const submissionKey = ({ session, options: { id = '' } }: Submission): string => JSON.stringify([session, id]);
