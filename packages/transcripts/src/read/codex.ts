import type { Usage } from '@h/turn';
import { TranscriptBuilder } from './builder.js';
import {
  isObject,
  numberIn,
  objectIn,
  objectsIn,
  parsedOr,
  parseLines,
  textIn,
  timeIn,
  wordIn,
  type Json,
  type JsonLine,
} from '../json.js';
import { Notes } from '../notes.js';
import { addAgentMessage, addResponsesItem } from './responses-items.js';
import type { Transcript } from '../transcript.js';

/**
 * Parses a rollout of Codex.
 *
 * The items of one answer (reasoning, text, calls) are on separate lines and are merged. After a compaction, the
 * conversation consists of its replacement and later items.
 */
export const parseCodex = (text: string): Transcript => {
  const notes = new Notes();
  const builder = new TranscriptBuilder(notes);
  const state: Reading = { builder, model: undefined, session: undefined, total: 0 };
  for (const { line, value } of entriesIn(text, notes)) take(state, value, line);
  return builder.finish('codex', state.session === undefined ? {} : { session: state.session });
};

/** Parses the lines of a rollout. Older rollouts are one object with the session and its items. */
const entriesIn = (text: string, notes: Notes): readonly JsonLine[] => {
  const whole = parsedOr(text);
  if (!isObject(whole) || !isObject(whole['session'])) return parseLines(text, notes);
  const items = objectsIn(whole, 'items').map((value, index) => ({ line: index + 1, value }));
  return [{ line: 1, value: { type: 'session_meta', payload: whole['session'] } }, ...items];
};

interface Reading {
  readonly builder: TranscriptBuilder;
  model: string | undefined;
  session: string | undefined;
  /** Total tokens so far; the same total may be reported repeatedly. */
  total: number;
}

const take = (state: Reading, entry: Json, line: number): void => {
  const { builder } = state;
  const payload = objectIn(entry, 'payload');
  const type = wordIn(entry, 'type');
  switch (type) {
    case 'session_meta':
      state.session ??= textIn(payload, 'id');
      return;
    case 'turn_context':
      state.model = textIn(payload, 'model') ?? state.model;
      return;
    case 'response_item':
      addItem(state, payload, timeIn(entry, 'timestamp'), line);
      return;
    case 'compacted':
      compact(state, payload, timeIn(entry, 'timestamp'), line);
      return;
    case 'inter_agent_communication':
      addAgentMessage(builder, payload, line, { at: timeIn(entry, 'timestamp') });
      return;
    case 'event_msg':
      takeEvent(state, payload, line);
      return;
    default:
      // The first releases wrote items without a wrapper, after a line about the session and among lines about its
      // state.
      if (itemTypes.includes(type)) addItem(state, entry, undefined, line);
      else if (textIn(entry, 'id') !== undefined && 'instructions' in entry) state.session ??= textIn(entry, 'id');
      else builder.notes.dropped(`an entry of the type ${type}`, line);
  }
};

const itemTypes: readonly string[] = [
  'message',
  'agent_message',
  'reasoning',
  'function_call',
  'function_call_output',
  'local_shell_call',
  'custom_tool_call',
  'custom_tool_call_output',
];

/** Handles an event. Most events repeat the content of items. */
const takeEvent = (state: Reading, payload: Json, line: number): void => {
  if (payload['type'] === 'token_count') countTokens(state, objectIn(payload, 'info'));
  if (payload['type'] !== 'thread_rolled_back') return;
  state.builder.notes.dropped('turns that the user rolled back', line);
  state.builder.dropTurns(numberIn(payload, 'num_turns'));
};

const addItem = ({ builder, model }: Reading, item: Json, at: number | undefined, line: number): void =>
  addResponsesItem(builder, item, line, { at, model, isInternal: isContext });

/** Recognizes messages that Codex itself writes as the user. */
const isContext = (text: string): boolean => contexts.test(text);

const contexts =
  /^\s*(<(environment_context|user_instructions|turn_aborted|permissions|skill|user_shell_command|subagent_notification|recommended_plugins)\b|# AGENTS\.md instructions)/;

const compact = (state: Reading, payload: Json, at: number | undefined, line: number): void => {
  const { builder } = state;
  if (!builder.isEmpty) builder.notes.dropped('the conversation before a compaction', line);
  builder.clear();
  const items = objectsIn(payload, 'replacement_history');
  for (const item of items) addItem(state, item, at, line);
  const summary = textIn(payload, 'message');
  if (items.length === 0 && summary !== undefined && summary !== '') {
    builder.add({ role: 'user', content: summary, metadata: { internal: true, kind: 'summary' } }, { at });
  }
};

/** Parses usage; input tokens include cached ones. */
const countTokens = (state: Reading, info: Json): void => {
  const total = numberIn(objectIn(info, 'total_token_usage'), 'total_tokens');
  if (total === 0 || total === state.total) return;
  state.total = total;
  const last = objectIn(info, 'last_token_usage');
  const usage: Usage = {
    input: numberIn(last, 'input_tokens'),
    cacheRead: numberIn(last, 'cached_input_tokens'),
    cacheWrite: 0,
    output: numberIn(last, 'output_tokens'),
    reasoning: numberIn(last, 'reasoning_output_tokens'),
  };
  state.builder.addUsage(usage);
};
