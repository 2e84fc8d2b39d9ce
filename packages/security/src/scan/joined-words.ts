import type { MayMatch } from './cues.js';
import type { Encoded } from './encoded.js';

/** Words between plus signs, hyphens or low lines, as in queries, addresses and names. */
const joined = /(?<![A-Za-z])[A-Za-z]{2,15}([+_-])[A-Za-z]{1,15}(?:\1[A-Za-z]{1,15}){1,30}(?![A-Za-z])/g;
/** Words of requests that few names contain. */
const telling = /ignore|disregard|forget|instruction|prompt|bypass|overrid|secret|password|credential|reveal/i;
/** One of them next to a sign, a faster test. */
export const joinedRequests = new RegExp(`[+_-](?:${telling.source})|(?:${telling.source})[a-z]{0,3}[+_-]`, 'i');

/** Finds words that signs join in place of spaces. */
export const findJoinedWords = (text: string, mayMatch: MayMatch): readonly Encoded[] =>
  Array.from(mayMatch(joinedRequests) && joinedRequests.test(text) ? text.matchAll(joined) : [])
    .filter(({ 0: match }) => telling.test(match))
    .map(({ 0: match, 1: sign = '', index }) => ({
      start: index,
      end: index + match.length,
      decoded: match.replaceAll(sign, ' '),
      isName: true,
    }));
