import { TurnError, type ArtifactReference, type MaybePromise } from '@h/turn';

/** An artifact to store. */
export interface ArtifactInput {
  /** The session that owns the artifact; no other session can read it. */
  readonly session: string;
  readonly content: string | Uint8Array;
  /** @defaultValue `text/plain` for text, `application/octet-stream` for bytes */
  readonly mediaType?: string | undefined;
  /** Whether the content is external and may contain injected instructions. */
  readonly external?: boolean | undefined;
}

/** A range of an artifact, with its content. */
export interface ArtifactSlice {
  readonly content: string | Uint8Array;
  /** Start of the range: in characters for text, in bytes otherwise. */
  readonly offset: number;
  /** Size of the whole artifact, in the same unit. */
  readonly size: number;
  readonly mediaType: string;
  readonly external: boolean;
}

/** The range to read; by default the whole artifact. A range past the end is empty, not an error. */
export interface ArtifactRange {
  readonly offset?: number | undefined;
  readonly length?: number | undefined;
}

/**
 * Stores the full outputs of tool calls.
 *
 * Contract:
 * - Ids are random. An id is valid only together with its session.
 * - An artifact expires `ttlMs` after the last use of its session; every `put` and `read` counts as use.
 * - An artifact that exceeds the quota is rejected with {@link ArtifactQuotaError}. No other artifact is dropped for
 *   it.
 * - Text is returned unchanged, except for lone surrogates, and is addressed by characters; bytes are addressed by
 *   bytes.
 */
export interface ArtifactStore {
  put(artifact: ArtifactInput): MaybePromise<ArtifactReference>;
  /** @throws ArtifactNotFoundError if the artifact does not exist, has expired, or belongs to another session */
  read(session: string, id: string, range?: ArtifactRange): MaybePromise<ArtifactSlice>;
  /** Returns the artifacts of a session, in any order. Does not count as use. */
  list(session: string): MaybePromise<readonly ArtifactReference[]>;
  /** Deletes one artifact. An unknown id is ignored. */
  delete(session: string, id: string): MaybePromise<void>;
  /** Deletes all artifacts of a session. */
  deleteSession(session: string): MaybePromise<void>;
}

/** Options of all stores. */
export interface ArtifactStoreOptions {
  /**
   * How long artifacts are kept after the last use of their session, in milliseconds.
   *
   * @defaultValue 7 days, so that a conversation can continue after a weekend
   */
  readonly ttlMs?: number | undefined;
  /**
   * Maximum size of all artifacts together, in bytes.
   *
   * @defaultValue 1 GiB in files, 256 MiB in memory
   */
  readonly maxBytes?: number | undefined;
  /**
   * Maximum size of the artifacts of one session, in bytes.
   *
   * @defaultValue a quarter of `maxBytes`
   */
  readonly maxSessionBytes?: number | undefined;
  /**
   * Returns the time in milliseconds since 1970.
   *
   * @defaultValue `asyncScheduler.now`, the clock of RxJS
   */
  readonly now?: (() => number) | undefined;
}

/** The session has no artifact with this id. */
export class ArtifactNotFoundError extends TurnError {
  readonly artifact: string;

  constructor(artifact: string, options?: ErrorOptions) {
    super(
      'artifact-not-found',
      `This session has no artifact ${JSON.stringify(artifact.slice(0, 64))}. The id is wrong or the artifact has expired; repeat the call that stored it.`,
      options,
    );
    this.artifact = artifact;
  }
}

/** The artifact would exceed the quota of the store or of its session. */
export class ArtifactQuotaError extends TurnError {
  constructor(option: 'maxBytes' | 'maxSessionBytes', limit: number, needed: number) {
    super(
      'artifact-quota',
      `The artifact needs ${needed} bytes, which with those stored already exceeds ${option} (${limit}); raise it, or delete sessions.`,
    );
  }
}

/** Rejects an artifact that would exceed a quota. Every store calls it before it stores one. */
export const checkQuota = (
  needed: number,
  used: { readonly total: number; readonly session: number },
  { maxBytes, maxSessionBytes }: { readonly maxBytes: number; readonly maxSessionBytes: number },
): void => {
  if (used.session + needed > maxSessionBytes) throw new ArtifactQuotaError('maxSessionBytes', maxSessionBytes, needed);
  if (used.total + needed > maxBytes) throw new ArtifactQuotaError('maxBytes', maxBytes, needed);
};
