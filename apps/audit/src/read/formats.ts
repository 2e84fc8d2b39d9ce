import { claudeCodeReader } from './claude-code.js';
import { codexReader } from './codex.js';
import { journalReader } from './journal.js';
import { messageReader } from './messages.js';
import { openHandsReader } from './open-hands.js';
import { piReader } from './pi.js';
import { isObject, objectsIn, type Json, type RecordReader, type WasSeen } from './record.js';

/** Parts of the messages in the first rollouts of Codex, which are items of the Responses API. */
const itemParts: ReadonlySet<unknown> = new Set(['input_text', 'output_text']);

/** The formats of transcripts, with what recognizes an entry. */
const formats: readonly {
  readonly name: AuditFormat;
  readonly matches: (entry: Json) => boolean;
  readonly reader: (wasSeen: WasSeen) => RecordReader;
}[] = [
  { name: 'h', matches: (entry) => 'crc' in entry && isObject(entry['event']), reader: journalReader },
  {
    name: 'codex',
    matches: ({ type, payload, content }) =>
      (isObject(payload) && ['session_meta', 'response_item', 'event_msg', 'turn_context'].includes(String(type))) ||
      ['function_call', 'function_call_output', 'local_shell_call'].includes(String(type)) ||
      (type === 'message' && objectsIn({ content }, 'content').some((part) => itemParts.has(part['type']))),
    reader: codexReader,
  },
  {
    name: 'claude-code',
    matches: (entry) =>
      ['user', 'assistant', 'system'].includes(String(entry['type'])) && ('sessionId' in entry || 'uuid' in entry),
    reader: claudeCodeReader,
  },
  {
    name: 'pi',
    matches: ({ type, message }) => type === 'message' && isObject(message) && 'role' in message,
    reader: piReader,
  },
  {
    name: 'openhands',
    matches: ({ source, action, observation }) =>
      source !== undefined && (action !== undefined || observation !== undefined),
    reader: openHandsReader,
  },
  {
    name: 'messages',
    matches: ({ role }) => ['system', 'developer', 'user', 'assistant', 'tool'].includes(String(role)),
    reader: messageReader,
  },
];

/** The format of a transcript. `messages` are those of OpenAI and the AI SDK. */
export type AuditFormat = 'claude-code' | 'codex' | 'h' | 'messages' | 'openhands' | 'pi';

/** The format of an entry, with a new reader for its file; `undefined` if it does not tell. */
export const formatOf = (
  entry: Json,
  wasSeen: WasSeen,
): { readonly name: AuditFormat; readonly reader: RecordReader } | undefined => {
  const format = formats.find(({ matches }) => matches(entry));
  return format && { name: format.name, reader: format.reader(wasSeen) };
};
