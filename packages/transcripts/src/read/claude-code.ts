import type { Message, ToolResultPart, UserPart } from '@h/turn';
import { answerPart, resultPart, usageOf, userPart } from './anthropic-blocks.js';
import { TranscriptBuilder } from './builder.js';
import { activeBranch, queuedIn } from './claude-code-branch.js';
import { objectIn, objectsIn, parseLines, textIn, timeIn, type Json, type JsonLine } from '../json.js';
import { Notes } from '../notes.js';
import type { Transcript } from '../transcript.js';

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
      : objectsIn(message, 'content').flatMap((block) => answerPart(block, builder.notes, line));
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
