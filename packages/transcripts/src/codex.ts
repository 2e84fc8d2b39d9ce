import type { AssistantPart, UserPart, Usage } from '@h/turn';
import { TranscriptBuilder } from './builder.js';
import {
  asJson,
  isObject,
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
} from './json.js';
import { fileFrom } from './media.js';
import { Notes } from './notes.js';
import { outputOf, type ResultPiece } from './tool-output.js';
import type { Transcript } from './transcript.js';

/**
 * Parses a rollout of Codex.
 *
 * The items of one answer (reasoning, text, calls) are on separate lines and are merged. After a compaction, the
 * conversation consists of its replacement and later items.
 */
export const parseCodex = (text: string): Transcript => {
  const notes = new Notes();
  const builder = new TranscriptBuilder(notes);
  const state: Reading = { builder, model: undefined, session: undefined, total: 0 };
  for (const { line, value } of entriesIn(text, notes)) take(state, value, line);
  return builder.finish('codex', state.session === undefined ? {} : { session: state.session });
};

/** Parses the lines of a rollout. Older rollouts are one object with the session and its items. */
const entriesIn = (text: string, notes: Notes): readonly JsonLine[] => {
  const whole = parsedOr(text);
  if (!isObject(whole) || !isObject(whole['session'])) return parseLines(text, notes);
  const items = objectsIn(whole, 'items').map((value, index) => ({ line: index + 1, value }));
  return [{ line: 1, value: { type: 'session_meta', payload: whole['session'] } }, ...items];
};

interface Reading {
  readonly builder: TranscriptBuilder;
  model: string | undefined;
  session: string | undefined;
  /** Total tokens so far; the same total may be reported repeatedly. */
  total: number;
}

const take = (state: Reading, entry: Json, line: number): void => {
  const { builder } = state;
  const payload = objectIn(entry, 'payload');
  const type = wordIn(entry, 'type');
  switch (type) {
    case 'session_meta':
      state.session ??= textIn(payload, 'id');
      return;
    case 'turn_context':
      state.model = textIn(payload, 'model') ?? state.model;
      return;
    case 'response_item':
      addItem(state, payload, timeIn(entry, 'timestamp'), line);
      return;
    case 'compacted':
      compact(state, payload, timeIn(entry, 'timestamp'), line);
      return;
    case 'inter_agent_communication':
      addAgentMessage(builder, payload, timeIn(entry, 'timestamp'), line);
      return;
    case 'event_msg':
      takeEvent(state, payload, line);
      return;
    default:
      // The first releases wrote items without a wrapper, after a line about the session and among lines about its
      // state.
      if (itemTypes.includes(type)) addItem(state, entry, undefined, line);
      else if (textIn(entry, 'id') !== undefined && 'instructions' in entry) state.session ??= textIn(entry, 'id');
      else builder.notes.dropped(`an entry of the type ${type}`, line);
  }
};

const itemTypes: readonly string[] = [
  'message',
  'agent_message',
  'reasoning',
  'function_call',
  'function_call_output',
  'local_shell_call',
  'custom_tool_call',
  'custom_tool_call_output',
];

/** Handles an event. Most events repeat the content of items. */
const takeEvent = (state: Reading, payload: Json, line: number): void => {
  if (payload['type'] === 'token_count') countTokens(state, objectIn(payload, 'info'));
  if (payload['type'] !== 'thread_rolled_back') return;
  state.builder.notes.dropped('turns that the user rolled back', line);
  state.builder.dropTurns(numberIn(payload, 'num_turns'));
};

const compact = (state: Reading, payload: Json, at: number | undefined, line: number): void => {
  const { builder } = state;
  if (!builder.isEmpty) builder.notes.dropped('the conversation before a compaction', line);
  builder.clear();
  const items = objectsIn(payload, 'replacement_history');
  for (const item of items) addItem(state, item, at, line);
  const summary = textIn(payload, 'message');
  if (items.length === 0 && summary !== undefined && summary !== '') {
    builder.add({ role: 'user', content: summary, metadata: { internal: true, kind: 'summary' } }, { at });
  }
};

const addItem = ({ builder, model }: Reading, item: Json, at: number | undefined, line: number): void => {
  const type = wordIn(item, 'type');
  const callId = textIn(item, 'call_id') ?? textIn(item, 'id') ?? '';
  const answer = (...parts: readonly AssistantPart[]): void => builder.addToAnswer(parts, { at, model });
  switch (type) {
    case 'message':
      addMessage(builder, item, { at, model }, line);
      return;
    case 'agent_message':
      addAgentMessage(builder, item, at, line);
      return;
    case 'reasoning':
      answer(...reasoningOf(item));
      return;
    case 'function_call':
      answer({
        type: 'tool-call',
        toolCallId: callId,
        toolName: textIn(item, 'name') ?? '',
        input: parsedOr(textIn(item, 'arguments') ?? '{}'),
        ...namespaceOf(item),
      });
      return;
    case 'custom_tool_call':
      answer({
        type: 'tool-call',
        toolCallId: callId,
        toolName: textIn(item, 'name') ?? '',
        input: item['input'],
        ...codex({ custom: true }),
      });
      return;
    case 'local_shell_call':
      answer({
        type: 'tool-call',
        toolCallId: callId,
        toolName: 'local_shell',
        input: item['action'],
        ...codex({ localShell: true }),
      });
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
      builder.addResults(
        [
          {
            type: 'tool-result',
            toolCallId: callId,
            toolName: builder.toolOf(callId),
            output: outputOf(resultOf(item, builder.notes, line)),
          },
        ],
        { at },
      );
      return;
    default:
      builder.notes.dropped(`an item of the type ${type}`, line);
  }
};

