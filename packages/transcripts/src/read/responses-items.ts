import type { AssistantPart, UserPart } from '@h/turn';
import type { TranscriptBuilder } from './builder.js';
import { asJson, inputOf, objectIn, objectsIn, textIn, wordIn, type Json } from '../json.js';
import { fileFrom } from '../media.js';
import { isOpaque, type Notes } from '../notes.js';
import { outputOf, type ReadPiece } from '../tool-output.js';

/** Data of an item besides its content. */
export interface ItemInfo {
  readonly at?: number | undefined;
  readonly model?: string | undefined;
  /** Returns whether the agent itself wrote a message of the user. */
  readonly isInternal?: ((text: string) => boolean) | undefined;
}

/** Adds an item of OpenAI Responses. The items of one answer are merged. */
export const addResponsesItem = (builder: TranscriptBuilder, item: Json, line: number, info: ItemInfo = {}): void => {
  const type = item['type'] === undefined && item['role'] !== undefined ? 'message' : wordIn(item, 'type');
  const { at, model } = info;
  const callId = textIn(item, 'call_id') ?? textIn(item, 'id') ?? '';
  const answer = (...parts: readonly AssistantPart[]): void => builder.addToAnswer(parts, { at, model });
  switch (type) {
    case 'message':
      addMessage(builder, item, line, info);
      return;
    case 'agent_message':
      addAgentMessage(builder, item, line, { at });
      return;
    case 'reasoning':
      answer(...reasoningOf(item));
      return;
    case 'function_call':
      answer({
        type: 'tool-call',
        toolCallId: callId,
        toolName: textIn(item, 'name') ?? '',
        input: inputOf(item),
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
    default: {
      const what = `an item of the type ${type}`;
      // Items of the provider, such as a web search, belong to its answer.
      const content = builder.notes.unknown(item, what, line);
      if (content.length > 0) answer(...content);
    }
  }
};

/** Returns the server of a tool, if any. */
const namespaceOf = (item: Json) => {
  const namespace = textIn(item, 'namespace');
  return namespace === undefined ? {} : codex({ namespace });
};

const codex = (options: Json) => ({ providerOptions: { codex: options as Record<string, boolean | string> } });

const addMessage = (builder: TranscriptBuilder, item: Json, line: number, info: ItemInfo): void => {
  const { notes } = builder;
  const { at, model, isInternal } = info;
  const role = textIn(item, 'role');
  const parts = contentOf(item, notes, line);
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
  if (role === 'assistant') {
    builder.addToAnswer(
      parts.filter((part) => part.type === 'text' || notes.isOpaqueKept),
      { at, model },
    );
  } else if (role === 'user') {
    const metadata = isInternal?.(texts[0] ?? '') === true && { metadata: { internal: true } };
    builder.add({ role, content: plainIfOne(parts), ...metadata }, { at });
  } else if (role !== 'system' && role !== 'developer') {
    builder.addUnknown(item, `a message of the role ${wordIn(item, 'role')}`, line);
  } else {
    if (role === 'developer') notes.changed('a developer message became a system message', line);
    builder.add({ role: 'system', content: texts.join('\n') }, { at });
  }
};

/** Parses a message from another agent, which the model reads like a user message. */
export const addAgentMessage = (
  builder: TranscriptBuilder,
  item: Json,
  line: number,
  { at }: Pick<ItemInfo, 'at'>,
): void => {
  const content = plainIfOne(contentOf(item, builder.notes, line));
  if (content.length > 0) builder.add({ role: 'user', content, metadata: { internal: true } }, { at });
};

/** Returns the parts of a message. Its content may be a string. */
const contentOf = (item: Json, notes: Notes, line: number): readonly MessagePart[] => {
  const text = textIn(item, 'content');
  if (text !== undefined) return [{ type: 'text', text }];
  return objectsIn(item, 'content').flatMap((part) => partOf(part, notes, line));
};

type MessagePart = Extract<UserPart, { type: 'text' | 'file' }>;

/** Simplifies the content of a message with one text. */
const plainIfOne = (parts: readonly UserPart[]): string | readonly UserPart[] =>
  parts.length === 1 && parts[0]?.type === 'text' ? parts[0].text : parts;

const partOf = (part: Json, notes: Notes, line: number): readonly MessagePart[] => {
  const type = wordIn(part, 'type');
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    return [{ type: 'text', text: textIn(part, 'text') ?? '' }];
  }
  const refusal = type === 'refusal' ? textIn(part, 'refusal') : undefined;
  if (refusal !== undefined) {
    notes.changed('a refusal became text', line);
    return [{ type: 'text', text: refusal }];
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
  return notes.unknown(part, `a part of the type ${type} in a message`, line);
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
  const content = objectsIn(item, 'output').flatMap((piece): readonly ReadPiece[] => {
    const [part] = partOf(piece, notes, line);
    if (part?.type === 'text') return [{ text: part.text }];
    if (part?.type !== 'file') return [];
    if (typeof part.data === 'string') return [{ base64: part.data, mediaType: part.mediaType }];
    return isOpaque(part) ? [part] : notes.unknown(piece, 'a linked file in a result', line);
  });
  return { content, isError: false };
};
