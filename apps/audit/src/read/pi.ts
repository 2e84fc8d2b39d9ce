import type { Usage } from '@h/turn';
import {
  countIn,
  joinedText,
  objectIn,
  objectsIn,
  parsedOr,
  settingsIn,
  textIn,
  timeIn,
  type AuditRecord,
  type Json,
  type RecordReader,
  type Settings,
  type WasSeen,
} from './record.js';

/** Reads sessions of pi, with all their branches: every branch was paid for. */
export const piReader = (wasSeen: WasSeen): RecordReader => {
  let settings: Settings = { branch: '1' };
  let latest: string | undefined;
  let branches = 1;
  const readMessage = (entry: Json): readonly AuditRecord[] => {
    const message = objectIn(entry, 'message');
    const time = timeIn(message).at === undefined ? timeIn(entry) : timeIn(message);
    switch (message['role']) {
      case 'user':
        return [{ type: 'message', role: 'user', text: joinedText(message['content']) }];
      case 'assistant':
        return answerRecords(message, { ...time, settings }, textIn(entry, 'id'), wasSeen);
      case 'toolResult': {
        const id = textIn(message, 'toolCallId') ?? '';
        if (wasSeen(`result ${id}`)) return [];
        return [{ type: 'result', id, text: joinedText(message['content']), isError: message['isError'] === true }];
      }
      default:
        return [];
    }
  };
  return {
    read: (entry) => {
      const parent = textIn(entry, 'parentId');
      if (parent !== undefined && latest !== undefined && parent !== latest) {
        branches += 1;
        settings = { ...settings, branch: String(branches) };
      }
      latest = textIn(entry, 'id') ?? latest;
      if (entry['type'] === 'compaction') return [{ type: 'compaction' }];
      if (entry['type'] === 'session') settings = { ...settings, ...settingsIn(entry, { cwd: 'folder' }) };
      if (entry['type'] === 'thinking_level_change') {
        settings = { ...settings, ...settingsIn(entry, { thinkingLevel: 'thinking' }) };
      }
      return entry['type'] === 'message' ? readMessage(entry) : [];
    },
    end: () => [],
  };
};

const answerRecords = (
  message: Json,
  { settings, ...time }: { readonly at?: number; readonly settings: Settings },
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
      settings,
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
