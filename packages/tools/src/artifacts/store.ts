import { TurnError, type ArtifactReference, type MaybePromise } from '@h/turn';

/** What is to be kept. */
export interface ArtifactInput {
  /** The session that it belongs to; no other session can read it. */
  readonly session: string;
  readonly content: string | Uint8Array;
  /** @defaultValue `text/plain` for text, `application/octet-stream` for bytes */
  readonly mediaType?: string | undefined;
  /** It came from outside and may contain injected instructions. */
  readonly external?: boolean | undefined;
}

/** A stretch of an artifact. */
export interface ArtifactSlice {
  readonly content: string | Uint8Array;
  /** Where the stretch begins, in characters of text or bytes of anything else. */
  readonly offset: number;
  /** Size of the whole, in the same unit. */
  readonly size: number;
  readonly mediaType: string;
  readonly external: boolean;
}

/** Which stretch to read; the whole without it. Beyond the end there is nothing to read, which is no error. */
export interface ArtifactRange {
  readonly offset?: number | undefined;
  readonly length?: number | undefined;
}

/**
 * Where full outputs are kept.
 *
 * Contract:
 * - Ids are random; an id alone opens nothing, because it is read together with its session.
 * - An artifact lives as long as its session is used, and a time after that; every `put` and `read` counts as use.
 * - What does not fit the quota is refused with {@link ArtifactQuotaError}; nothing that is referred to is dropped for it.
 * - Text comes back as it was given (lone surrogates apart), by characters; bytes by bytes.
 */
export interface ArtifactStore {
  put(artifact: ArtifactInput): MaybePromise<ArtifactReference>;
  /** @throws ArtifactNotFoundError when it never was, has expired, or belongs to another session. */
  read(session: string, id: string, range?: ArtifactRange): MaybePromise<ArtifactSlice>;
  /** Forgets all that a session has. */
  deleteSession(session: string): MaybePromise<void>;
}

/** Options that all stores have. */
export interface ArtifactStoreOptions {
  /**
   * How long a session's artifacts are kept after it was last used, in milliseconds.
   *
   * @defaultValue 7 days, so that a conversation can be taken up after a weekend
   */
  readonly ttlMs?: number | undefined;
  /**
   * How much all artifacts together may take, in bytes.
   *
   * @defaultValue 1 GB in files, 256 MB in memory
   */
  readonly maxBytes?: number | undefined;
  /**
   * How much the artifacts of one session may take, in bytes.
   *
   * @defaultValue a quarter of `maxBytes`
   */
  readonly maxSessionBytes?: number | undefined;
  /**
   * The clock, as milliseconds since 1970.
   *
   * @defaultValue that of RxJS
   */
  readonly now?: (() => number) | undefined;
}

/** There is no such artifact in this session. */
export class ArtifactNotFoundError extends TurnError {
  readonly artifact: string;

  constructor(artifact: string, options?: ErrorOptions) {
    super(
      'artifact-not-found',
      `This session has no artifact ${JSON.stringify(artifact.slice(0, 64))}; it never had, or it has expired.`,
      options,
    );
    this.artifact = artifact;
  }
}

/** The artifact does not fit any more. */
export class ArtifactQuotaError extends TurnError {
  constructor(option: 'maxBytes' | 'maxSessionBytes', limit: number, needed: number) {
    super(
      'artifact-quota',
      `The artifact needs ${needed} bytes, which with those kept already is more than ${option} (${limit}) allows; raise it, or delete sessions.`,
    );
  }
}

/** Makes room by refusing: what every store checks before it keeps something. */
export const checkQuota = (
  needed: number,
  used: { readonly total: number; readonly session: number },
  { maxBytes, maxSessionBytes }: { readonly maxBytes: number; readonly maxSessionBytes: number },
): void => {
  if (used.session + needed > maxSessionBytes) throw new ArtifactQuotaError('maxSessionBytes', maxSessionBytes, needed);
  if (used.total + needed > maxBytes) throw new ArtifactQuotaError('maxBytes', maxBytes, needed);
};
