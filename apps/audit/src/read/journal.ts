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
  type WasSeen,
} from './record.js';

/** Reads journals of `@h/session`. */
export const journalReader = (wasSeen: WasSeen): RecordReader => ({
  read: (entry) => {
    const event = objectIn(entry, 'event');
    const place = `${textIn(event, 'turn') ?? ''} ${String(entry['seq'])}`;
    if (wasSeen(`journal ${place}`)) return [];
    return eventRecords(event);
  },
  end: () => [],
});

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
