import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssistantPart, Message, RepairProblem, ToolResultPart } from '../contract/messages.js';
import { interruptedText, repairHistory } from './repair.js';
import { call, user } from '../testing/index.js';

const asks = (...ids: readonly string[]): Message => ({ role: 'assistant', content: ids.map((id) => call(id)) });
const says = (text: string): Message => ({ role: 'assistant', content: text });
const resultPart = (id: string, value = `result of ${id}`): ToolResultPart => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'noop',
  output: { type: 'text', value },
});
const results = (...ids: readonly string[]): Message => ({ role: 'tool', content: ids.map((id) => resultPart(id)) });
const interrupted = (id: string): ToolResultPart => ({
  ...resultPart(id),
  output: { type: 'error-text', value: interruptedText },
});

const problemsOf = (...history: readonly Message[]): readonly RepairProblem[] =>
  repairHistory(history).repairs.map(({ problem }) => problem);

describe('repairHistory', () => {
  it.each<[string, readonly Message[], readonly Message[], readonly RepairProblem[]]>([
    ['drops a result without a call', [user('a'), results('1'), says('b')], [user('a'), says('b')], ['orphan-result']],
    [
      'drops a result without a call and keeps the others of its message',
      [user('a'), asks('1'), results('9', '1')],
      [user('a'), asks('1'), results('1')],
      ['orphan-result'],
    ],
    [
      'answers a call without a result as interrupted',
      [user('a'), asks('1')],
      [user('a'), asks('1'), { role: 'tool', content: [interrupted('1')] }],
      ['missing-result'],
    ],
    [
      'puts a missing result beside those that are there',
      [user('a'), asks('1', '2'), results('2'), says('b')],
      [user('a'), asks('1', '2'), { role: 'tool', content: [resultPart('2'), interrupted('1')] }, says('b')],
      ['missing-result'],
    ],
    [
      'drops a second result for one call',
      [asks('1'), results('1'), results('1')],
      [asks('1'), results('1')],
      ['duplicate-result'],
    ],
    [
      'keeps results that are spread over messages',
      [asks('1', '2'), results('1'), results('2')],
      [asks('1', '2'), results('1'), results('2')],
      [],
    ],
    [
      'moves a result that comes after something else to where it belongs',
      [asks('1'), user('wait'), results('1'), says('b')],
      [asks('1'), results('1'), user('wait'), says('b')],
      ['late-result'],
    ],
    [
      'moves several, out of one message, and leaves no empty one',
      [asks('1', '2'), user('wait'), results('2', '1')],
      [asks('1', '2'), results('1', '2'), user('wait')],
      ['late-result', 'late-result'],
    ],
    [
      'does not move a result past the next answer of the model',
      [asks('1'), says('b'), results('1')],
      [asks('1'), { role: 'tool', content: [interrupted('1')] }, says('b')],
      ['missing-result', 'duplicate-result'],
    ],
    [
      'gives a call whose id was used before another one, and its result with it',
      [asks('1'), results('1'), asks('1'), results('1')],
      [asks('1'), results('1'), asks('1-2'), { role: 'tool', content: [{ ...resultPart('1'), toolCallId: '1-2' }] }],
      ['duplicate-call-id'],
    ],
    [
      'tells two calls of one message with one id apart, by occurrence',
      [asks('1', '1'), { role: 'tool', content: [resultPart('1', 'first'), resultPart('1', 'second')] }],
      [
        asks('1', '1-2'),
        { role: 'tool', content: [resultPart('1', 'first'), { ...resultPart('1', 'second'), toolCallId: '1-2' }] },
      ],
      ['duplicate-call-id'],
    ],
    [
      'names calls without an id',
      [asks(''), results('')],
      [asks('call-2'), { role: 'tool', content: [{ ...resultPart(''), toolCallId: 'call-2' }] }],
      ['duplicate-call-id'],
    ],
    [
      'drops messages that say nothing',
      [
        user(''),
        { role: 'assistant', content: [{ type: 'text', text: '' }] },
        { role: 'tool', content: [] },
        user('a'),
      ],
      [user('a')],
      ['empty-message', 'empty-message', 'empty-message'],
    ],
    [
      'replaces lone surrogates, wherever they are',
      [user('a\ud800'), asks('1\udc00'), results('1\udc00')],
      [
        user('a\ufffd'),
        asks('1\ufffd'),
        { role: 'tool', content: [{ ...resultPart('1\ufffd', 'result of 1\ufffd') }] },
      ],
      ['lone-surrogate', 'lone-surrogate', 'lone-surrogate'],
    ],
  ])('%s', (_, history, expected, problems) => {
    expect(repairHistory(history).messages).toEqual(expected);
    expect(problemsOf(...history)).toEqual(problems);
  });

  it('ignores calls that the provider ran, with and without their result', () => {
    const content: readonly AssistantPart[] = [
      { ...call('1'), providerExecuted: true },
      call('2'),
      resultPart('2'),
      { type: 'text', text: 'So.' },
    ];
    const history: readonly Message[] = [user('a'), { role: 'assistant', content }, user('b')];
    const { messages, repairs } = repairHistory(history);
    expect(repairs).toEqual([]);
    expect(messages).toEqual(history);
  });

  it('reports the index of each problem', () => {
    const { repairs } = repairHistory([user('a'), asks('1'), user(''), results('9')]);
    expect(repairs).toEqual([
      { problem: 'empty-message', index: 2 },
      { problem: 'orphan-result', index: 3, toolCallId: '9' },
      { problem: 'missing-result', index: 1, toolCallId: '1' },
    ]);
  });

  it('accepts any iterable and returns a valid history unchanged', () => {
    const history = [user('a'), asks('1', '2'), results('2', '1'), says('b'), user('c')];
    const { messages, repairs } = repairHistory(new Set(history));
    expect(repairs).toEqual([]);
    expect(messages.every((message, index) => message === history[index])).toBe(true);
  });

  it('repairs 10,000 steps with one call id in linear time', () => {
    const history = Array.from({ length: 10_000 }, () => [asks('call_0'), results('call_0')]).flat();
    const { messages, repairs } = repairHistory(history);
    expect(repairs).toHaveLength(9_999);
    expect(messages.at(-1)).toMatchObject({ content: [{ toolCallId: 'call_0-10000' }] });
    expect(repairHistory(messages).repairs).toEqual([]);
  });
});