/** Returns the server of a tool, if any. */
const namespaceOf = (item: Json) => {
  const namespace = textIn(item, 'namespace');
  return namespace === undefined ? {} : codex({ namespace });
};

const codex = (options: Json) => ({ providerOptions: { codex: options as Record<string, boolean | string> } });

const addMessage = (
  builder: TranscriptBuilder,
  item: Json,
  info: { at: number | undefined; model: string | undefined },
  line: number,
): void => {
  const role = textIn(item, 'role');
  const parts = objectsIn(item, 'content').flatMap((part) => partOf(part, builder.notes, line));
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
  if (role === 'assistant') {
    builder.addToAnswer(
      parts.filter((part) => part.type === 'text'),
      info,
    );
  } else if (role === 'user') {
    builder.add(
      { role, content: plainIfOne(parts), ...(isContext(texts[0]) && { metadata: { internal: true } }) },
      { at: info.at },
    );
  } else {
    if (role === 'developer') builder.notes.changed('a developer message became a system message', line);
    builder.add({ role: 'system', content: texts.join('\n') }, { at: info.at });
  }
};

/** Parses a message from another agent, which the model reads like a user message. */
const addAgentMessage = (builder: TranscriptBuilder, item: Json, at: number | undefined, line: number): void => {
  const parts = objectsIn(item, 'content').flatMap((part) => partOf(part, builder.notes, line));
  const content = textIn(item, 'content') ?? plainIfOne(parts);
  if (content.length > 0) builder.add({ role: 'user', content, metadata: { internal: true } }, { at });
};

/** Simplifies the content of a message with one text. */
const plainIfOne = (parts: readonly UserPart[]): string | readonly UserPart[] =>
  parts.length === 1 && parts[0]?.type === 'text' ? parts[0].text : parts;

/** Recognizes messages that Codex itself writes as the user. */
const isContext = (text = ''): boolean => contexts.test(text);

const contexts =
  /^\s*(<(environment_context|user_instructions|turn_aborted|permissions|skill|user_shell_command|subagent_notification|recommended_plugins)\b|# AGENTS\.md instructions)/;

const partOf = (part: Json, notes: Notes, line: number): readonly Extract<UserPart, { type: 'text' | 'file' }>[] => {
  const type = wordIn(part, 'type');
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    return [{ type: 'text', text: textIn(part, 'text') ?? '' }];
  }
  const filename = textIn(part, 'filename');
  if (type === 'input_file') {
    const given = fileFrom(textIn(part, 'file_data') ?? textIn(part, 'file_url') ?? '', 'application/pdf');
    if (given) return [{ ...given, ...(filename !== undefined && { filename }) }];
  }
  const file =
    type === 'input_image'
      ? fileFrom(textIn(part, 'image_url') ?? '')
      : type === 'input_audio'
        ? fileFrom(textIn(part, 'audio_url') ?? '', 'audio/*')
        : undefined;
  if (file) return [file];
  notes.dropped(`a part of the type ${type} in a message`, line);
  return [];
};

/** Parses reasoning with its parts and its encrypted content. */
const reasoningOf = (item: Json): readonly AssistantPart[] => {
  const summary = objectsIn(item, 'summary').map((piece) => textIn(piece, 'text') ?? '');
  const content = objectsIn(item, 'content').map((piece) => textIn(piece, 'text') ?? '');
  const encrypted = textIn(item, 'encrypted_content');
  const texts = [...summary, ...content];
  const text = texts.join('\n\n');
  if (encrypted === undefined && summary.length === 1 && content.length === 0) return [{ type: 'reasoning', text }];
  const pieces = { texts: asJson(texts), summary: summary.length, ...(encrypted !== undefined && { encrypted }) };
  return [{ type: 'reasoning', text, providerOptions: { codex: pieces } }];
};

const resultOf = (item: Json, notes: Notes, line: number) => {
  const output = item['output'];
  if (typeof output === 'string') return { content: output, isError: false };
  // Older rollouts wrap the text.
  const wrapped = objectIn(item, 'output');
  if (typeof wrapped['content'] === 'string') {
    return { content: wrapped['content'], isError: wrapped['success'] === false };
  }
  const content = objectsIn(item, 'output').flatMap((piece): readonly ResultPiece[] => {
    const [part] = partOf(piece, notes, line);
    if (part?.type === 'text') return [{ text: part.text }];
    return part?.type === 'file' && typeof part.data === 'string'
      ? [{ base64: part.data, mediaType: part.mediaType }]
      : [];
  });
  return { content, isError: false };
};

/** Parses usage; input tokens include cached ones. */
const countTokens = (state: Reading, info: Json): void => {
  const total = numberIn(objectIn(info, 'total_token_usage'), 'total_tokens');
  if (total === 0 || total === state.total) return;
  state.total = total;
  const last = objectIn(info, 'last_token_usage');
  const usage: Usage = {
    input: numberIn(last, 'input_tokens'),
    cacheRead: numberIn(last, 'cached_input_tokens'),
    cacheWrite: 0,
    output: numberIn(last, 'output_tokens'),
    reasoning: numberIn(last, 'reasoning_output_tokens'),
  };
  state.builder.addUsage(usage);
};
