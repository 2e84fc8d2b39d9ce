import type { RedactionStream, Redactor } from '@h/redact';
import type { JSONValue, TurnEventOf } from '@h/turn';

/** Redacts progress reports of running tools. */
export interface ProgressRedaction {
  readonly progress: (event: TurnEventOf<'tool.progress'>) => TurnEventOf<'tool.progress'>;
  /** Releases the streams of a finished call. */
  readonly end: (call: string) => void;
}

/** Member names that hold chunks of an output. */
const pieces: ReadonlySet<string> = new Set(['text', 'output', 'stdout', 'stderr', 'chunk', 'delta']);
/** Member names that hold a window of the output, which can start and end anywhere. */
const windows: ReadonlySet<string> = new Set(['latest', 'tail']);

/**
 * Redacts the reports of the running calls of one turn.
 *
 * Pieces of an output are a stream for each call: joined, they are what redaction makes of the whole output, and an end
 * that may become a secret follows with the next piece. A window is redacted alone: a beginning that looks like the
 * rest of a token or of a private key is replaced, because its prefix may have been cut off, and an undecided end is
 * not shown.
 */
export const progressRedaction = (redactor: Redactor): ProgressRedaction => {
  const calls = new Map<string, Map<string, RedactionStream>>();
  const streamOf = (call: string, member: string): RedactionStream => {
    const streams = calls.get(call) ?? new Map<string, RedactionStream>();
    const stream = streams.get(member) ?? redactor.stream();
    calls.set(call, streams.set(member, stream));
    return stream;
  };
  const shown = (call: string, name: string, value: JSONValue): JSONValue => {
    if (typeof value !== 'string') return redactor.redactData({ [name]: value })[name] ?? value;
    if (pieces.has(name)) return streamOf(call, name).push(value);
    if (windows.has(name)) return redactor.stream().push(withoutRest(value, redactor.replacement));
    return redactor.redactData({ [name]: value })[name] ?? value;
  };
  return {
    progress: (event) => {
      const { call, progress } = event;
      if (typeof progress === 'string') return withProgress(event, streamOf(call.id, '').push(progress));
      if (!isRecord(progress)) return withProgress(event, redactor.redactData(progress));
      const members = Object.entries(progress).map(([name, value]) => [name, shown(call.id, name, value)] as const);
      const isSame = members.every(([name, value]) => value === progress[name]);
      return isSame ? event : withProgress(event, Object.fromEntries(members));
    },
    end: (call) => void calls.delete(call),
  };
};

const withProgress = (event: TurnEventOf<'tool.progress'>, progress: JSONValue): TurnEventOf<'tool.progress'> =>
  progress === event.progress ? event : { ...event, progress };

const isRecord = (value: JSONValue): value is Record<string, JSONValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const keyRest = /^[A-Za-z0-9+/=\s]{1,4000}(?=-----END [A-Z0-9 ]{0,30}PRIVATE KEY)/;
const tokenRest = /^[\w+/=-]{12,512}(?=$|[\s"'`,;)&])/;

/** Replaces the rest of a secret that began before the text. */
const withoutRest = (text: string, replacement: string): string => {
  const key = keyRest.exec(text)?.[0];
  if (key !== undefined) return replacement + text.slice(key.length);
  const token = tokenRest.exec(text)?.[0];
  const isLikely =
    token !== undefined && /\d/.test(token) && /[a-z]/i.test(token) && !/^[\w]+[-/]\w+(?:[-/]\w+)*$/.test(token);
  return isLikely ? replacement + text.slice(token.length) : text;
};
