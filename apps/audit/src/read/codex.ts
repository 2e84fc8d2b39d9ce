import type { Usage } from '@h/turn';
import {
  countIn,
  isObject,
  joinedText,
  objectIn,
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

/** Members of entries that a request depends on. */
const names = {
  cli_version: 'version of the client',
  instructions: 'instructions',
  cwd: 'folder',
  effort: 'reasoning effort',
  approval_policy: 'approval policy',
};

const noTokens: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

/**
 * Reads rollouts of Codex.
 *
 * `token_count` reports the total of the session, and the same total repeatedly. A model call is therefore the
 * difference between two totals. Older rollouts have no cached tokens, and the first ones have no wrapper around items.
 */
export const codexReader = (wasSeen: WasSeen): RecordReader => {
  let model: string | undefined;
  let session = '';
  let settings: Settings = {};
  let total = noTokens;
  const readTokens = (entry: Json, info: Json): readonly AuditRecord[] => {
    const given = objectIn(info, 'total_token_usage');
    const now = usageOf(given);
    if (now.input === total.input && now.output === total.output) return [];
    // A total that is smaller than the one before is that of a new count, such as after a resumption.
    const isNew = now.input < total.input || now.output < total.output;
    const usage = isNew ? now : subtract(now, total);
    total = now;
    if (wasSeen(`request ${session} ${now.input} ${now.output}`)) return [];
    return [{ type: 'request', ...(model !== undefined && { model }), ...timeIn(entry), usage, settings }];
  };
  const readItem = (entry: Json, item: Json): readonly AuditRecord[] => {
    const id = textIn(item, 'call_id') ?? textIn(item, 'id') ?? '';
    switch (item['type']) {
      case 'function_call':
      case 'custom_tool_call':
      case 'local_shell_call': {
        if (wasSeen(`call ${session} ${id}`)) return [];
        const input =
          item['type'] === 'function_call'
            ? parsedOr(textIn(item, 'arguments') ?? '{}')
            : (item['action'] ?? item['input']);
        return [{ type: 'call', id, name: textIn(item, 'name') ?? 'local_shell', input, ...timeIn(entry) }];
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        if (wasSeen(`result ${session} ${id}`)) return [];
        return [{ type: 'result', id, ...outputOf(item['output']) }];
      }
      case 'message': {
        const role = textIn(item, 'role');
        if (role !== 'user' && role !== 'assistant') return [];
        return [{ type: 'message', role, text: joinedText(item['content']) }];
      }
      default:
        return [];
    }
  };
  return {
    read: (entry) => {
      const payload = objectIn(entry, 'payload');
      switch (entry['type']) {
        case 'session_meta':
          if (session === '') session = textIn(payload, 'id') ?? '';
          settings = { ...settings, ...settingsIn(payload, names) };
          return [];
        case 'turn_context':
          model = textIn(payload, 'model') ?? model;
          settings = { ...settings, ...settingsIn(payload, names) };
          return [];
        case 'compacted':
          return [{ type: 'compaction' }];
        case 'event_msg':
          return payload['type'] === 'token_count' ? readTokens(entry, objectIn(payload, 'info')) : [];
        case 'response_item':
          return readItem(entry, payload);
        default:
          return readItem(entry, entry);
      }
    },
    end: () => [],
  };
};

/** Returns the text of an output. Shell outputs are JSON with an exit code, as a string or as an object. */
const outputOf = (given: unknown): { readonly text: string; readonly isError: boolean } => {
  const parsed = typeof given === 'string' && given.startsWith('{') ? parsedOr(given) : given;
  if (!isObject(parsed)) return { text: joinedText(given), isError: false };
  const text = textIn(parsed, 'output') ?? textIn(parsed, 'content') ?? joinedText(given);
  const exitCode = objectIn(parsed, 'metadata')['exit_code'];
  return { text, isError: parsed['success'] === false || (typeof exitCode === 'number' && exitCode !== 0) };
};

const usageOf = (usage: Json): Usage => ({
  input: countIn(usage, 'input_tokens'),
  cacheRead: countIn(usage, 'cached_input_tokens'),
  cacheWrite: 0,
  output: countIn(usage, 'output_tokens'),
  reasoning: countIn(usage, 'reasoning_output_tokens'),
});

const subtract = (now: Usage, before: Usage): Usage => ({
  input: Math.max(0, now.input - before.input),
  cacheRead: Math.max(0, now.cacheRead - before.cacheRead),
  cacheWrite: 0,
  output: Math.max(0, now.output - before.output),
  reasoning: Math.max(0, now.reasoning - before.reasoning),
});
