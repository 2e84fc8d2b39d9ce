import { createLoopDetector, type LoopCall, type LoopVerdict } from '@h/loop-detect';
import { historyOf, textOfContent } from '../wire/history.js';
import type { JsonPath } from '../wire/json-edit.js';
import { Refusal } from './refusal.js';
import type { WireRequest } from '../wire/wire-request.js';

/** The same warning is repeated after this number of results. */
const warnEvery = 5;

/** A new value at a place of a request. */
export interface RequestChange {
  readonly path: JsonPath;
  readonly value: unknown;
}

/**
 * Detects tool calls without progress in the history that a request carries.
 *
 * The warnings depend on the history alone: each request repeats those of the request before at the same places, so the
 * provider's cache stays valid, also after a restart of the proxy.
 *
 * @returns the tool results with a warning
 * @throws Refusal `loop` if the calls continue regardless of the warnings
 */
export const warnOfLoops = (wire: WireRequest): readonly RequestChange[] => {
  const detector = createLoopDetector();
  const changes: RequestChange[] = [];
  const warned = new Map<string, number>();
  let calls = new Map<string, { readonly call: LoopCall; readonly verdict: LoopVerdict }>();
  let ending: LoopVerdict | undefined;
  for (const item of historyOf(wire)) {
    if (item.type === 'user') {
      detector.reset();
      warned.clear();
      calls = new Map();
      ending = undefined;
    } else if (item.type === 'call') {
      const call = { id: item.id, name: item.name, input: item.input };
      calls.set(item.id, { call, verdict: detector.judge(call) });
    } else {
      const known = calls.get(item.callId);
      if (!known) continue;
      calls.delete(item.callId);
      const output = textOfContent(item.content);
      const after = detector.record(known.call, { status: item.isError ? 'failed' : 'ok', output });
      // The call has run, so its result decides: a call that looked like a loop may have made progress.
      if (after.level === 'ok') continue;
      const worst = known.verdict.level === 'ok' || after.level === 'break' ? after : known.verdict;
      if (worst.level === 'break') ending = worst;
      // The note takes the place of a denial, after which the detector ends the same loop.
      if (known.verdict.level === 'block') {
        const denied = { ...known.call, id: `${item.callId} denied` };
        detector.judge(denied);
        detector.record(denied, { status: 'denied', output: worst.message });
      }
      const count = warned.get(worst.key) ?? 0;
      warned.set(worst.key, count + 1);
      if (count % warnEvery !== 0 && worst.level !== 'block') continue;
      changes.push({ path: item.path, value: withNote(item.content, worst.message, wire) });
    }
  }
  if (ending) throw new Refusal('loop', `The run was ended because it makes no progress. ${ending.message}`);
  return changes.filter(({ value }) => value !== undefined);
};

/** Adds a note to the content of a tool result; `undefined` if the content has an unknown form. */
const withNote = (content: unknown, note: string, { format }: WireRequest): unknown => {
  const text = `[Note from the proxy: ${note}]`;
  if (typeof content === 'string') return content === '' ? text : `${content}\n\n${text}`;
  if (!Array.isArray(content)) return undefined;
  return [...(content as unknown[]), { type: format === 'openai-responses' ? 'input_text' : 'text', text }];
};