const id = fc.constantFrom('1', '2', '3', '', '1-2', 'x\ud800');
const text = fc.constantFrom('', 'a', 'b\udc00');
const assistantPart = fc.oneof(
  text.map((value): AssistantPart => ({ type: 'text', text: value })),
  id.map((given): AssistantPart => call(given)),
  id.map((given): AssistantPart => ({ ...call(given), providerExecuted: true })),
  id.map((given): AssistantPart => resultPart(given)),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  text.map(user),
  text.map(says),
  fc.array(assistantPart, { maxLength: 4 }).map((content): Message => ({ role: 'assistant', content })),
  fc
    .array(
      id.map((given) => resultPart(given)),
      { maxLength: 4 },
    )
    .map((content): Message => ({ role: 'tool', content })),
);
const history = fc.array(message, { maxLength: 12 });

/**
 * Whether a provider takes it: every call answered once, right after its message; every id once; no halves of
 * characters.
 */
const refusalOf = (messages: readonly Message[]): string | undefined => {
  const used = new Set<string>();
  let open = new Set<string>();
  for (const [index, { role, content }] of messages.entries()) {
    if (content.length === 0 || JSON.stringify(content) === '[{"type":"text","text":""}]') {
      return `message ${index} is empty`;
    }
    if (!JSON.stringify(content).isWellFormed() || JSON.stringify(content).includes('\\ud')) {
      return `message ${index} has a lone surrogate`;
    }
    if (role === 'tool') {
      for (const part of content) {
        if (part.type !== 'tool-result') continue;
        if (!open.delete(part.toolCallId)) return `message ${index} answers ${part.toolCallId}, which is not open`;
      }
      continue;
    }
    if (open.size > 0) return `message ${index} comes before the results of ${[...open].join()}`;
    if (role !== 'assistant' || typeof content === 'string') continue;
    const inline = new Set(content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])));
    const calls = content.flatMap((part) =>
      part.type === 'tool-call' && part.providerExecuted !== true && !inline.has(part.toolCallId)
        ? [part.toolCallId]
        : [],
    );
    if (calls.some((given) => used.has(given) || given === '') || new Set(calls).size < calls.length) {
      return `message ${index} uses an id twice`;
    }
    for (const given of calls) used.add(given);
    open = new Set(calls);
  }
  return open.size > 0 ? 'calls stay open at the end' : undefined;
};

describe('repairHistory, of any history', () => {
  it('returns one that a provider accepts', () => {
    fc.assert(
      fc.property(history, (given) => {
        expect(refusalOf(repairHistory(given).messages)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(history, (given) => {
        const once = repairHistory(given).messages;
        const twice = repairHistory(once);
        expect(twice.repairs).toEqual([]);
        expect(twice.messages.every((kept, index) => kept === once[index])).toBe(true);
        expect(twice.messages).toHaveLength(once.length);
      }),
      { numRuns: 1_000 },
    );
  });

  it('reports every change and changes nothing else', () => {
    fc.assert(
      fc.property(history, (given) => {
        const { messages, repairs } = repairHistory(given);
        const isSame = messages.length === given.length && messages.every((kept, index) => kept === given[index]);
        expect(repairs.length === 0).toBe(isSame);
      }),
      { numRuns: 1_000 },
    );
  });

  it('never mutates its input', () => {
    fc.assert(
      fc.property(history, (given) => {
        const before = structuredClone(given);
        repairHistory(given);
        expect(given).toEqual(before);
      }),
    );
  });

  it('loses no result of an earlier call, and invents none', () => {
    const pair = fc.record({ id: fc.constantFrom('1', '2', '3'), before: fc.array(text.map(user), { maxLength: 2 }) });
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
        const given = pairs.flatMap(({ id: one, before }, index): Message[] => [
          asks(one),
          ...before,
          { role: 'tool', content: [resultPart(one, `value ${index}`)] },
        ]);
        const values = repairHistory(given).messages.flatMap((kept) =>
          kept.role === 'tool'
            ? kept.content.map((part) =>
                part.type === 'tool-result' && 'value' in part.output ? part.output.value : '',
              )
            : [],
        );
        expect(values).toEqual(pairs.map((_, index) => `value ${index}`));
      }),
    );
  });
});
