import { cutMiddle } from '@h/bounded';
import { visibleLine } from '@h/options';
import type { JSONObject, JSONValue, Message, UserMessage } from '@h/turn';
import type { FileLists } from './files.js';
import type { IdentifierKind, RankedIdentifier } from './identifiers.js';

/** The parts of a summary. */
export interface SummaryParts {
  /** The first request of the user, verbatim. */
  readonly firstRequest: string | undefined;
  /** Its maximum length, in characters. */
  readonly maxRequestChars: number;
  /** The text of the summarizer. */
  readonly body: string;
  /** Identifiers that the body lacks. */
  readonly ledger: readonly RankedIdentifier[];
  /** The number of identifiers without room in the ledger. */
  readonly dropped: number;
  readonly files: FileLists;
  /** The reference to the archived history. */
  readonly archive: string | undefined;
  /** Whether another model continues from here. */
  readonly isForNewModel: boolean;
}

/** A summary in a history. */
export interface SummaryEntry {
  readonly message: UserMessage;
  readonly firstRequest: string | undefined;
  readonly body: string;
  readonly ledger: readonly RankedIdentifier[];
  readonly files: FileLists;
}

const kind = 'summary';
const maxFiles = 40;

/** The message that replaces summarized messages, marked for models and for the next compaction. */
export const summaryMessage = (parts: SummaryParts): UserMessage => {
  const { body, files } = parts;
  const first = parts.firstRequest === undefined ? undefined : cutMiddle(parts.firstRequest, parts.maxRequestChars);
  return {
    role: 'user',
    content: [
      opening,
      ...(parts.isForNewModel ? [newModelNote] : []),
      ...(first === undefined ? [] : [`${firstHeading}\n${contained(first)}`]),
      `## What has happened\n${contained(body)}`,
      ...ledgerSection(parts),
      ...fileSection(files),
      ...(parts.archive === undefined
        ? []
        : [`The full history up to here is kept; it can be found as ${parts.archive}.`]),
      closing,
    ].join('\n\n'),
    metadata: {
      internal: true,
      kind,
      compaction: {
        v: 1,
        body,
        ledger: parts.ledger.map(({ kind: sort, value, weight }) => [sort, value, weight]),
        read: files.read.slice(-maxKept),
        modified: files.modified.slice(-maxKept),
        ...(first !== undefined && { ask: first }),
      },
    },
  };
};

/** The number of files that a summary inherits. */
const maxKept = 200;

/** Reads a summary from a message. A message that only looks like one, such as a user's, is not a summary. */
export const summaryEntryOf = (message: Message): SummaryEntry | undefined => {
  if (message.role !== 'user' || message.metadata?.kind !== kind) return undefined;
  const kept = message.metadata['compaction'] as JSONObject | undefined;
  if (kept?.['v'] !== 1 || typeof kept['body'] !== 'string') return undefined;
  const firstRequest = typeof kept['ask'] === 'string' ? kept['ask'] : undefined;
  const files = { read: texts(kept['read']), modified: texts(kept['modified']) };
  return { message, firstRequest, body: kept['body'], ledger: ledgerOf(kept['ledger']), files };
};

const ledgerOf = (value: JSONValue | undefined): readonly RankedIdentifier[] =>
  !Array.isArray(value)
    ? []
    : (value as readonly JSONValue[]).flatMap((item) => {
        const [sort, name, weight] = Array.isArray(item) ? (item as readonly JSONValue[]) : [];
        return typeof sort === 'string' && typeof name === 'string' && typeof weight === 'number'
          ? [{ kind: sort as IdentifierKind, value: name, weight }]
          : [];
      });

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** The list of identifiers that a body lacks. */
export const ledgerSection = ({ ledger, dropped }: Pick<SummaryParts, 'ledger' | 'dropped'>): readonly string[] => {
  if (ledger.length === 0) return [];
  const more = dropped > 0 ? `\n(${dropped} more were left out for lack of room.)` : '';
  return [`## Identifiers, word by word\n${ledger.map(({ value }) => `- ${value}`).join('\n')}${more}`];
};

const fileSection = ({ read, modified }: FileLists): readonly string[] => {
  const lines = [...fileLine('Modified', modified), ...fileLine('Read', read)];
  return lines.length === 0 ? [] : [`## Files\n${lines.join('\n')}`];
};

const fileLine = (what: string, paths: readonly string[]): readonly string[] => {
  if (paths.length === 0) return [];
  const more = paths.length > maxFiles ? ` and ${paths.length - maxFiles} more before these` : '';
  return [`${what}: ${contained(paths.slice(-maxFiles).map(visibleLine).join(', '))}${more}`];
};

const opening =
  '[Summary of the conversation up to here, written by the harness to save space. It is a reference: it reports what has ' +
  'happened and asks for nothing. What it mentions as asked and done is done. All tools are still there; use them as before. ' +
  'Continue with what the user asks for below.]';

const newModelNote =
  '## Change of model\nAnother model worked on this before you. You are the orchestrator of this session now. Sub-agents that may ' +
  'still be running are your subordinates: supervise them and give them directions, and do not repeat their work. The next ' +
  'action is under "What has happened"; begin with it.';

const closing = '[End of the summary]';
const firstHeading = '## What the user asked for first, word by word';

/** Starts of marks with which a text could end the summary, or speak for the user. */
const ownMarks = /\[(?=\s{0,20}(?:summary of the conversation|end of the summary)\b)|#(?= {0,20}what the user asked)/gi;

/** Breaks the marks of a summary in a text: a model wrote it, after what tools returned. */
const contained = (text: string): string => text.replaceAll(ownMarks, (start) => (start === '[' ? '[quoted: ' : '\\#'));
