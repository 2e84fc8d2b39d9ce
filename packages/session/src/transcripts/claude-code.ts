import type { AssistantPart, FilePart, Message, ToolResultPart, UserPart, Usage } from '@h/turn';
import { TranscriptBuilder } from './builder.js';
import { isObject, numberIn, objectIn, objectsIn, parseLines, textIn, timeIn, type Json, type JsonLine } from './json.js';
import { Notes } from './notes.js';
import { outputOf, type ResultPiece } from './tool-output.js';
import type { Transcript } from './transcript.js';

/**
 * Reads a session of Claude Code: the branch that was talked on last, since its last compaction.
 *
 * One answer is written as several entries with one message id, and results of parallel calls hang off the entry of
 * their call and not off each other; both are put together again.
 */
export const parseClaudeCode = (text: string): Transcript => {
  const notes = new Notes();
  const lines = parseLines(text, notes);
  const builder = new TranscriptBuilder(notes);
  let answer: string | undefined;
  for (const { line, value } of activeBranch(lines, notes)) {
    const message = objectIn(value, 'message');
    const id = textIn(message, 'id');
    if (value['type'] === 'assistant') addAnswer(builder, value, message, line, id !== undefined && id === answer);
    else addUser(builder, value, message, line);
    answer = value['type'] === 'assistant' ? id : answer;
  }
  const session = lines.map(({ value }) => textIn(value, 'sessionId')).find((id) => id !== undefined);
  const title = lines.findLast(({ value }) => value['type'] === 'summary' || value['type'] === 'custom-title');
  return builder.finish('claude-code', {
    ...(session !== undefined && { session }),
    ...(title && { title: textIn(title.value, 'customTitle') ?? textIn(title.value, 'summary') }),
  });
};

const isSaid = ({ value }: JsonLine): boolean => value['type'] === 'user' || value['type'] === 'assistant';

/** The entries that lead to the last one, in the order of the file, with the results that hang off them. */
const activeBranch = (lines: readonly JsonLine[], notes: Notes): readonly JsonLine[] => {
  for (const { value, line } of lines) {
    const type = String(value['type']);
    if (!['user', 'assistant', 'summary', 'custom-title'].includes(type)) notes.dropped(`an entry of the type ${type}`, line);
  }
  const main = lines.filter(({ value, line }) => {
    const isSide = value['isSidechain'] === true;
    if (isSide) notes.dropped('an entry of a sub-agent', line);
    return !isSide;
  });
  const said = main.filter(isSaid);
  const last = said.at(-1);
  if (!last || textIn(last.value, 'uuid') === undefined) return said;
  const byId = new Map(main.map((each) => [textIn(each.value, 'uuid'), each]));
  const onPath = new Set<JsonLine>();
  for (let at: JsonLine | undefined = last; at && !onPath.has(at); at = byId.get(textIn(at.value, 'parentUuid'))) onPath.add(at);
  const calls = new Set<string | undefined>();
  const answers = new Set([...onPath].map(({ value }) => textIn(objectIn(value, 'message'), 'id')).filter((id) => id !== undefined));
  return said.filter((each) => {
    const message = objectIn(each.value, 'message');
    const blocks = objectsIn(message, 'content');
    const isPart = onPath.has(each) || answers.has(textIn(message, 'id') ?? '') || blocks.some((block) => block['type'] === 'tool_result' && calls.has(textIn(block, 'tool_use_id')));
    if (!isPart) notes.dropped('an entry of another branch, or from before a compaction', each.line);
    else for (const block of blocks) if (block['type'] === 'tool_use') calls.add(textIn(block, 'id'));
    return isPart;
  });
};

const addAnswer = (builder: TranscriptBuilder, entry: Json, message: Json, line: number, isSame: boolean): void => {
  if (entry['isApiErrorMessage'] === true || message['model'] === '<synthetic>') {
    builder.notes.dropped('an error that was shown as an answer', line);
    return;
  }
  const content = message['content'];
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : objectsIn(message, 'content').flatMap((block) => assistantPart(block, builder.notes, line));
  if (parts.length === 0) return;
  // Each entry of an answer repeats the usage of the whole.
  const info = { at: timeIn(entry, 'timestamp'), model: textIn(message, 'model'), ...(!isSame && { usage: usageOf(objectIn(message, 'usage')) }) };
  if (isSame) builder.addToAnswer(parts, info);
  else builder.add({ role: 'assistant', content: parts }, info);
};

