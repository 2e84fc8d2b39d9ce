import { artifactSettings, mediaTypeOf, newArtifactId } from './settings.js';
import {
  ArtifactNotFoundError,
  checkQuota,
  type ArtifactInput,
  type ArtifactStore,
  type ArtifactStoreOptions,
} from './store.js';

interface MemorySession {
  readonly artifacts: Map<string, ArtifactInput>;
  bytes: number;
  usedAt: number;
}

/**
 * Stores artifacts in memory. They are lost when the process exits.
 *
 * @throws InvalidOptionError
 */
export const memoryArtifacts = (options: ArtifactStoreOptions = {}): ArtifactStore => {
  const settings = artifactSettings('memoryArtifacts', options, 256 * 1024 * 1024);
  const sessions = new Map<string, MemorySession>();
  const current = (session: string): MemorySession | undefined => {
    const found = sessions.get(session);
    if (found !== undefined) found.usedAt = settings.now();
    return found;
  };
  const dropExpired = (): void => {
    for (const [session, { usedAt }] of sessions) {
      if (settings.now() - usedAt > settings.ttlMs) sessions.delete(session);
    }
  };
  return {
    put: (artifact) => {
      dropExpired();
      const bytes = sizeInMemory(artifact.content);
      const session = current(artifact.session) ?? { artifacts: new Map(), bytes: 0, usedAt: settings.now() };
      let total = 0;
      for (const each of sessions.values()) total += each.bytes;
      checkQuota(bytes, { total, session: session.bytes }, settings);
      const id = newArtifactId();
      const content = typeof artifact.content === 'string' ? artifact.content : Uint8Array.from(artifact.content);
      session.artifacts.set(id, { ...artifact, content });
      session.bytes += bytes;
      sessions.set(artifact.session, session);
      return { id, size: content.length, mediaType: mediaTypeOf(artifact) };
    },
    read: (session, id, { offset = 0, length = Infinity } = {}) => {
      dropExpired();
      const found = current(session)?.artifacts.get(id);
      if (found === undefined) throw new ArtifactNotFoundError(id);
      const { content } = found;
      return {
        content: content.slice(offset, offset + length),
        offset,
        size: content.length,
        mediaType: mediaTypeOf(found),
        external: found.external === true,
      };
    },
    list: (session) => {
      dropExpired();
      const artifacts = sessions.get(session)?.artifacts ?? new Map<string, ArtifactInput>();
      return [...artifacts].map(([id, found]) => ({ id, size: found.content.length, mediaType: mediaTypeOf(found) }));
    },
    delete: (session, id) => {
      const from = sessions.get(session);
      const found = from?.artifacts.get(id);
      if (from === undefined || found === undefined) return;
      from.artifacts.delete(id);
      from.bytes -= sizeInMemory(found.content);
    },
    deleteSession: (session) => {
      sessions.delete(session);
    },
  };
};

/** Counts two bytes per character, the maximum. */
const sizeInMemory = (content: string | Uint8Array): number =>
  typeof content === 'string' ? content.length * 2 : content.byteLength;
