import type { Usage } from '@h/turn';
import {
  countIn,
  joinedText,
  objectIn,
  objectsIn,
  parsedOr,
  textIn,
  timeIn,
  type AuditRecord,
  type Json,
  type RecordReader,
  type WasSeen,
} from './record.js';

/** Reads sessions of pi, with all their branches: every branch was paid for. */
export const piReader = (wasSeen: WasSeen): RecordReader => ({
  read: (entry) => {
    if (entry['type'] === 'compaction') return [{ type: 'compaction' }];
    if (entry['type'] !== 'message') return [];
    const message = objectIn(entry, 'message');
    const time = timeIn(message).at === undefined ? timeIn(entry) : timeIn(message);
    switch (message['role']) {
      case 'user':
        return [{ type: 'message', role: 'user', text: joinedText(message['content']) }];
      case 'assistant':
        return answerRecords(message, time, textIn(entry, 'id'), wasSeen);
      case 'toolResult': {
        const id = textIn(message, 'toolCallId') ?? '';
        if (wasSeen(`result ${id}`)) return [];
        return [{ type: 'result', id, text: joinedText(message['content']), isError: message['isError'] === true }];
      }
      default:
        return [];
    }
  },
  end: () => [],
});

const answerRecords = (
  message: Json,
  time: { readonly at?: number },
  id: string | undefined,
  wasSeen: WasSeen,
): readonly AuditRecord[] => {
  if (id !== undefined && wasSeen(`request ${id} ${time.at ?? ''}`)) return [];
  const model = textIn(message, 'model');
  const provider = textIn(message, 'provider');
  const name = model !== undefined && provider !== undefined && !model.includes('/') ? `${provider}/${model}` : model;
  return [
    {
      type: 'request',
      ...(name !== undefined && { model: name }),
      ...time,
      usage: usageOf(objectIn(message, 'usage')),
    },
    ...objectsIn(message, 'content').flatMap((part): readonly AuditRecord[] => {
      if (part['type'] === 'text') return [{ type: 'message', role: 'assistant', text: textIn(part, 'text') ?? '' }];
      if (part['type'] !== 'toolCall') return [];
      const given = part['arguments'];
      const input = typeof given === 'string' ? parsedOr(given) : given;
      return [{ type: 'call', id: textIn(part, 'id') ?? '', name: textIn(part, 'name') ?? '', input, ...time }];
    }),
  ];
};

/** Converts usage. Cached tokens are counted separately there; our `input` includes them. */
const usageOf = (usage: Json): Usage => {
  const cacheRead = countIn(usage, 'cacheRead');
  const cacheWrite = countIn(usage, 'cacheWrite');
  return {
    input: countIn(usage, 'input') + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: countIn(usage, 'output'),
    reasoning: 0,
  };
};
