import { codeAt, is, key } from '../text/characters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isHash, isPlaceholder, looksRandom } from '../values/value.js';

const slash = 47;
const colon = 58;
const at = 64;
const letterP = 112;
const letterS = 115;
const digit0 = 48;
const digit9 = 57;
const maxUrl = 320;

/** Tests quickly for the words that make a part of a path a key. */
const mayBeKeyed =
  /rpc|mcp|net|eth|sepolia|goerli|holesky|hoodi|amoy|solana|polygon|polkadot|arbitrum|optimism|avalanche|bsc|hook|block|chain|ping\.|key|token|reset|magic|invit|activat|confirm|verif|unlock|time|rss|cal\/|\/t\//i;
/** Matches the host and the path behind the scheme of an address. */
const address = /^:\/\/([\w.-]{1,80}(?::\d{1,5})?)((?:\/[\w.~@:%-]{0,128}){1,8})/;
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;
/** Matches a number of a machine in hexadecimal, but not the address of an account. */
const hexKey = /^[\da-f]{24,64}$/;
/** Matches words for chains of blocks, calls of procedures, hooks and checks, which have a key in their addresses. */
const keyedHost =
  /(?:^|[./-])(?:j?son-?rpc|rpc|mcp|(?:main|test|dev)net|eth(?:ereum)?|sepolia|goerli|holesky|hoodi|amoy|solana|polygon|polkadot|arbitrum|optimism|avalanche|bsc|hooks?|webhooks?)(?=[./:-]|$)|block|chain|rpc|ping\./i;
/** Matches the parts of a path that say how a service is called, and the networks that it calls. */
const calling =
  /^(?:v\d{1,2}|wss?|https?|mcp|s|sse|servers?|(?:json-?)?rpc|api|eth|evm|ext|bc|[a-z]{3,12}net|hooks?|webhooks?|ping|)$/i;
/** Matches the part of a path before a key that is valid once or stands for a login. */
const leading =
  /^(?:webhooks?|hooks?|rpc|api-?keys?|keys?|tokens?|(?:password[-_]?)?reset(?:[-_]?password)?|magic(?:[-_]?link)?|invit\w*|activat\w*|confirm\w*|verif\w*|unlock|one-?time\w*|rss|i?cal|t)$/i;
/** Minimum length of a key, and of a part of the address of a hook. */
const minRandom = 20;
const minPart = 16;
/** Matches the ids and the key of a hook. */
const hookPath = /\/(?:web)?hooks?\/((?:\d{5,24}\/)?[\w-]{8,128}(?:\/[\w-]{8,128}){0,2})$/;

/** Returns quickly whether an address may begin at a colon, or a cluster and a port with a key may be around it. */
export const mayHavePathKey = (text: string, index: number): boolean => {
  const next = codeAt(text, index + 1);
  const last = codeAt(text, index - 1);
  if (next === slash) return (last === letterS || last === letterP) && hasLongPart(text, index + 3);
  if (!(next >= digit0 && next <= digit9)) return false;
  let end = index + 2;
  while (end < index + 7 && codeAt(text, end) >= digit0 && codeAt(text, end) <= digit9) end += 1;
  return (
    end >= text.length || (codeAt(text, end) === slash && joining.test(text.slice(Math.max(0, index - 64), index)))
  );
};

/** Matches the cluster that a node joins. */
const joining = /\bjoin [\w.-]{1,58}$/;

/** Whether an address has a part of its path that is as long as a key, or the text ends before. */
const hasLongPart = (text: string, from: number): boolean => {
  let start = text.length;
  for (let index = from; index < from + maxUrl; index += 1) {
    const code = codeAt(text, index);
    if (Number.isNaN(code)) return true;
    if (code === slash) start = index;
    else if (!is(code, key) && code !== colon && code !== at) return false;
    else if (index - start >= minPart) return true;
  }
  return false;
};

/** Matches the port of a cluster and the key of a node. */
const joined = /^:\d{2,5}\/([\da-f]{32}(?:\/[\da-f]{8,64})?)(?![\w/-])/;

/** Finds the key in `https://mainnet.…/v3/…`, `https://…/reset/…` and `join 10.0.0.1:25000/…`. Called for the colon. */
export const findPathKey = (reader: Reader, index: number): Secret | undefined => {
  if (reader.code(index + 1) !== slash) {
    const value = joined.exec(reader.slice(index, index + 112))?.[1];
    const isJoined = joining.test(reader.text.slice(Math.max(reader.barrier, index - 64), index));
    const start = value === undefined ? 0 : reader.text.indexOf(value, index);
    return value === undefined || !isJoined ? undefined : { kind: 'path', start, end: start + value.length };
  }
  const found = address.exec(reader.slice(index, index + maxUrl));
  if (found === null || !mayBeKeyed.test(found[0])) return undefined;
  const [, host = '', path = ''] = found;
  const hook = hookPath.exec(path);
  if (
    hook !== null &&
    looksRandom(hook[1] ?? '') &&
    !isPlaceholder(hook[1] ?? '') &&
    !path.includes(reader.replacement)
  ) {
    const end = index + 3 + host.length + hook.index + hook[0].length;
    return { kind: 'path', start: end - (hook[1] ?? '').length, end };
  }
  const parts = path.split('/');
  let start = index + 3 + host.length;
  for (const [place, part] of parts.entries()) {
    const before = parts.slice(1, place);
    if (place > 0 && isKey(part, before, host, path)) {
      return part.includes(reader.replacement) ? undefined : { kind: 'path', start, end: start + part.length };
    }
    start += part.length + 1;
  }
  return undefined;
};

/** Whether a part of a path is a key, by the host and the parts before it. */
const isKey = (part: string, before: readonly string[], host: string, path: string): boolean => {
  if (part.length < minRandom || isPlaceholder(part)) return false;
  const isId = uuid.test(part.replace(/^[a-z]{2}-/, '')) || hexKey.test(part);
  const isRandom = /^[\w-]+$/.test(part) && looksRandom(part);
  if (!isId && !isRandom) return false;
  if (before.every((one) => calling.test(one)) && keyedHost.test(host + path.replace(part, ''))) return true;
  const lead = before.findLast((one) => !/^\d*$/.test(one)) ?? '';
  return leading.test(lead) && ((isRandom && !isHash(part)) || /hook/i.test(lead) || /^[a-z]{2}-/.test(part));
};
