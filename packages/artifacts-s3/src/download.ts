import { ObjectStoreError } from '@h/tools/objects';

/** What the client returns for content in Node. */
export type Download = AsyncIterable<Uint8Array> & { destroy(): void };

/** The bytes of an answer that were asked for. */
interface Wanted {
  /** Bytes before them, which a service sends that ignores ranges. */
  readonly skip: number;
  readonly length: number;
}

/**
 * Iterates the bytes that were asked for. Ending the iteration early, and more content than that, close the connection,
 * also before the first chunk.
 */
export const download = (
  key: string,
  body: Download | undefined,
  { skip, length }: Wanted,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const chunks = body?.[Symbol.asyncIterator]();
    const end = { done: true, value: undefined } as const;
    let [before, left] = [skip, length];
    return {
      next: async () => {
        try {
          for (;;) {
            const chunk: IteratorResult<Uint8Array, unknown> = (await chunks?.next()) ?? end;
            if (chunk.done === true) return end;
            if (left === 0) break;
            const wanted = chunk.value.subarray(before, before + left);
            before = Math.max(0, before - chunk.value.byteLength);
            left -= wanted.byteLength;
            if (wanted.byteLength > 0) return { done: false, value: wanted };
          }
        } catch (error) {
          throw new ObjectStoreError(`Reading ${key} to its end`, { cause: error });
        }
        body?.destroy();
        return end;
      },
      return: async () => {
        body?.destroy();
        return end;
      },
    };
  },
});
