import type { AssistantPart, UserPart, Usage } from '@h/turn';
import { TranscriptBuilder } from './builder.js';
import {
  numberIn,
  objectIn,
  objectsIn,
  parsedOr,
  parseLines,
  textIn,
  timeIn,
  wordIn,
  type Json,
  type JsonLine,
} from '../json.js';
import { Notes } from '../notes.js';
import { outputOf, type ResultPiece } from '../tool-output.js';
import type { Transcript } from '../transcript.js';

/** Parses a session of pi: the branch of its last entry, from its last compaction. Supports all three versions. */
export const parsePi = (text: string): Transcript => {
  const notes = new Notes();
  const lines = parseLines(text, notes);
  const builder = new TranscriptBuilder(notes);
  for (const { value, line } of sinceCompaction(activeBranch(lines, notes), builder)) addEntry(builder, value, line);
  const session = lines.find(({ value }) => value['type'] === 'session');
  const name = lines.findLast(({ value }) => value['type'] === 'session_info');
  return builder.finish('pi', {
    ...(session && { session: textIn(session.value, 'id') }),
    ...(name && { title: textIn(name.value, 'name') }),
  });
};

/** Returns the entries from the root to the last one; all entries of a session without branches. */
const activeBranch = (lines: readonly JsonLine[], notes: Notes): readonly JsonLine[] => {
  const entries = lines.filter(({ value }) => value['type'] !== 'session');
  const last = entries.at(-1);
  if (!last || textIn(last.value, 'id') === undefined) return entries;
  const byId = new Map(entries.map((entry) => [textIn(entry.value, 'id'), entry]));
  const path = new Set<JsonLine>();
  for (let at: JsonLine | undefined = last; at && !path.has(at); at = byId.get(textIn(at.value, 'parentId'))) {
    path.add(at);
  }
  return entries.filter((entry) => {
    if (!path.has(entry)) notes.dropped('an entry of another branch', entry.line);
    return path.has(entry);
  });
};

/** Parses what the model would receive: the latest summary, the entries that it preserved, and later ones. */
const sinceCompaction = (path: readonly JsonLine[], builder: TranscriptBuilder): readonly JsonLine[] => {
  const place = path.findLastIndex(({ value }) => value['type'] === 'compaction');
  const compaction = path[place];
  if (!compaction) return path;
  const kept = firstKeptIn(compaction, path);
  const from = kept >= 0 && kept < place ? kept : place;
  for (const { line } of path.slice(0, from)) builder.notes.dropped('an entry from before a compaction', line);
  builder.add(
    { role: 'user', content: textIn(compaction.value, 'summary') ?? '', metadata: { internal: true, kind: 'summary' } },
    { at: timeIn(compaction.value, 'timestamp') },
  );
  return [...path.slice(from, place), ...path.slice(place + 1)];
};

/** Returns the first preserved entry, by its id or, in old sessions, by its position. */
const firstKeptIn = ({ value }: JsonLine, path: readonly JsonLine[]): number => {
  const id = textIn(value, 'firstKeptEntryId');
  if (id !== undefined) return path.findIndex((entry) => textIn(entry.value, 'id') === id);
  // The session is entry 0 and not part of the path.
  return 'firstKeptEntryIndex' in value ? numberIn(value, 'firstKeptEntryIndex') - 1 : -1;
};

const addEntry = (builder: TranscriptBuilder, entry: Json, line: number): void => {
  const type = wordIn(entry, 'type');
  const at = timeIn(entry, 'timestamp');
  if (type === 'message') addMessage(builder, objectIn(entry, 'message'), at, line);
  else if (type === 'custom_message') {
    builder.add(
      { role: 'user', content: userContent(entry, builder.notes, line), metadata: { internal: true } },
      { at },
    );
  } else if (type === 'branch_summary') {
    builder.add(
      { role: 'user', content: textIn(entry, 'summary') ?? '', metadata: { internal: true, kind: 'summary' } },
      { at },
    );
  } else builder.notes.dropped(`an entry of the type ${type}`, line);
};

