import type { AssistantPart, Message } from '@h/turn';
import { idOf, isoTime, toLines, type FormatContext } from '../format-options.js';
import { Notes } from '../notes.js';
import { answerBlock, resultBlock, userBlock } from './to-anthropic-blocks.js';
import type { FormattedTranscript } from '../transcript.js';

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
