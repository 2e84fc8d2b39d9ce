import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3ServiceException,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { checkOptions, integerFrom, nonEmptyString, objectWithMethods, required, type OptionCheck } from '@h/options';
import {
  checkKey,
  chunksOf,
  ObjectStoreError,
  type ByteRange,
  type ListedObject,
  type ObjectContent,
  type ObjectInfo,
  type ObjectSlice,
  type ObjectStore,
  type PutObjectOptions,
  type PutObjectResult,
} from '@h/tools/objects';
import { download, type Download } from './download.js';

/** Options of {@link s3Objects}. */
export interface S3ObjectsOptions {
  /** The client, with region, credentials and endpoint. The caller destroys it. */
  readonly client: S3Client;
  /** An existing bucket. */
  readonly bucket: string;
  /**
   * Start of all keys, such as `production/`.
   *
   * @defaultValue none
   */
  readonly prefix?: string | undefined;
  /**
   * Size of the parts of an upload in bytes. Content of one part is sent in one request. An upload holds two parts in
   * memory and has at most 10,000.
   *
   * @defaultValue 8 MiB, for objects of up to 80 GiB. The minimum of S3 is 5 MiB
   */
  readonly partBytes?: number | undefined;
}

const minPartBytes = 5 * 1024 ** 2;
const defaultPartBytes = 8 * 1024 ** 2;
/** Maximum of a request that deletes objects. */
const maxDeleted = 1_000;
/** Attempts of a conditional write while other writes of the same key are in progress. */
const maxConflicts = 5;
const conflictDelayMs = 100;

const keyPrefix: OptionCheck = {
  expected: 'the start of a key that ends with "/", such as "production/"',
  accepts: (value) => typeof value === 'string' && /^(?:[\w-][\w.-]*\/)+$/.test(value),
};

/**
 * Stores objects in a bucket of S3 or of a compatible service.
 *
 * The service must support conditional writes (`If-None-Match: *`). For a service without the checksums of 2025, create
 * the client with `requestChecksumCalculation: 'WHEN_REQUIRED'`.
 *
 * @throws InvalidOptionError
 */
export const s3Objects = (options: S3ObjectsOptions): ObjectStore => {
  checkOptions('s3Objects()', options, {
    client: required(objectWithMethods('send')),
    bucket: required(nonEmptyString),
    prefix: keyPrefix,
    partBytes: integerFrom(minPartBytes),
  });
  return new S3Objects(options);
};

/** A key in the bucket. */
interface Target {
  readonly Bucket: string;
  readonly Key: string;
}

