import type { AssistantPart, Message, ToolPart, UserPart } from '@h/turn';
import { idOf, isoTime, toLines, type FormatContext } from './format-options.js';
import { dataOf, mediaTypeOf } from './media.js';
import { Notes } from './notes.js';
import { plainResult } from './tool-output.js';
import type { FormattedTranscript } from './transcript.js';

/** Formats a conversation as a session of Claude Code. */
export const toClaudeCode = (
  messages: readonly Message[],
  { session, cwd, at }: FormatContext,
): FormattedTranscript => {
  const notes = new Notes();
  const entries: object[] = [];
  let parentUuid: string | null = null;
  for (const [index, message] of messages.entries()) {
    const said = sayIn(message, notes, index + 1);
    if (!said) continue;
    const uuid = idOf(session, index);
    const common = {
      parentUuid,
      isSidechain: false,
      userType: 'external',
      cwd,
      sessionId: session,
      version: '2.0.0',
      gitBranch: '',
      uuid,
      timestamp: isoTime(at),
    };
    entries.push({
      ...common,
      ...said,
      ...flagsOf(message),
      message: { ...said.message, ...(said.type === 'assistant' && { id: `msg_${uuid}`, type: 'message' }) },
    });
    parentUuid = uuid;
  }
  return { text: toLines(entries), notes: notes.list() };
};

const flagsOf = ({ role, metadata }: Message): object => {
  if (role !== 'user' || metadata?.internal !== true) return {};
  return metadata.kind === 'summary' ? { isCompactSummary: true } : { isMeta: true };
};

const sayIn = (
  message: Message,
  notes: Notes,
  at: number,
): { type: 'user' | 'assistant'; message: object } | undefined => {
  switch (message.role) {
    case 'system':
      notes.dropped('a system message', at);
      return undefined;
    case 'user':
      return {
        type: 'user',
        message: {
          role: 'user',
          content:
            typeof message.content === 'string'
              ? message.content
              : message.content.flatMap((part) => userBlock(part, notes, at)),
        },
      };
    case 'assistant': {
      const parts: readonly AssistantPart[] =
        typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
      return {
        type: 'assistant',
        message: { role: 'assistant', content: parts.flatMap((part) => answerBlock(part, notes, at)) },
      };
    }
    case 'tool':
      return {
        type: 'user',
        message: { role: 'user', content: message.content.flatMap((part) => resultBlock(part, notes, at)) },
      };
  }
};

const userBlock = (part: UserPart, notes: Notes, at: number): readonly object[] => {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  const data = dataOf(part);
  const mediaType = mediaTypeOf(part);
  const type = mediaType.startsWith('image/') ? 'image' : 'document';
  if (data && 'base64' in data) return [{ type, source: { type: 'base64', media_type: mediaType, data: data.base64 } }];
  if (data) return [{ type, source: { type: 'url', url: data.url } }];
  notes.dropped('a file with neither data nor a URL', at);
  return [];
};

const answerBlock = (part: AssistantPart, notes: Notes, at: number): readonly object[] => {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'reasoning': {
      const { signature, redactedData } = part.providerOptions?.['anthropic'] ?? {};
      if (redactedData !== undefined) return [{ type: 'redacted_thinking', data: redactedData }];
      return [{ type: 'thinking', thinking: part.text, ...(signature !== undefined && { signature }) }];
    }
    case 'tool-call':
      return [{ type: 'tool_use', id: part.toolCallId, name: part.toolName, input: part.input }];
    default:
      notes.dropped(`a part of an answer (${part.type})`, at);
      return [];
  }
};

const resultBlock = (part: ToolPart, notes: Notes, at: number): readonly object[] => {
  if (part.type !== 'tool-result') {
    notes.dropped(`a part of a result (${part.type})`, at);
    return [];
  }
  const { content, isError } = plainResult(part.output, notes, at);
  const blocks =
    typeof content === 'string'
      ? content
      : content.map((piece) =>
          'text' in piece
            ? { type: 'text', text: piece.text }
            : { type: 'image', source: { type: 'base64', media_type: piece.mediaType, data: piece.base64 } },
        );
  return [{ type: 'tool_result', tool_use_id: part.toolCallId, content: blocks, ...(isError && { is_error: true }) }];
};
