import { describe, expect, it } from 'vitest';
import { CallIds } from '../transcript/call-ids.js';
import { ingestResponse } from './ingest.js';
import { CallSlots } from './call-slots.js';
import type { ModelResponse } from '../contract/model.js';
import { noUsage } from '../contract/usage.js';

const response = (inputs: Readonly<Record<string, unknown>>, invalidCalls: ModelResponse['invalidCalls']) => ({
  content: Object.entries(inputs).map(([toolCallId, input]) => ({
    type: 'tool-call' as const,
    toolCallId,
    toolName: 'read',
    input,
  })),
  finishReason: 'tool-calls' as const,
  usage: noUsage,
  invalidCalls,
});
const deep = (levels: number): unknown => (levels === 0 ? {} : { a: deep(levels - 1) });
const reasons = (given: ModelResponse, ids = new CallIds()): Readonly<Record<string, string | undefined>> => {
  const slots = new CallSlots({ type: 'model.response', ...ingestResponse(given, ids) } as never);
  return Object.fromEntries([...slots].map(({ call, invalid }) => [call.id, invalid]));
};

describe('ingestResponse', () => {
  it('keeps why a call is invalid when its id is in use', () => {
    const ids = new CallIds();
    ids.note('a');
    expect(reasons(response({ a: '{', b: {} }, { a: 'Not JSON.' }), ids)).toEqual({ 'a-2': 'Not JSON.', b: undefined });
  });

  it('keeps why a call is invalid when another one is nested too deep', () => {
    const found = reasons(response({ a: '{', b: deep(600) }, { a: 'Not JSON.' }));
    expect(found).toEqual({ a: 'Not JSON.', b: expect.stringContaining('more than 500 levels deep') as string });
  });

  it('finds no reason in the prototype of the reasons', () => {
    expect(reasons(response({ a: '{', constructor: {} }, { a: 'Not JSON.' }))).toEqual({
      a: 'Not JSON.',
      constructor: undefined,
    });
  });
});
