import { ArtifactNotFoundError, type ArtifactStore } from '@h/tools';
import { StationError } from '../service/session-id.js';

/** Characters or bytes of a response without a range. */
const maxLength = 64 * 1024 * 1024;

/** Media types that a browser may show. Everything else is downloaded: HTML and SVG would run scripts. */
const shownTypes =
  /^(?:image\/(?:png|jpeg|gif|webp|avif)|text\/plain|application\/json|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

/** Returns an artifact. Ranges of text count characters, like those of the artifact store. */
export const readRange = async (
  artifacts: ArtifactStore,
  session: string,
  id: string,
  range: string | null,
): Promise<Response> => {
  try {
    const { size, mediaType } = await artifacts.read(session, id, { offset: 0, length: 0 });
    const wanted = range === null ? undefined : rangeIn(range, size);
    if (wanted === 'unsatisfiable') {
      return new Response(null, { status: 416, headers: { 'content-range': `bytes */${size}` } });
    }
    const { offset = 0, length = Math.min(size, maxLength) } = wanted ?? {};
    const { content } = await artifacts.read(session, id, { offset, length });
    const isText = typeof content === 'string';
    const isShown = shownTypes.test(mediaType.split(';')[0]?.trim() ?? '');
    const isPart = wanted !== undefined || length < size;
    return new Response(isText ? content : new Uint8Array(content), {
      status: isPart ? 206 : 200,
      headers: {
        'content-type': isText ? `${mediaType.split(';')[0] ?? 'text/plain'}; charset=utf-8` : mediaType,
        'accept-ranges': 'bytes',
        'content-disposition': isShown ? 'inline' : 'attachment',
        'content-security-policy': "default-src 'none'; sandbox",
        ...(isPart && { 'content-range': `bytes ${offset}-${offset + length - 1}/${size}` }),
      },
    });
  } catch (error) {
    if (error instanceof ArtifactNotFoundError) throw new StationError(404, 'unknown-artifact', error.message);
    throw error;
  }
};

const rangeIn = (header: string, size: number): { offset: number; length: number } | 'unsatisfiable' | undefined => {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim());
  if (!found || (found[1] === '' && found[2] === '')) return undefined;
  const [, first = '', last = ''] = found;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (offset >= size || end < offset) return 'unsatisfiable';
  return { offset, length: Math.min(end - offset + 1, maxLength) };
};
