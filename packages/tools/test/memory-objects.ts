import { checkKey, chunksOf, type ObjectStore } from '../src/objects/object-store.js';

interface MemoryObject {
  readonly content: Uint8Array;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Stores objects in memory, for tests. */
export const memoryObjects = (): ObjectStore => {
  const objects = new Map<string, MemoryObject>();
  const infoOf = ({ content, metadata }: MemoryObject) => ({ bytes: content.byteLength, metadata: { ...metadata } });
  return {
    put: async (key, content, options = {}) => {
      checkKey(key);
      const chunks: Uint8Array[] = [];
      for await (const chunk of chunksOf(key, content, 65_536, options)) chunks.push(chunk);
      if (options.ifAbsent === true && objects.has(key)) return { isStored: false };
      objects.set(key, { content: Buffer.concat(chunks), metadata: { ...options.metadata } });
      return { isStored: true };
    },
    get: async (key, { offset = 0, length = Infinity } = {}) => {
      const found = objects.get(checkKey(key));
      if (found === undefined) return undefined;
      const range = found.content.slice(offset, offset + length);
      return {
        ...infoOf(found),
        content: (async function* read() {
          if (range.byteLength > 0) yield range;
        })(),
      };
    },
    head: async (key) => {
      const found = objects.get(checkKey(key));
      return found === undefined ? undefined : infoOf(found);
    },
    list: async function* list(prefix) {
      for (const [key, { content }] of objects) {
        if (key.startsWith(prefix)) yield { key, bytes: content.byteLength };
      }
    },
    delete: async (keys) => {
      for (const key of keys) objects.delete(checkKey(key));
    },
  };
};
