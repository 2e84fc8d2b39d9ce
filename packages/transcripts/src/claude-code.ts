import type { AssistantPart, FilePart, Message, ToolResultPart, UserPart, Usage } from '@h/turn';
import { TranscriptBuilder } from './builder.js';
import { activeBranch, queuedIn } from './claude-code-branch.js';
import {
  isObject,
  numberIn,
  objectIn,
  objectsIn,
  parseLines,
  textIn,
  timeIn,
  wordIn,
  type Json,
  type JsonLine,
} from './json.js';
import { Notes } from './notes.js';
import { outputOf, type ResultPiece } from './tool-output.js';
import type { Transcript } from './transcript.js';

/**
 * Parses a session of Claude Code: the branch that was used last, from its last compaction.
 *
 * One answer consists of several entries with the same message id, and results of parallel calls have the entry of
 * their call as the parent. Both are merged.
 */
export const parseClaudeCode = (text: string): Transcript => {
  const notes = new Notes();
  const lines = parseLines(text, notes);
  const builder = new TranscriptBuilder(notes);
  let answer: string | undefined;
  for (const { line, value } of activeBranch(lines, notes)) {
    const message = objectIn(value, 'message');
    const id = textIn(message, 'id');
    const queued = queuedIn(value);
    if (queued) addQueued(builder, queued, timeIn(value, 'timestamp'), line);
    else if (value['type'] === 'assistant') addAnswer(builder, value, message, line, id !== undefined && id === answer);
    else addUser(builder, value, message, line);
    answer = value['type'] === 'assistant' ? id : answer;
  }
  const session = lines.map(({ value }) => textIn(value, 'sessionId')).find((id) => id !== undefined);
  const title = titleOf(lines);
  return builder.finish('claude-code', {
    ...(session !== undefined && { session }),
    ...(title !== undefined && { title }),
  });
};

/** Returns the title that the user chose, or otherwise the generated one. */
const titleOf = (lines: readonly JsonLine[]): string | undefined => {
  const latest = (type: string, key: string): string | undefined => {
    const entry = lines.findLast(({ value }) => value['type'] === type);
    return entry && textIn(entry.value, key);
  };
  return latest('custom-title', 'customTitle') ?? latest('summary', 'summary') ?? latest('ai-title', 'aiTitle');
};

/** Parses a message that arrived during a turn, from a user or a background task. */
const addQueued = (builder: TranscriptBuilder, queued: Json, at: number | undefined, line: number): void => {
  const text = textIn(queued, 'prompt');
  const content = text ?? objectsIn(queued, 'prompt').flatMap((block) => userPart(block, builder.notes, line));
  const isPerson =
    ['prompt', undefined].includes(textIn(queued, 'commandMode')) &&
    [undefined, 'human'].includes(textIn(objectIn(queued, 'origin'), 'kind'));
  builder.add({ role: 'user', content, ...(!isPerson && { metadata: { internal: true } }) }, { at });
};

const addAnswer = (builder: TranscriptBuilder, entry: Json, message: Json, line: number, isSame: boolean): void => {
  if (entry['isApiErrorMessage'] === true || message['model'] === '<synthetic>') {
    builder.notes.dropped('an error that was displayed as an answer', line);
    return;
  }
  const content = message['content'];
  const parts =
    typeof content === 'string'
      ? [{ type: 'text', text: content } as const]
      : objectsIn(message, 'content').flatMap((block) => assistantPart(block, builder.notes, line));
  if (parts.length === 0) return;
  // Each entry of an answer repeats its total usage.
  const info = {
    at: timeIn(entry, 'timestamp'),
    model: textIn(message, 'model'),
    ...(!isSame && { usage: usageOf(objectIn(message, 'usage')) }),
  };
  if (isSame) builder.addToAnswer(parts, info);
  else builder.add({ role: 'assistant', content: parts }, info);
};

const assistantPart = (block: Json, notes: Notes, line: number): readonly AssistantPart[] => {
  const type = wordIn(block, 'type');
  switch (type) {
    case 'text':
      return [{ type, text: textIn(block, 'text') ?? '' }];
    case 'thinking':
      return [
        {
          type: 'reasoning',
          text: textIn(block, 'thinking') ?? '',
          ...anthropic('signature', textIn(block, 'signature')),
        },
      ];
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', ...anthropic('redactedData', textIn(block, 'data')) }];
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          toolCallId: textIn(block, 'id') ?? '',
          toolName: textIn(block, 'name') ?? '',
          input: block['input'] ?? {},
        },
      ];
    default:
      notes.dropped(`a block of the type ${type} in an answer`, line);
      return [];
  }
};

