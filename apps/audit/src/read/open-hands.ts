import type { Usage } from '@h/turn';
import { countIn, objectIn, textIn, timeIn, type AuditRecord, type Json, type RecordReader } from './record.js';

/**
 * Reads trajectories of OpenHands. An action is a call, and an observation names its action in `cause`. `llm_metrics`
 * is the total of the run.
 */
export const openHandsReader = (): RecordReader => {
  let total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const request = (entry: Json): readonly AuditRecord[] => {
    const given = objectIn(objectIn(entry, 'llm_metrics'), 'accumulated_token_usage');
    const now = {
      input: countIn(given, 'prompt_tokens'),
      output: countIn(given, 'completion_tokens'),
      cacheRead: countIn(given, 'cache_read_tokens'),
      cacheWrite: countIn(given, 'cache_write_tokens'),
    };
    if (now.input + now.output <= total.input + total.output) return [];
    const usage: Usage = {
      input: now.input - total.input,
      cacheRead: Math.max(0, now.cacheRead - total.cacheRead),
      cacheWrite: Math.max(0, now.cacheWrite - total.cacheWrite),
      output: now.output - total.output,
      reasoning: 0,
    };
    total = now;
    const model = textIn(given, 'model');
    return [{ type: 'request', ...(model !== undefined && model !== '' && { model }), ...timeIn(entry), usage }];
  };
  return {
    read: (entry) => {
      const id = idOf(entry['id']);
      const action = textIn(entry, 'action');
      if (action === 'message' && entry['source'] === 'user') {
        return [{ type: 'message', role: 'user', text: textIn(objectIn(entry, 'args'), 'content') ?? '' }];
      }
      if (action !== undefined && entry['source'] === 'agent' && !ownActions.has(action)) {
        return [...request(entry), { type: 'call', id, name: action, input: entry['args'], ...timeIn(entry) }];
      }
      if (action !== undefined || entry['cause'] === undefined) return [];
      const exitCode = objectIn(objectIn(entry, 'extras'), 'metadata')['exit_code'];
      const isError = entry['observation'] === 'error' || (typeof exitCode === 'number' && exitCode > 0);
      return [{ type: 'result', id: idOf(entry['cause']), text: textIn(entry, 'content') ?? '', isError }];
    },
    end: () => [],
  };
};

const idOf = (id: unknown): string => (typeof id === 'number' || typeof id === 'string' ? String(id) : '');

/** Actions without an observation. */
const ownActions: ReadonlySet<string> = new Set([
  'message',
  'finish',
  'system',
  'recall',
  'change_agent_state',
  'condensation',
]);
