import { TurnError } from '@h/turn';

/** Content to store. A stream is stored as it arrives, so that memory does not grow with its size. */
export type ObjectContent = Uint8Array | AsyncIterable<Uint8Array>;

/** How to store an object. */
export interface PutObjectOptions {
  /** Stores the object only if its key does not exist. */
  readonly ifAbsent?: boolean | undefined;
  /** ASCII strings, at most 1 KB together, that `get` and `head` return with the object. Names are lower case. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Rejects content as soon as it exceeds this number of bytes. */
  readonly maxBytes?: number | undefined;
  /** Aborts the upload. Nothing of it is stored. */
  readonly signal?: AbortSignal | undefined;
}

/** Outcome of `put`. */
export interface PutObjectResult {
  /** Whether the object was stored. With `ifAbsent`, `false` means that the key exists. */
  readonly isStored: boolean;
}

/** What a store knows about an object without reading it. */
export interface ObjectInfo {
  readonly bytes: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A range of an object. Leaving the iteration of `content` early ends the download. */
export interface ObjectSlice extends ObjectInfo {
  readonly content: AsyncIterable<Uint8Array>;
}

/** The range of bytes to read; by default the whole object. A range past the end is empty. */
export interface ByteRange {
  readonly offset?: number | undefined;
  readonly length?: number | undefined;
}

/** An object in a list. */
export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
}

/**
 * Stores bytes under keys, as S3 and NATS do. Artifacts and files with content addresses are built on it.
 *
 * Contract:
 * - A key consists of `A-Z a-z 0-9 . _ / -` and has at most 512 characters.
 * - An object is readable when its upload has ended, in whole. A failed or aborted upload changes nothing.
 * - Of concurrent uploads of one key with `ifAbsent`, one is stored.
 * - An object that is overwritten during a read is returned as it was, or the read fails.
 * - Failures of the service are an {@link ObjectStoreError}. Reads and deletions can be repeated.
 */
export interface ObjectStore {
  /** @throws ObjectTooLargeError if the content exceeds `maxBytes` */
  put(key: string, content: ObjectContent, options?: PutObjectOptions): Promise<PutObjectResult>;
  get(key: string, range?: ByteRange): Promise<ObjectSlice | undefined>;
  head(key: string): Promise<ObjectInfo | undefined>;
  /** Lists all objects whose key starts with `prefix`, in any order. */
  list(prefix: string): AsyncIterable<ListedObject>;
  /** Deletes objects. Unknown keys are ignored. */
  delete(keys: readonly string[]): Promise<void>;
}

/** A request to the service failed; `cause` has its error. */
export class ObjectStoreError extends TurnError {
  constructor(action: string, options?: ErrorOptions) {
    const { cause } = options ?? {};
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : 'no reason was given';
    super(
      'object-store',
      `${action} failed (${reason.slice(0, 300)}). Check the service, its address and the rights.`,
      {
        ...options,
      },
    );
  }
}

/** The content exceeds the limit of the store or of the upload. */
export class ObjectTooLargeError extends TurnError {
  constructor(key: string, maxBytes: number) {
    super(
      'object-too-large',
      `The content for ${JSON.stringify(key.slice(0, 100))} exceeds ${maxBytes} bytes; nothing was stored. Store less, or raise the limit.`,
    );
  }
}

/** The key has characters that not every service accepts. */
export class ObjectKeyError extends TurnError {
  constructor(key: string) {
    super(
      'object-key',
      `${JSON.stringify(key.slice(0, 100))} is not a key: use 1 to 512 of A-Z a-z 0-9 . _ / - and no "..", hash other names.`,
    );
  }
}

/** Rejects a key outside of the contract. Every store calls it. */
export const checkKey = (key: string): string => {
  if (!/^[\w./-]{1,512}$/.test(key) || /(?:^|\/)\.\.?(?:\/|$)|^\/|\/\//.test(key)) throw new ObjectKeyError(key);
  return key;
};

/** Returns the content in chunks of one size, the last one shorter. Rejects content over the limit. */
export async function* chunksOf(
  key: string,
  content: ObjectContent,
  chunkBytes: number,
  { maxBytes = Infinity, signal }: PutObjectOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  let total = 0;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const part of content instanceof Uint8Array ? [content] : content) {
    signal?.throwIfAborted();
    total += part.byteLength;
    if (total > maxBytes) throw new ObjectTooLargeError(key, maxBytes);
    let rest = part;
    while (pendingBytes + rest.byteLength >= chunkBytes) {
      const head = rest.subarray(0, chunkBytes - pendingBytes);
      yield pending.length === 0 ? head : Buffer.concat([...pending, head]);
      rest = rest.subarray(head.byteLength);
      pending = [];
      pendingBytes = 0;
    }
    // A copy: the source may reuse its buffer.
    if (rest.byteLength > 0) pending.push(Uint8Array.from(rest));
    pendingBytes += rest.byteLength;
  }
  signal?.throwIfAborted();
  if (pendingBytes > 0) yield Buffer.concat(pending);
}
