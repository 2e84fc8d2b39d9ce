import type { SharedV4FileData } from '@ai-sdk/provider';
import { InvalidInputError, type FileData } from '@h/turn';

/** File data in the provider's shape, and the media type if the data names one. */
export interface PromptFileData {
  readonly data: SharedV4FileData;
  readonly mediaType?: string;
}

/**
 * Converts file data of any shape to the one shape that providers accept.
 *
 * A string is a URL if it parses as one (base64 never does) and base64 otherwise. The content of a `data:` URL is
 * extracted. A URL that was stored as JSON is a string and is recognized as well.
 */
export const toFileData = (data: FileData): PromptFileData => {
  if (typeof data === 'string') return URL.canParse(data) ? fromUrl(data) : inline(data);
  if (data instanceof URL) return fromUrl(data.href);
  if (data instanceof Uint8Array) return inline(data);
  if (data instanceof ArrayBuffer) return inline(new Uint8Array(data));
  if (!('type' in data)) return { data: { type: 'reference', reference: data } };
  return fromTagged(data as Tagged);
};

type Tagged = Extract<FileData, { readonly type: 'data' | 'url' | 'reference' | 'text' }>;

const fromTagged = (tagged: Tagged): PromptFileData => {
  switch (tagged.type) {
    case 'data':
      return toFileData(tagged.data);
    case 'url':
      return fromUrl((tagged as { originalUrl?: string }).originalUrl ?? String(tagged.url));
    case 'reference':
      return toFileData(tagged.reference);
    case 'text':
      return { data: { type: 'text', text: tagged.text } };
    default:
      throw new InvalidInputError(
        `A file has data of the type ${JSON.stringify((tagged as { type: unknown }).type)}; "data", "url", "reference" and "text" are known.`,
      );
  }
};

const inline = (data: string | Uint8Array): PromptFileData => ({ data: { type: 'data', data } });

const fromUrl = (text: string): PromptFileData => {
  const url = new URL(text);
  if (url.protocol === 'data:') return fromDataUrl(text);
  return { data: { type: 'url', url, ...(url.href !== text && { originalUrl: text }) } };
};

const fromDataUrl = (text: string): PromptFileData => {
  const comma = text.indexOf(',');
  if (comma < 0) {
    throw new InvalidInputError(
      `A data: URL has no comma before its content: ${JSON.stringify(text.slice(0, 60))}. Write data:<type>,<content>.`,
    );
  }
  const [mediaType, ...parameters] = text.slice('data:'.length, comma).split(';');
  const content = text.slice(comma + 1);
  const base64 = parameters.includes('base64') ? content : Buffer.from(decodeURIComponent(content)).toString('base64');
  return {
    data: { type: 'data', data: base64 },
    mediaType: mediaType === '' || mediaType === undefined ? 'text/plain' : mediaType,
  };
};
