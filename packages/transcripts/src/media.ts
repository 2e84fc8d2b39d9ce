import { fileSource, type FileData, type FilePart, type FileSource, type ImagePart } from '@h/turn';

/** A file as base64 or as a URL; `undefined` if it is neither. */
export const dataOf = (
  part: FilePart | ImagePart | { readonly type: 'file'; readonly data: FileData },
): FileSource | undefined => fileSource(part.type === 'image' ? part.image : part.data);

/** Returns the URL of a file, or its content as a `data:` URL. */
export const urlOf = (part: Parameters<typeof dataOf>[0], mediaType: string): string | undefined => {
  const data = dataOf(part);
  if (!data) return undefined;
  return 'url' in data ? data.url : `data:${mediaType};base64,${data.base64}`;
};

const dataPrefix = /^data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.+-]+=[\w.+-]*)*;base64,/;
const maxDataPrefix = 200;

/** Creates a file from a URL. The content of a `data:` URL in base64 is its data. */
export const fileFrom = (url: string, fallback = 'image/*'): FilePart | undefined => {
  const found = dataPrefix.exec(url.slice(0, maxDataPrefix));
  if (found) return { type: 'file', data: url.slice(found[0].length), mediaType: found[1] ?? fallback };
  return URL.canParse(url) ? { type: 'file', data: new URL(url), mediaType: fallback } : undefined;
};

export const mediaTypeOf = (part: FilePart | ImagePart): string => part.mediaType ?? 'image/*';