const anthropic = (key: string, value: string | undefined) =>
  value === undefined ? {} : { providerOptions: { anthropic: { [key]: value } } };

const addUser = (builder: TranscriptBuilder, entry: Json, message: Json, line: number): void => {
  const info = { at: timeIn(entry, 'timestamp') };
  if (typeof entry['toolUseResult'] === 'object') {
    builder.notes.dropped('details of a tool besides its result (toolUseResult)', line);
  }
  const content = message['content'];
  if (typeof content === 'string') {
    builder.add({ role: 'user', content, ...metadataOf(entry, [content]) }, info);
    return;
  }
  const results: ToolResultPart[] = [];
  const parts: UserPart[] = [];
  for (const block of objectsIn(message, 'content')) {
    if (block['type'] === 'tool_result') results.push(resultPart(builder, block, line));
    else parts.push(...userPart(block, builder.notes, line));
  }
  if (results.length > 0) builder.addResults(results, info);
  const texts = parts.map((part) => (part.type === 'text' ? part.text : ''));
  if (parts.length > 0) {
    builder.add({ role: 'user', content: parts, ...metadataOf(entry, texts) } satisfies Message, info);
  }
};

const metadataOf = (entry: Json, texts: readonly string[]): Pick<Message, 'metadata'> => {
  if (entry['isCompactSummary'] === true) return { metadata: { internal: true, kind: 'summary' } };
  return entry['isMeta'] === true || texts.every((text) => ownWords.test(text)) ? { metadata: { internal: true } } : {};
};

/** Recognizes messages that Claude Code itself writes as the user. */
const ownWords = /^\s*<(system-reminder|(local-command|bash)-std(out|err)|task-notification)>/;

const userPart = (block: Json, notes: Notes, line: number): readonly UserPart[] => {
  if (block['type'] === 'text') return [{ type: 'text', text: textIn(block, 'text') ?? '' }];
  const file =
    block['type'] === 'image' || block['type'] === 'document' ? fileOf(objectIn(block, 'source')) : undefined;
  if (file) return [file];
  notes.dropped(`a block of the type ${wordIn(block, 'type')} in a message`, line);
  return [];
};

const fileOf = (source: Json): FilePart | undefined => {
  const data = textIn(source, 'data');
  const url = textIn(source, 'url');
  if (source['type'] === 'base64' && data !== undefined) {
    return { type: 'file', data, mediaType: textIn(source, 'media_type') ?? 'image/*' };
  }
  return url !== undefined && URL.canParse(url)
    ? { type: 'file', data: new URL(url), mediaType: 'image/*' }
    : undefined;
};

const resultPart = (builder: TranscriptBuilder, block: Json, line: number): ToolResultPart => {
  const toolCallId = textIn(block, 'tool_use_id') ?? '';
  const content = block['content'];
  const pieces = Array.isArray(content)
    ? content.filter(isObject).flatMap((piece) => pieceOf(piece, builder.notes, line))
    : (textIn(block, 'content') ?? '');
  return {
    type: 'tool-result',
    toolCallId,
    toolName: builder.toolOf(toolCallId),
    output: outputOf({ content: pieces, isError: block['is_error'] === true }),
  };
};

const pieceOf = (piece: Json, notes: Notes, line: number): readonly ResultPiece[] => {
  if (piece['type'] === 'text') return [{ text: textIn(piece, 'text') ?? '' }];
  const source = objectIn(piece, 'source');
  const base64 = textIn(source, 'data');
  if (piece['type'] === 'image' && base64 !== undefined) {
    return [{ base64, mediaType: textIn(source, 'media_type') ?? 'image/*' }];
  }
  notes.dropped(`a block of the type ${wordIn(piece, 'type')} in a result`, line);
  return [];
};

/** Parses usage. Cached tokens are counted separately; our `input` includes them. */
const usageOf = (usage: Json): Usage => {
  const cacheRead = numberIn(usage, 'cache_read_input_tokens');
  const cacheWrite = numberIn(usage, 'cache_creation_input_tokens');
  return {
    input: numberIn(usage, 'input_tokens') + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: numberIn(usage, 'output_tokens'),
    reasoning: 0,
  };
};