const assistantPart = (block: Json, notes: Notes, line: number): readonly AssistantPart[] => {
  const type = String(block['type']);
  switch (type) {
    case 'text':
      return [{ type, text: textIn(block, 'text') ?? '' }];
    case 'thinking':
      return [{ type: 'reasoning', text: textIn(block, 'thinking') ?? '', ...anthropic('signature', textIn(block, 'signature')) }];
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', ...anthropic('redactedData', textIn(block, 'data')) }];
    case 'tool_use':
      return [{ type: 'tool-call', toolCallId: textIn(block, 'id') ?? '', toolName: textIn(block, 'name') ?? '', input: block['input'] ?? {} }];
    default:
      notes.dropped(`a block of the type ${type} in an answer`, line);
      return [];
  }
};

const anthropic = (key: string, value: string | undefined) => (value === undefined ? {} : { providerOptions: { anthropic: { [key]: value } } });

const addUser = (builder: TranscriptBuilder, entry: Json, message: Json, line: number): void => {
  const info = { at: timeIn(entry, 'timestamp') };
  if (typeof entry['toolUseResult'] === 'object') builder.notes.dropped('what a tool said besides its result (toolUseResult)', line);
  const content = message['content'];
  const metadata = metadataOf(entry);
  if (typeof content === 'string') {
    builder.add({ role: 'user', content, ...metadata }, info);
    return;
  }
  const results: ToolResultPart[] = [];
  const parts: UserPart[] = [];
  for (const block of objectsIn(message, 'content')) {
    if (block['type'] === 'tool_result') results.push(resultPart(builder, block, line));
    else parts.push(...userPart(block, builder.notes, line));
  }
  if (results.length > 0) builder.addResults(results, info);
  if (parts.length > 0) builder.add({ role: 'user', content: parts, ...metadata } satisfies Message, info);
};

const metadataOf = (entry: Json): Pick<Message, 'metadata'> => {
  if (entry['isCompactSummary'] === true) return { metadata: { internal: true, kind: 'summary' } };
  return entry['isMeta'] === true ? { metadata: { internal: true } } : {};
};

const userPart = (block: Json, notes: Notes, line: number): readonly UserPart[] => {
  if (block['type'] === 'text') return [{ type: 'text', text: textIn(block, 'text') ?? '' }];
  const file = block['type'] === 'image' || block['type'] === 'document' ? fileOf(objectIn(block, 'source')) : undefined;
  if (file) return [file];
  notes.dropped(`a block of the type ${String(block['type'])} in a message`, line);
  return [];
};

const fileOf = (source: Json): FilePart | undefined => {
  const data = textIn(source, 'data');
  const url = textIn(source, 'url');
  if (source['type'] === 'base64' && data !== undefined) return { type: 'file', data, mediaType: textIn(source, 'media_type') ?? 'image/*' };
  return url !== undefined && URL.canParse(url) ? { type: 'file', data: new URL(url), mediaType: 'image/*' } : undefined;
};

const resultPart = (builder: TranscriptBuilder, block: Json, line: number): ToolResultPart => {
  const toolCallId = textIn(block, 'tool_use_id') ?? '';
  const content = block['content'];
  const pieces = Array.isArray(content) ? content.filter(isObject).flatMap((piece) => pieceOf(piece, builder.notes, line)) : (textIn(block, 'content') ?? '');
  return { type: 'tool-result', toolCallId, toolName: builder.toolOf(toolCallId), output: outputOf({ content: pieces, isError: block['is_error'] === true }) };
};

const pieceOf = (piece: Json, notes: Notes, line: number): readonly ResultPiece[] => {
  if (piece['type'] === 'text') return [{ text: textIn(piece, 'text') ?? '' }];
  const source = objectIn(piece, 'source');
  const base64 = textIn(source, 'data');
  if (piece['type'] === 'image' && base64 !== undefined) return [{ base64, mediaType: textIn(source, 'media_type') ?? 'image/*' }];
  notes.dropped(`a block of the type ${String(piece['type'])} in a result`, line);
  return [];
};

/** The provider counts tokens from the cache apart; our `input` is all of it. */
const usageOf = (usage: Json): Usage => {
  const cacheRead = numberIn(usage, 'cache_read_input_tokens');
  const cacheWrite = numberIn(usage, 'cache_creation_input_tokens');
  return { input: numberIn(usage, 'input_tokens') + cacheRead + cacheWrite, cacheRead, cacheWrite, output: numberIn(usage, 'output_tokens'), reasoning: 0 };
};