class S3Objects implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #partBytes: number;

  constructor({ client, bucket, prefix = '', partBytes = defaultPartBytes }: S3ObjectsOptions) {
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#partBytes = partBytes;
  }

  async put(key: string, content: ObjectContent, options: PutObjectOptions = {}): Promise<PutObjectResult> {
    const target = this.#target(key);
    const parts = chunksOf(key, content, this.#partBytes, options);
    try {
      const first = await parts.next();
      const second = first.done === true ? first : await parts.next();
      if (second.done === true) return await this.#putWhole(target, first.value ?? new Uint8Array(), options);
      return await this.#putParts(target, [first.value as Uint8Array, second.value], parts, options);
    } finally {
      await parts.return();
    }
  }

  async get(key: string, { offset = 0, length = Infinity }: ByteRange = {}): Promise<ObjectSlice | undefined> {
    const target = this.#target(key);
    const isWhole = offset === 0 && length === Infinity;
    const end = length === Infinity ? '' : offset + length - 1;
    if (length <= 0) return this.#empty(key);
    try {
      const input = { ...target, ...(!isWhole && { Range: `bytes=${offset}-${end}` }) };
      const {
        Body,
        ContentLength = 0,
        ContentRange,
        ETag,
        Metadata = {},
      } = await this.#request(`Reading ${key}`, () => this.#client.send(new GetObjectCommand(input)));
      const body = Body as Download | undefined;
      if (ETag === undefined) body?.destroy();
      checkTag(`Reading ${key}`, ETag);
      if (ContentRange === undefined) {
        return { bytes: ContentLength, metadata: Metadata, content: download(key, body, { skip: offset, length }) };
      }
      const { first, total } = /^bytes (?<first>\d+)-\d+\/(?<total>\d+)$/.exec(ContentRange)?.groups ?? {};
      if (Number(first) !== offset) {
        body?.destroy();
        throw wrongAnswer(`Reading ${key}`, `the range "${ContentRange}" instead of one from ${offset}`);
      }
      return { bytes: Number(total), metadata: Metadata, content: download(key, body, { skip: 0, length }) };
    } catch (error) {
      if (isStatus(error, 404) && !isWithoutBucket(error)) return undefined;
      // The range begins after the end.
      if (isStatus(error, 416)) return this.#empty(key);
      throw error;
    }
  }

  async head(key: string): Promise<ObjectInfo | undefined> {
    const target = this.#target(key);
    try {
      const action = `Reading the size of ${key}`;
      const {
        ContentLength = 0,
        ETag,
        Metadata = {},
      } = await this.#request(action, () => this.#client.send(new HeadObjectCommand(target)));
      checkTag(action, ETag);
      return { bytes: ContentLength, metadata: Metadata };
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  async *list(prefix: string): AsyncGenerator<ListedObject, void, undefined> {
    const input = { Bucket: this.#bucket, Prefix: `${this.#prefix}${prefix}` };
    let token: string | undefined;
    do {
      const page = await this.#request(`Listing ${prefix}`, () =>
        this.#client.send(new ListObjectsV2Command({ ...input, ContinuationToken: token })),
      );
      if (page.IsTruncated === undefined) throw wrongAnswer(`Listing ${prefix}`, 'a page that is no list');
      for (const { Key = '', Size = 0 } of page.Contents ?? []) {
        if (!Key.startsWith(input.Prefix)) {
          throw wrongAnswer(`Listing ${prefix}`, `the key "${Key}", which does not begin with "${input.Prefix}"`);
        }
        yield { key: Key.slice(this.#prefix.length), bytes: Size };
      }
      const next = page.NextContinuationToken;
      if (next !== undefined && next === token) throw wrongAnswer(`Listing ${prefix}`, 'the same page again');
      token = next;
    } while (token !== undefined);
  }

  async delete(keys: readonly string[]): Promise<void> {
    const targets = [...new Set(keys)].map((key) => ({ Key: this.#target(key).Key }));
    for (let first = 0; first < targets.length; first += maxDeleted) {
      const action = `Deleting ${keys.length} objects`;
      const Objects = targets.slice(first, first + maxDeleted);
      const { Deleted = [], Errors = [] } = await this.#request(action, () =>
        this.#client.send(new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects } })),
      );
      if (Deleted.length + Errors.length < Objects.length) {
        throw wrongAnswer(action, `${Deleted.length} confirmations for ${Objects.length} objects`);
      }
      const [failure] = Errors;
      if (failure !== undefined) {
        throw new ObjectStoreError(`Deleting ${Errors.length} of ${keys.length} objects`, {
          cause: new Error(`${failure.Key}: ${failure.Code} ${failure.Message ?? ''}`),
        });
      }
    }
  }

  async #putWhole(target: Target, body: Uint8Array, options: PutObjectOptions): Promise<PutObjectResult> {
    const input = { ...target, Body: body, Metadata: { ...options.metadata }, ...condition(options) };
    const action = `Storing ${target.Key}`;
    return this.#conditionally(target, options, async () => {
      const send = () => this.#client.send(new PutObjectCommand(input), sending(options));
      checkTag(action, (await this.#request(action, send, options)).ETag);
    });
  }

  /** Uploads a part while the next one is read. An upload that fails is aborted, so that its parts cost nothing. */
  async #putParts(
    target: Target,
    first: readonly Uint8Array[],
    rest: AsyncIterable<Uint8Array>,
    options: PutObjectOptions,
  ): Promise<PutObjectResult> {
    const action = `Uploading ${target.Key}`;
    const { UploadId } = await this.#request(
      action,
      () =>
        this.#client.send(
          new CreateMultipartUploadCommand({ ...target, Metadata: { ...options.metadata } }),
          sending(options),
        ),
      options,
    );
    if (UploadId === undefined) throw wrongAnswer(action, 'an answer without an upload id');
    const upload = { ...target, UploadId };
    let isComplete = false;
    let sent: Promise<void> = Promise.resolve();
    try {
      const parts: CompletedPart[] = [];
      for await (const body of chain(first, rest)) {
        await sent;
        const PartNumber = parts.length + 1;
        const part: CompletedPart = { PartNumber };
        parts.push(part);
        const input = { ...upload, PartNumber, Body: body };
        sent = this.#request(
          action,
          () => this.#client.send(new UploadPartCommand(input), sending(options)),
          options,
        ).then((answer) => void Object.assign(part, checksumsOf(answer)));
        // A failure is reported by the next await, also while the source is slow.
        sent.catch(() => undefined);
      }
      await sent;
      const complete = { ...upload, MultipartUpload: { Parts: parts }, ...condition(options) };
      const result = await this.#conditionally(target, options, () =>
        this.#request(
          action,
          () => this.#client.send(new CompleteMultipartUploadCommand(complete), sending(options)),
          options,
        ).then(
          ({ ETag }) => checkTag(action, ETag),
          async (error: unknown) => {
            // If the answer of an attempt was lost, the next one finds no upload.
            if (!isStatus(error, 404) || (await this.#tagOf(target)) !== tagOfParts(parts)) throw error;
          },
        ),
      );
      isComplete = result.isStored;
      return result;
    } finally {
      await sent.catch(() => undefined);
      // Its failure must not replace the error of the upload; a lifecycle rule removes what remains.
      if (!isComplete) await this.#client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    }
  }

  /** Performs a write, again while another write of the key is in progress. */
  async #conditionally(
    target: Target,
    { ifAbsent = false, signal }: PutObjectOptions,
    write: () => Promise<unknown>,
  ): Promise<PutObjectResult> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await write();
        return { isStored: true };
      } catch (error) {
        if (ifAbsent && isStatus(error, 412)) return { isStored: false };
        const isConflict = ifAbsent && isStatus(error, 409);
        if (!isConflict) throw error;
        if (await this.#exists(target)) return { isStored: false };
        if (attempt === maxConflicts) throw error;
        await setTimeout(conflictDelayMs * attempt, undefined, { signal });
      }
    }
  }

  /** Returns the tag of an object, if it can be read. */
  async #tagOf(target: Target): Promise<string | undefined> {
    return this.#client.send(new HeadObjectCommand(target)).then(
      ({ ETag }) => ETag,
      () => undefined,
    );
  }

  async #exists(target: Target): Promise<boolean> {
    return (await this.head(target.Key.slice(this.#prefix.length))) !== undefined;
  }

  async #empty(key: string): Promise<ObjectSlice | undefined> {
    const info = await this.head(key);
    return info === undefined ? undefined : { ...info, content: download(key, undefined, { skip: 0, length: 0 }) };
  }

  /** Sends a request. Failures are an {@link ObjectStoreError}, except the reason of the caller for an abort. */
  async #request<Answer>(
    action: string,
    send: () => Promise<Answer>,
    { signal }: PutObjectOptions = {},
  ): Promise<Answer> {
    try {
      return await send();
    } catch (error) {
      signal?.throwIfAborted();
      throw new ObjectStoreError(`${action} in bucket ${this.#bucket}`, { cause: error });
    }
  }

  #target(key: string): Target {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${checkKey(key)}` };
  }
}