const addMessage = (builder: TranscriptBuilder, message: Json, at: number | undefined, line: number): void => {
  const role = wordIn(message, 'role');
  switch (role) {
    case 'user':
      builder.add({ role, content: userContent(message, builder.notes, line) }, { at });
      return;
    case 'assistant':
      addAnswer(builder, message, at, line);
      return;
    case 'toolResult': {
      const toolCallId = textIn(message, 'toolCallId') ?? '';
      const given = textIn(message, 'content');
      const content =
        given === undefined
          ? objectsIn(message, 'content').flatMap((piece) => pieceOf(piece, builder.notes, line))
          : [{ text: given }];
      if (message['details'] !== undefined) {
        builder.notes.dropped('details of a tool besides its result', line);
      }
      const [first] = content;
      const isText = content.length === 1 && first !== undefined && 'text' in first;
      const output = outputOf({ content: isText ? first.text : content, isError: message['isError'] === true });
      builder.addResults(
        [
          {
            type: 'tool-result',
            toolCallId,
            toolName: textIn(message, 'toolName') ?? builder.toolOf(toolCallId),
            output,
          },
        ],
        { at },
      );
      return;
    }
    case 'bashExecution':
      if (message['excludeFromContext'] === true) {
        builder.notes.dropped('a user command that was not sent to the model', line);
        return;
      }
      builder.notes.changed('a command of the user became a message', line);
      builder.add(
        {
          role: 'user',
          content: `Ran \`${textIn(message, 'command') ?? ''}\`\n${textIn(message, 'output') ?? ''}`,
          metadata: { internal: true },
        },
        { at },
      );
      return;
    case 'custom':
    case 'hookMessage':
      builder.add(
        { role: 'user', content: userContent(message, builder.notes, line), metadata: { internal: true } },
        { at },
      );
      return;
    default:
      builder.notes.dropped(`a message of the role ${role}`, line);
  }
};

const userContent = (message: Json, notes: Notes, line: number): string | readonly UserPart[] => {
  const text = textIn(message, 'content');
  if (text !== undefined) return text;
  return objectsIn(message, 'content')
    .flatMap((piece) => pieceOf(piece, notes, line))
    .map((piece): UserPart =>
      'text' in piece
        ? { type: 'text', text: piece.text }
        : { type: 'file', data: piece.base64, mediaType: piece.mediaType },
    );
};

const pieceOf = (piece: Json, notes: Notes, line: number): readonly ResultPiece[] => {
  if (piece['type'] === 'text') return [{ text: textIn(piece, 'text') ?? '' }];
  const base64 = textIn(piece, 'data');
  if (piece['type'] === 'image' && base64 !== undefined) {
    return [{ base64, mediaType: textIn(piece, 'mimeType') ?? 'image/*' }];
  }
  notes.dropped(`a part of the type ${wordIn(piece, 'type')}`, line);
  return [];
};

const addAnswer = (builder: TranscriptBuilder, message: Json, at: number | undefined, line: number): void => {
  const stopReason = textIn(message, 'stopReason');
  if (stopReason === 'error' || stopReason === 'aborted') {
    builder.notes.dropped(`the reason of an incomplete answer (${stopReason})`, line);
  }
  const text = textIn(message, 'content');
  const content =
    text === undefined
      ? objectsIn(message, 'content').flatMap((piece) => answerPart(piece, builder.notes, line))
      : [{ type: 'text', text } as const];
  if (content.length > 0) {
    builder.add(
      { role: 'assistant', content },
      { at, model: textIn(message, 'model'), usage: usageOf(objectIn(message, 'usage')) },
    );
  }
};

const answerPart = (piece: Json, notes: Notes, line: number): readonly AssistantPart[] => {
  switch (piece['type']) {
    case 'text':
      return [{ type: 'text', text: textIn(piece, 'text') ?? '', ...signed('textSignature', piece) }];
    case 'thinking':
      return [{ type: 'reasoning', text: textIn(piece, 'thinking') ?? '', ...signed('thinkingSignature', piece) }];
    case 'toolCall':
      return [
        {
          type: 'tool-call',
          toolCallId: textIn(piece, 'id') ?? '',
          toolName: textIn(piece, 'name') ?? '',
          input: inputOf(piece['arguments']),
          ...signed('thoughtSignature', piece),
        },
      ];
    default:
      notes.dropped(`a part of the type ${wordIn(piece, 'type')} in an answer`, line);
      return [];
  }
};

/** Parses arguments. Some descendants of pi write them as a string. */
const inputOf = (given: unknown): unknown => (typeof given === 'string' ? parsedOr(given) : (given ?? {}));

/** Preserves signatures of the provider. */
const signed = (key: string, piece: Json) => {
  const signature = textIn(piece, key);
  return signature === undefined ? {} : { providerOptions: { pi: { [key]: signature } } };
};

/** Parses usage. Cached tokens are counted separately; our `input` includes them. */
const usageOf = (usage: Json): Usage => {
  const [cacheRead, cacheWrite] = [numberIn(usage, 'cacheRead'), numberIn(usage, 'cacheWrite')];
  return {
    input: numberIn(usage, 'input') + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: numberIn(usage, 'output'),
    reasoning: 0,
  };
};
