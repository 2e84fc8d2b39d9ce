import { createHash } from 'node:crypto';
import { anyString, checkOptions, integerFrom } from '@h/options';
import { TurnError } from '@h/turn';
import { ObjectTooLargeError, type ByteRange, type ObjectStore } from './object-store.js';

/** Options of {@link contentFiles}. */
export interface ContentFilesOptions {
  /**
   * Start of all keys.
   *
   * @defaultValue `files/`
   */
  readonly prefix?: string | undefined;
  /**
   * Maximum size of a file in bytes, checked while the file is read.
   *
   * @defaultValue 1 GiB, the size of a whole artifact store in files
   */
  readonly maxFileBytes?: number | undefined;
}

/** A file that is read twice: once for its address, once for the upload. */
export type FileSource = Uint8Array | (() => AsyncIterable<Uint8Array>);

/** A stored file. */
export interface StoredFile {
  /** `sha256-` and the hash of the content in hexadecimal digits. */
  readonly address: string;
  readonly bytes: number;
  /** Whether this call stored the content. `false` if it was stored before. */
  readonly isNew: boolean;
}

/** Files whose name is the hash of their content. Equal files are uploaded and stored once. */
export interface ContentFiles {
  /** @throws ObjectTooLargeError, or ContentChangedError if the source differs the second time */
  put(source: FileSource, options?: { readonly signal?: AbortSignal | undefined }): Promise<StoredFile>;
  /**
   * Returns the bytes of a file; `undefined` if the address is unknown. A whole file is verified: its iteration ends
   * with a ContentChangedError if the stored content does not match the address.
   */
  read(address: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Returns the size of a file in bytes; `undefined` if the address is unknown. */
  size(address: string): Promise<number | undefined>;
  delete(address: string): Promise<void>;
}

/** The content does not have the hash that it had before. */
export class ContentChangedError extends TurnError {
  constructor(address: string, found: string) {
    super('content-changed', `The content of ${address} has the hash ${found}. Store the file again.`);
  }
}

/**
 * Stores files by the hash of their content.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const { address } = await files.put(() => createReadStream('model.bin'));
 * ```
 */
export const contentFiles = (objects: ObjectStore, options: ContentFilesOptions = {}): ContentFiles => {
  checkOptions('contentFiles()', options, { prefix: anyString, maxFileBytes: integerFrom(1) });
  const { prefix = 'files/', maxFileBytes = 1024 ** 3 } = options;
  const keyOf = (address: string): string | undefined =>
    /^sha256-[0-9a-f]{64}$/.test(address) ? `${prefix}${address}` : undefined;
  return {
    put: async (source, { signal } = {}) => {
      const read = (): AsyncIterable<Uint8Array> => (typeof source === 'function' ? source() : once(source));
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const chunk of read()) {
        signal?.throwIfAborted();
        bytes += chunk.byteLength;
        if (bytes > maxFileBytes) throw new ObjectTooLargeError('a file', maxFileBytes);
        hash.update(chunk);
      }
      const address = `sha256-${hash.digest('hex')}`;
      const key = `${prefix}${address}`;
      if ((await objects.head(key)) !== undefined) return { address, bytes, isNew: false };
      const { isStored } = await objects.put(key, verified(address, read()), {
        ifAbsent: true,
        maxBytes: maxFileBytes,
        signal,
      });
      return { address, bytes, isNew: isStored };
    },
    read: async (address, range) => {
      const key = keyOf(address);
      const found = key === undefined ? undefined : await objects.get(key, range);
      if (found === undefined) return undefined;
      const isWhole = (range?.offset ?? 0) === 0 && (range?.length ?? Infinity) >= found.bytes;
      return isWhole ? verified(address, found.content) : found.content;
    },
    size: async (address) => {
      const key = keyOf(address);
      return key === undefined ? undefined : (await objects.head(key))?.bytes;
    },
    delete: async (address) => {
      const key = keyOf(address);
      if (key !== undefined) await objects.delete([key]);
    },
  };
};

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

/** Passes content on, and fails at its end if the hash does not match. An upload that fails there is not stored. */
async function* verified(
  address: string,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  const found = `sha256-${hash.digest('hex')}`;
  if (found !== address) throw new ContentChangedError(address, found);
}
