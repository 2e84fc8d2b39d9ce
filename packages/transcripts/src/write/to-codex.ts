import type { AssistantPart, Message, ReasoningPart, ToolCallPart, ToolPart, UserPart } from '@h/turn';
import { isoTime, toLines, type FormatContext } from '../format-options.js';
import { mediaTypeOf, urlOf } from '../media.js';
import { Notes, noteSignature } from '../notes.js';
import { plainResult } from '../tool-output.js';
import type { FormattedTranscript } from '../transcript.js';

/** Formats a conversation as a rollout of Codex. */
export const toCodex = (messages: readonly Message[], { session, cwd, at }: FormatContext): FormattedTranscript => {
  const notes = new Notes();
  const timestamp = isoTime(at);
  const meta = {
    timestamp,
    type: 'session_meta',
    payload: { id: session, timestamp, cwd, originator: 'h', cli_version: '0.0.0', source: 'exec' },
  };
  const items = responsesItems(messages, notes);
  return {
    text: toLines([meta, ...items.map((payload) => ({ timestamp, type: 'response_item', payload }))]),
    notes: notes.list(),
  };
};

/** Formats a conversation as items of OpenAI Responses. */
export const responsesItems = (messages: readonly Message[], notes: Notes): readonly object[] => {
  const customCalls = new Set<string>();
  return messages.flatMap((message, index) => {
    if (message.role === 'assistant' && messages[index - 1]?.role === 'assistant') {
      notes.changed('successive answers became one', index + 1);
    }
    return itemsOf(message, { notes, customCalls, place: index + 1 });
  });
};

interface Writing {
  readonly notes: Notes;
  /** Calls whose results use another type of item. */
  readonly customCalls: Set<string>;
  readonly place: number;
}

const itemsOf = (message: Message, writing: Writing): readonly object[] => {
  switch (message.role) {
    case 'system':
      return [{ type: 'message', role: 'system', content: [{ type: 'input_text', text: message.content }] }];
    case 'user': {
      if (message.metadata?.internal === true) {
        writing.notes.changed('a message of the harness became one of the user', writing.place);
      }
      const parts: readonly UserPart[] =
        typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
      return [{ type: 'message', role: 'user', content: parts.flatMap((part) => inputOf(part, writing)) }];
    }
    case 'assistant': {
      const parts: readonly AssistantPart[] =
        typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
      return parts.flatMap((part) => answerItem(part, writing));
    }
    case 'tool':
      return message.content.flatMap((part) => resultItem(part, writing));
  }
};

const pdf = 'application/pdf';

const inputOf = (part: UserPart, { notes, place }: Writing): readonly object[] => {
  if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
  const url = urlOf(part, mediaTypeOf(part));
  if (url !== undefined && mediaTypeOf(part).startsWith('image/')) return [{ type: 'input_image', image_url: url }];
  if (url !== undefined && mediaTypeOf(part) === pdf) {
    const filename = part.type === 'file' ? part.filename : undefined;
    return [
      {
        type: 'input_file',
        ...(url.startsWith('data:') ? { filename: filename ?? 'file.pdf', file_data: url } : { file_url: url }),
      },
    ];
  }
  notes.dropped(`a file of the type ${mediaTypeOf(part)}`, place);
  return [];
};

const answerItem = (part: AssistantPart, writing: Writing): readonly object[] => {
  switch (part.type) {
    case 'text':
      return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: part.text }] }];
    case 'reasoning':
      noteSignature(part, 'codex', writing.notes, writing.place);
      return [reasoningItem(part)];
    case 'tool-call':
      return [callItem(part, writing)];
    default:
      writing.notes.dropped(`a part of an answer (${part.type})`, writing.place);
      return [];
  }
};

const reasoningItem = ({ text, providerOptions }: ReasoningPart): object => {
  const { texts, summary = 1, encrypted = null } = providerOptions?.['codex'] ?? {};
  const pieces = Array.isArray(texts) ? (texts as readonly string[]) : [text];
  const content = pieces.slice(Number(summary)).map((piece) => ({ type: 'reasoning_text', text: piece }));
  return {
    type: 'reasoning',
    summary: pieces.slice(0, Number(summary)).map((piece) => ({ type: 'summary_text', text: piece })),
    ...(content.length > 0 && { content }),
    encrypted_content: encrypted,
  };
};

const callItem = ({ toolCallId, toolName, input, providerOptions }: ToolCallPart, { customCalls }: Writing): object => {
  const { custom, localShell, namespace } = providerOptions?.['codex'] ?? {};
  if (localShell === true) return { type: 'local_shell_call', call_id: toolCallId, status: 'completed', action: input };
  if (custom !== true) {
    return {
      type: 'function_call',
      name: toolName,
      ...(typeof namespace === 'string' && { namespace }),
      arguments: JSON.stringify(input ?? {}),
      call_id: toolCallId,
    };
  }
  customCalls.add(toolCallId);
  return { type: 'custom_tool_call', status: 'completed', call_id: toolCallId, name: toolName, input };
};

const resultItem = (part: ToolPart, writing: Writing): readonly object[] => {
  const { notes, customCalls, place } = writing;
  if (part.type !== 'tool-result') {
    notes.dropped(`a part of a result (${part.type})`, place);
    return [];
  }
  const { content, isError } = plainResult(part.output, notes, place);
  if (isError) notes.changed('an error became an ordinary result', place);
  const output =
    typeof content === 'string'
      ? content
      : content.flatMap((piece) =>
          'text' in piece
            ? [{ type: 'input_text', text: piece.text }]
            : inputOf({ type: 'file', data: piece.base64, mediaType: piece.mediaType }, writing),
        );
  const type = customCalls.has(part.toolCallId) ? 'custom_tool_call_output' : 'function_call_output';
  return [{ type, call_id: part.toolCallId, output }];
};
