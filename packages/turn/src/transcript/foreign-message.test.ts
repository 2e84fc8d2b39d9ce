import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../contract/errors.js';
import type { Message } from '../contract/messages.js';
import { repairHistory } from './repair.js';

class Foreign {
  readonly content = 'Hello.';
  get type(): string {
    return 'ai';
  }
}

describe('repairHistory of a foreign history', () => {
  it.each<[string, unknown, RegExp]>([
    ['an instance of a class without a role', new Foreign(), /its role is undefined/],
    ['an unknown role', { role: 'toolResult', toolCallId: '1', content: [] }, /its role is "toolResult"/],
    ['an item without a role', { type: 'function_call', callId: '1' }, /its role is undefined/],
    ['tool calls outside of the content', { role: 'assistant', content: '', tool_calls: [{ id: '1' }] }, /tool calls/],
    ['no content', { role: 'assistant', content: null }, /its content is null/],
    ['a result as text', { role: 'tool', tool_call_id: '1', content: 'text' }, /its content is text|"text"/],
    ['a call of another shape', { role: 'assistant', content: [{ type: 'tool_use', id: '1' }] }, /"tool_use"/],
    ['a result in a user message', { role: 'user', content: [{ type: 'tool_result' }] }, /"tool_result"/],
    ['a part that is no object', { role: 'user', content: [undefined] }, /the type undefined/],
    ['a role of the prototype', { role: 'constructor', content: '' }, /its role is "constructor"/],
    ['no object', 'Hello', /it is "Hello"/],
    ['null', null, /it is null/],
  ])('rejects %s and names the index and the conversion', (_, message, problem) => {
    const history = [{ role: 'user', content: 'Hi' }, message] as readonly Message[];
    expect(() => repairHistory(history)).toThrow(InvalidInputError);
    expect(() => repairHistory(history)).toThrow(problem);
    expect(() => repairHistory(history)).toThrow(/index 1 .*convertHistory\(format, repairHistory\)/);
  });

  it('shows the beginning of a long role only', () => {
    const history = [{ role: 'x'.repeat(10_000), content: '' }] as unknown as readonly Message[];
    expect(() => repairHistory(history)).toThrow(/^.{0,400}$/s);
  });
});
