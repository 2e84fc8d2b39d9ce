import { createHash } from 'node:crypto';
import type { ChildRecord } from '../child/record.js';

/** Returns the file name of a record: a hash, because an id may contain any character. */
export const recordFile = (id: string): string =>
  `${createHash('sha256').update(JSON.stringify(id)).digest('hex').slice(0, 32)}${ending}`;

export const isRecordFile = (name: string): boolean => /^[0-9a-f]{32}\.json$/.test(name);

const ending = '.json';

/** Parses a record: `later` if a later release wrote it, `undefined` if it is not valid. */
export const readRecord = (text: string): ChildRecord | 'later' | undefined => {
  const found = parse(text) as Partial<ChildRecord> | null | undefined;
  if (typeof found !== 'object' || found === null) return undefined;
  if (typeof found.v === 'number' && found.v > 1) return 'later';
  const texts = [found.id, found.agent, found.task, found.session, found.turn, found.parent, found.root];
  const isEnd =
    found.end === undefined ||
    (typeof found.end === 'object' &&
      found.end !== null &&
      typeof found.end.status === 'string' &&
      typeof found.end.text === 'string');
  const isWhole =
    found.v === 1 &&
    texts.every((each) => typeof each === 'string') &&
    (found.receiver === 'parent' || found.receiver === 'caller') &&
    Number.isFinite(found.depth) &&
    Number.isFinite(found.spawnedAt);
  return isWhole && isEnd ? (found as ChildRecord) : undefined;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
