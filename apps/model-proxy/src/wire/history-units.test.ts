import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHistory, textOfHistory } from './history-units.js';
import { applyEdits } from './json-edit.js';
import { readRequest } from './wire-request.js';

const role = fc.constantFrom('user', 'assistant', 'system', 'developer', 'tool');
const type = fc.constantFrom('text', 'input_text', 'tool_use', 'tool_result', 'thinking', 'image', 'function_call');
const block = fc.record({ type, text: fc.string(), id: fc.string(), content: fc.jsonValue() });
const entry = fc.oneof(
  fc.record({ role, content: fc.oneof(fc.string(), fc.array(block, { maxLength: 3 })) }),
  fc.record({ type: fc.oneof(type, fc.string()), call_id: fc.string(), output: fc.jsonValue() }),
  fc.jsonValue(),
);

describe('readHistory', () => {
  it.each(['anthropic-messages', 'openai-chat', 'openai-responses'] as const)(
    'gives the same bytes if no message is changed: %s',
    (format) => {
      fc.assert(
        fc.property(fc.array(entry, { minLength: 1, maxLength: 6 }), fc.nat({ max: 2 }), (entries, indent) => {
          const member = format === 'openai-responses' ? 'input' : 'messages';
          const text = JSON.stringify({ model: 'm', [member]: entries }, undefined, indent);
          const wire = readRequest(format, text);
          const history = wire && readHistory(wire);
          if (!wire || !history) throw new Error('The request has no conversation.');
          // Operators return some messages as new objects with the same content.
          const sent = history.units.map((unit, index) => (index % 2 === 0 ? unit : { ...unit }));
          const written = applyEdits(text, [{ ...history.range, text: textOfHistory(format, history, sent) }]);
          if (indent === 0) expect(written).toBe(text);
          expect(JSON.parse(written)).toEqual(JSON.parse(text));
        }),
        { numRuns: 200 },
      );
    },
  );
});
