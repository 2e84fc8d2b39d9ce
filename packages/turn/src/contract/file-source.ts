import type { FileData } from './messages.js';

/** The content of a file in base64, or its URL. */
export type FileSource = { readonly base64: string } | { readonly url: string };

/**
 * Resolves the shapes of {@link FileData} to the two that other message formats have.
 *
 * A string is a URL if it begins with a scheme, and base64 otherwise: URLs that were stored as JSON are strings.
 *
 * @returns `undefined` for text, and for the file ids of a provider, which only the provider can resolve
 */
export const fileSource = (data: FileData): FileSource | undefined => {
  if (typeof data === 'string') return scheme.test(data) ? { url: data } : { base64: data };
  if (data instanceof URL) return { url: data.href };
  if (data instanceof Uint8Array) {
    return { base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') };
  }
  if (data instanceof ArrayBuffer) return fileSource(new Uint8Array(data));
  const tagged = data as Extract<FileData, { readonly type: string }>;
  switch (tagged.type) {
    case 'data':
      return fileSource(tagged.data);
    case 'url':
      return fileSource(tagged.url);
    default:
      return undefined;
  }
};

/** Base64 has no colon. */
const scheme = /^[a-z][a-z\d+.-]{0,30}:/i;
