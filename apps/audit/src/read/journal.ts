import { cleanUsage } from '@h/prices';
import {
  isObject,
  joinedText,
  objectIn,
  textIn,
  timeIn,
  type AuditRecord,
  type Json,
  type RecordReader,
  type Settings,
  type WasSeen,
} from './record.js';

/**
 * Reads journals of `@h/session`. `@h/prompt` stores the hashes of a request after its answer, so a request waits for the
 * next one.
 */
export const journalReader = (wasSeen: WasSeen): RecordReader => {
  let settings: Settings = {};
  let waiting: AuditRecord[] = [];
  const flush = (): readonly AuditRecord[] => {
    const flushed = waiting.map((record) => (record.type === 'request' ? { ...record, settings } : record));
    waiting = [];
    return flushed;
  };
  return {
    read: (entry) => {
      const event = objectIn(entry, 'event');
      if (wasSeen(`journal ${textIn(event, 'turn') ?? ''} ${String(entry['seq'])}`)) return [];
      if (event['type'] === 'session.state' && event['key'] === 'prompt') settings = promptSettings(event['value']);
      const flushed = event['type'] === 'model.response' || event['type'] === 'turn.start' ? flush() : [];
      waiting.push(...eventRecords(event));
      return flushed;
    },
    end: flush,
  };
};

/** The hashes of tools and sections, as `@h/prompt` stores them: for each part its hash, and those of its items. */
const promptSettings = (value: unknown): Settings => {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([part, print]) => {
      if (!Array.isArray(print)) return [];
      const [hash, items] = print as readonly unknown[];
      if (!Array.isArray(items)) return [[part, `#${String(hash)}`]];
      return items.flatMap((item: unknown) =>
        Array.isArray(item) ? [[`${part} ${String(item[0])}`, `#${String(item[1])}`]] : [],
      );
    }),
  );
};

const eventRecords = (event: Json): readonly AuditRecord[] => {
  const call = objectIn(event, 'call');
  switch (event['type']) {
    case 'turn.start':
      return [{ type: 'message', role: 'user', text: inputText(event['input']) }];
    case 'model.response': {
      const model = textIn(event, 'model');
      const usage = cleanUsage(objectIn(event, 'usage'));
      return [{ type: 'request', ...(model !== undefined && { model }), ...timeIn(event, 'at'), usage }];
    }
    case 'tool.call':
      return [
        {
          type: 'call',
          id: textIn(call, 'id') ?? '',
          name: textIn(call, 'name') ?? '',
          input: call['input'],
          ...timeIn(event, 'at'),
        },
      ];
    case 'tool.result': {
      const output = objectIn(event, 'output');
      const isError = event['status'] === 'failed' || event['status'] === 'timed-out';
      return [{ type: 'result', id: textIn(call, 'id') ?? '', text: joinedText(output['value']), isError }];
    }
    case 'history.replace':
      return [{ type: 'compaction' }];
    default:
      return [];
  }
};

const inputText = (input: unknown): string =>
  Array.isArray(input)
    ? input.map((message: unknown) => (isObject(message) ? joinedText(message['content']) : '')).join('\n')
    : '';