async function* chain(
  first: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* first;
  yield* rest;
}

const condition = ({ ifAbsent }: PutObjectOptions): { IfNoneMatch?: string } =>
  ifAbsent === true ? { IfNoneMatch: '*' } : {};

const sending = ({ signal }: PutObjectOptions): { abortSignal?: AbortSignal } =>
  signal === undefined ? {} : { abortSignal: signal };

/** Returns the tag and the checksums of a part, which S3 verifies again when the upload is completed. */
const checksumsOf = ({
  ETag,
  ChecksumCRC32,
  ChecksumCRC32C,
  ChecksumCRC64NVME,
  ChecksumSHA1,
  ChecksumSHA256,
}: CompletedPart) => ({
  ETag,
  ChecksumCRC32,
  ChecksumCRC32C,
  ChecksumCRC64NVME,
  ChecksumSHA1,
  ChecksumSHA256,
});

/** Returns the tag of an object that was uploaded in parts, as S3 derives it from their tags. */
const tagOfParts = (parts: readonly CompletedPart[]): string => {
  const hash = createHash('md5');
  for (const { ETag = '' } of parts) hash.update(Buffer.from(ETag.replaceAll('"', ''), 'hex'));
  return `"${hash.digest('hex')}-${parts.length}"`;
};

/** Rejects an answer that is not about an object: a proxy or another server at the address has answered. */
const checkTag = (action: string, tag: string | undefined): void => {
  if (tag === undefined) throw wrongAnswer(action, 'an answer without an ETag');
};

const wrongAnswer = (action: string, what: string): ObjectStoreError =>
  new ObjectStoreError(action, { cause: new Error(`the service returned ${what}`) });

const isWithoutBucket = (error: unknown): boolean => answerIn(error)?.name === 'NoSuchBucket';

const isStatus = (error: unknown, status: number): boolean => answerIn(error)?.$metadata.httpStatusCode === status;

/** Returns the error that the service answered. */
const answerIn = (error: unknown): S3ServiceException | undefined => {
  const { cause } = error instanceof ObjectStoreError ? error : {};
  return cause instanceof S3ServiceException ? cause : undefined;
};
