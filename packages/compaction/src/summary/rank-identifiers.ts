import type { Message, ToolResultOutput } from '@h/turn';
import { toJson } from '../counting/message-tokens.js';
import { summaryEntryOf } from './entry.js';
import { extractIdentifiers, type Identifier, type RankedIdentifier } from './identifiers.js';
import { textOfOutput } from './transcript.js';

interface Mention {
  readonly identifier: Identifier;
  weight: number;
  times: number;
  last: number;
}

/** Where it appears decides its importance: in text, in the input of a tool, in the result of a tool. */
const said = 3;
const used = 2;
const returned = 1;

/** Whether it appears in text or in a call; the others appear only in results. */
export const isVital = ({ weight }: RankedIdentifier): boolean => weight >= used;

/**
 * The identifiers of messages, the most important first: progress of batches, then text, then inputs of tools, then the
 * rest; among equals, those that appear more often and later.
 *
 * @param redact - redacts a text before it is read
 */
export const rankIdentifiers = (
  messages: readonly Message[],
  redact: (text: string) => string,
): readonly RankedIdentifier[] => {
  const mentions = new Map<string, Mention>();
  for (const [place, message] of messages.entries()) {
    const entry = summaryEntryOf(message);
    for (const { weight, ...identifier } of entry?.ledger ?? []) note(mentions, identifier, weight, place);
    for (const { text, weight } of entry
      ? [{ text: `${entry.firstRequest ?? ''}\n${entry.body}`, weight: said }]
      : textsOf(message)) {
      for (const identifier of extractIdentifiers(redact(text))) note(mentions, identifier, weight, place);
    }
  }
  return [...mentions.values()]
    .toSorted((left, right) => scoreOf(right) - scoreOf(left) || right.last - left.last)
    .map(({ identifier, weight }) => ({ ...identifier, weight }));
};

const note = (mentions: Map<string, Mention>, identifier: Identifier, weight: number, place: number): void => {
  const key = keyOf(identifier);
  const known = mentions.get(key);
  // A later count of a batch replaces the earlier one.
  if (known?.identifier.value === identifier.value) {
    known.weight = Math.max(known.weight, weight);
    known.times += 1;
    known.last = place;
  } else {
    mentions.set(key, { identifier, weight: Math.max(weight, known?.weight ?? 0), times: 1, last: place });
  }
};

const keyOf = ({ kind, value }: Identifier): string =>
  kind === 'progress' ? `progress:${/\d+$/.exec(value)?.[0]}` : value;

const scoreOf = ({ identifier, weight, times }: Mention): number =>
  (identifier.kind === 'progress' ? 100 : 0) + weight * 10 + Math.min(times, 9);

const textsOf = (message: Message): readonly { readonly text: string; readonly weight: number }[] => {
  if (typeof message.content === 'string') return [{ text: message.content, weight: said }];
  return message.content.flatMap((part) => {
    if (part.type === 'text') return [{ text: part.text, weight: said }];
    if (part.type === 'tool-call') return [{ text: spaced(part.input), weight: used }];
    return part.type === 'tool-result' ? [{ text: resultText(part.output), weight: returned }] : [];
  });
};

const resultText = (output: ToolResultOutput): string =>
  output.type === 'json' || output.type === 'error-json' ? spaced(output.value) : textOfOutput(output);

/** JSON with real line breaks, so that a name at the end of a line is not joined to the next one. */
const spaced = (input: unknown): string => toJson(input).replaceAll(/\\[nrt]/g, ' ');
