import { CodedError } from '@h/options';
import type { StationApproval, StationSession, auditEntry, usage } from '../api/contract.js';
import type * as z from 'zod';
import type { Tick } from '../triggers/tick-store.js';

type Usage = z.infer<typeof usage>;

/** A session, with what its HTTP form does not show. */
export interface SessionBody extends StationSession {
  /** Number of turns that have begun here. A forked session begins again from 0. */
  readonly turns: number;
  /** The latest turn whose end was counted. */
  readonly lastEnded: string | null;
  /** The latest turn that has begun. */
  readonly lastTurn: string | null;
}

/** A turn of a session. Its id is `session:number`. */
export interface TurnBody {
  readonly turn: string;
  readonly session: string;
  readonly number: number;
  readonly agent: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly outcome: string | null;
  /** Usage by model. */
  readonly usage: Readonly<Record<string, Usage>>;
  /** Status and duration of the first 1,000 tool calls, by call id. */
  readonly calls: Readonly<
    Record<string, { readonly status: string; readonly durationMs: number | null; readonly artifact: string | null }>
  >;
}

/** An approval, and the decision that its turn has not received yet. */
export interface ApprovalBody extends StationApproval {
  /** The id of the request in its turn. */
  readonly request: string;
  readonly decision: 'once' | 'session' | 'always' | 'deny' | null;
  readonly decisionReason: string | null;
}

/** A bearer token. Tokens have 256 random bits, so a slow hash adds nothing. */
export interface TokenBody {
  readonly name: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  /** SHA-256 in hexadecimal; the id of the record. */
  readonly hash: string;
}

/** The records of the service, by kind. */
export interface RecordKinds {
  readonly session: SessionBody;
  readonly turn: TurnBody;
  readonly approval: ApprovalBody;
  readonly audit: z.infer<typeof auditEntry>;
  readonly token: TokenBody;
  /** The request that an `Idempotency-Key` belongs to, and its answer once it has one. */
  readonly idempotency: {
    readonly request: string;
    readonly answer: { readonly status: number; readonly body: unknown } | null;
  };
  /** A message that was accepted under an idempotency key. */
  readonly message: { readonly session: string };
  /** A turn that is to be cancelled; the process that runs it reads this. */
  readonly cancel: { readonly session: string; readonly turn: string; readonly reason: string };
  /** An approval link that was used. */
  readonly link: { readonly approval: string };
  readonly secret: { readonly value: string };
  /** A run of a workflow, as its store writes it. */
  readonly run: { readonly run: unknown };
  /** A claim of a trigger. */
  readonly tick: Tick;
}

export type RecordKind = keyof RecordKinds;

/** A record with its place in lists. */
export interface StoredRecord<Kind extends RecordKind = RecordKind> {
  readonly kind: Kind;
  readonly id: string;
  readonly tenant: string;
  /** Lists are sorted by it, latest first. Milliseconds since 1970. */
  readonly at: number;
  readonly body: RecordKinds[Kind];
}

export interface RecordQuery {
  /** Without it, records of all tenants. */
  readonly tenant?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Returns records after this one in the order of the list. */
  readonly after?: { readonly at: number; readonly id: string } | undefined;
  readonly limit?: number | undefined;
}

export interface RecordChange {
  readonly kind: RecordKind;
  readonly id: string;
  readonly tenant: string;
  readonly isDeleted: boolean;
}

/**
 * Stores what the service itself knows: sessions, turns, approvals, tokens, audit entries and idempotency keys.
 *
 * Contract: a confirmed change survives `kill -9`. Changes of one record are atomic, also between processes. Changes of
 * different records are independent.
 */
export interface Records {
  get<Kind extends RecordKind>(kind: Kind, id: string): Promise<StoredRecord<Kind> | undefined>;
  /** Adds a record unless one with this id exists. @returns whether it was added */
  insert<Kind extends RecordKind>(record: StoredRecord<Kind>): Promise<boolean>;
  /**
   * Replaces a record. `change` receives the current one and returns the next, or `undefined` to leave it unchanged. It
   * has no other effect, because it may be called again.
   *
   * @returns the record afterwards
   */
  update<Kind extends RecordKind>(
    kind: Kind,
    id: string,
    change: (current: StoredRecord<Kind> | undefined) => StoredRecord<Kind> | undefined,
  ): Promise<StoredRecord<Kind> | undefined>;
  delete(kind: RecordKind, id: string): Promise<void>;
  /** Lists records, latest first. */
  list<Kind extends RecordKind>(kind: Kind, query?: RecordQuery): Promise<readonly StoredRecord<Kind>[]>;
  /** Deletes records before a time, and all but the latest `keep`. @returns their number */
  prune(kind: RecordKind, limits: { readonly before: number; readonly keep: number }): Promise<number>;
  /** Calls back after each change, also of other processes. @returns the function that unsubscribes */
  onChange(callback: (change: RecordChange) => void): () => void;
  close(): Promise<void>;
}

/** A failure of the records. */
export class RecordsError extends CodedError {}

/** The order of lists: latest first, then by id. */
export const compareRecords = (
  left: { readonly at: number; readonly id: string },
  right: { readonly at: number; readonly id: string },
): number => right.at - left.at || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0);
