import { InvalidOptionError } from '@h/options';
import {
  harness,
  intercept,
  memorySessions,
  MessageList,
  notice,
  reply,
  type AssistantPart,
  type Message,
  type ModelRequest,
  type ModelResponse,
  type TurnOperator,
} from '@h/turn';
import { call, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { reasoning, type ReasoningOptions } from './reasoning.js';

const thought = (text: string, provider = 'anthropic'): AssistantPart => ({
  type: 'reasoning',
  text,
  providerOptions: { [provider]: { signature: `signature of ${text}` } },
});

/** An answer that spent tokens on reasoning. */
const spending = (tokens: number, ...parts: readonly (string | AssistantPart)[]): ModelResponse => {
  const answer = response(...parts);
  return { ...answer, usage: { ...answer.usage, output: tokens * 2, reasoning: tokens } };
};

const opus = 'anthropic/claude-opus-5-5';
const gemini = 'google/gemini-3-flash';
const failing = scriptedTools({
  noop: () => {
    throw new Error('No.');
  },
});

interface Run extends ReasoningOptions {
  readonly model?: string;
  readonly before?: readonly TurnOperator[];
  readonly input?: string;
  readonly trigger?: string;
  readonly sessions?: ReturnType<typeof memorySessions>;
  readonly tools?: ReturnType<typeof scriptedTools>;
  readonly settings?: ModelRequest['settings'];
}

const run = async (answers: Parameters<typeof scriptedModel>[0], job: Run = {}) => {
  const {
    model: defaultModel = opus,
    before = [],
    input = 'Go.',
    trigger,
    sessions,
    tools,
    settings,
    ...options
  } = job;
  const model = scriptedModel(answers);
  const agent = harness({
    model,
    defaultModel,
    tools: tools ?? scriptedTools({ noop: 'ok' }),
    ...(sessions && { sessions }),
    ...(settings && { settings }),
  }).pipe(...before, reasoning(options));
  const events = await lastValueFrom(
    agent.turn({ session: 'alice', input, ...(trigger !== undefined && { trigger }) }).pipe(toArray()),
  );
  return {
    events,
    requests: model.requests,
    efforts: model.requests.map((one) => one.settings.reasoning),
    thoughts: model.requests.map((one) => thoughtsIn(one.messages)),
    used: events.find(({ type }) => type === 'reasoning.used'),
  };
};

const thoughtsIn = (messages: Iterable<Message>): readonly string[] =>
  [...messages].flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])),
  );

const loop = (count: number): readonly ModelResponse[] => [
  ...Array.from({ length: count }, (_, at) => response(thought(`${at + 1}`), call(`c${at + 1}`))),
  response(thought('last'), 'Done.'),
];

describe('the effort', () => {
  it('is held for the whole turn where another one would invalidate the prompt cache', async () => {
    expect((await run(loop(3), { tools: failing })).efforts).toEqual(['medium', 'medium', 'medium', 'medium']);
  });

  it('follows the steps where it may change', async () => {
    expect((await run(loop(3), { model: gemini })).efforts).toEqual(['high', 'medium', 'medium', 'medium']);
    expect((await run(loop(3), { model: gemini, tools: failing })).efforts).toEqual(['high', 'medium', 'high', 'high']);
  });

  it('rises after a loop warning', async () => {
    const warning = intercept('warning', () => ({
      decide: { 'tool.result': (event) => [event, notice('event.ignored', { event: 'none', reason: 'A loop.' })] },
    }));
    const { efforts } = await run(loop(1), { model: gemini, before: [warning], raiseOn: ['event.ignored'] });
    expect(efforts).toEqual(['high', 'high']);
  });

  it.each([
    ['a heartbeat', { trigger: 'heartbeat' }, 'low'],
    ['changed rules', { rules: { triggers: { user: 'high' } } }, 'high'],
    ['a fixed effort', { effort: 'max' }, 'max'],
    ['words of the user', { words: { think: 'high', 'think hardest': 'max' }, input: 'Think hardest, please.' }, 'max'],
    ['words inside of others', { words: { think: 'high' }, input: 'Rethink the thinking.' }, 'medium'],
    ['a budget that is almost used up', { budgetLeft: (): number => 0.1 }, 'low'],
    ['a budget that is unknown', { budgetLeft: (): number => Number.NaN }, 'medium'],
    ['an effort that the model does not accept', { effort: 'none' }, 'low'],
    ['an effort that the request has', { settings: { reasoning: 'xhigh' } }, 'xhigh'],
    ['a model that accepts none', { model: 'ollama/llama3.2' }, undefined],
  ] as const)('is chosen for %s', async (_, job, effort) => {
    expect((await run(['Done.'], job as Run)).efforts).toEqual([effort]);
  });

  it('is lower close to the deadline of the turn', async () => {
    const deadline = intercept('deadline', ({ now, setDeadline }) => ({ start: () => setDeadline(now() + 5_000) }));
    expect((await run(['Done.'], { before: [deadline] })).efforts).toEqual(['low']);
  });

  it('drops to the lowest that the model accepts when the tokens are used up, and the turn continues', async () => {
    const answers = [spending(60, call('1')), spending(60, call('2')), spending(60, call('3')), 'Done.'];
    const { efforts, events } = await run(answers, { maxReasoningTokens: 100, effort: 'high' });
    expect(efforts).toEqual(['high', 'high', 'low', 'low']);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  });

  it('is chosen again for another model', async () => {
    const fallback = intercept('fallback', () => ({
      decide: { 'model.request': (event) => ({ ...event, model: event.step > 1 ? gemini : opus }) },
    }));
    expect((await run(loop(1), { before: [fallback] })).efforts).toEqual(['medium', 'medium']);
    expect((await run(loop(2), { before: [fallback], tools: failing })).efforts).toEqual(['medium', 'medium', 'high']);
  });

  it('stays off in a tool loop that began without reasoning, for models with a token budget', async () => {
    const answers = [response(call('1')), response(thought('late'), call('2')), 'Done.'];
    const { efforts } = await run(answers, { model: 'anthropic/claude-sonnet-4-5' });
    expect(efforts).toEqual(['medium', 'none', 'none']);
  });
});

describe('the history', () => {
  it('goes back with its signatures, to the byte, and is stored as it came', async () => {
    const sessions = memorySessions();
    const { requests, thoughts } = await run(loop(2), { sessions });
    expect(thoughts).toEqual([[], ['1'], ['1', '2']]);
    expect(JSON.stringify(requests[2]?.messages.slice(0, 3))).toBe(JSON.stringify(requests[1]?.messages));
    expect(JSON.stringify(requests[2]?.messages)).toContain('signature of 2');
    expect(thoughtsIn(sessions.messages('alice'))).toEqual(['1', '2', 'last']);
    expect((await run(['Hi.'], { sessions })).thoughts).toEqual([['1', '2', 'last']]);
  });

  it('never sends signatures of one provider to another, and keeps them for the way back', async () => {
    const models = [opus, 'openai/gpt-5', opus];
    const switching = intercept('switching', () => ({
      decide: { 'model.request': (event) => ({ ...event, model: models[event.step - 1] }) },
    }));
    const answers = [
      response(thought('of Claude'), call('1')),
      response(thought('of GPT', 'openai'), call('2')),
      'Done.',
    ];
    const { thoughts } = await run(answers, { before: [switching] });
    expect(thoughts).toEqual([[], [], ['of Claude']]);
  });

  const drop = (model: string, changing: TurnOperator) => run(loop(3), { model, before: [changing] });

  it('loses bound reasoning when the history before it is replaced', async () => {
    const compacting = intercept('compacting', () => ({
      decide: {
        'model.request': (event) =>
          event.step === 3 && event.messages.at(0)?.content === 'Go.'
            ? [
                {
                  type: 'history.replace',
                  messages: [user('Summary.'), ...event.messages.slice(1)],
                  origin: 'compacting',
                },
                { ...event, messages: MessageList.of([user('Summary.'), ...event.messages.slice(1)]) },
              ]
            : undefined,
      },
    }));
    const { requests } = await drop(opus, compacting);
    expect(requests.map(({ messages }) => messages.at(0)?.content)).toEqual(['Go.', 'Go.', 'Summary.', 'Summary.']);
    expect(thoughtsIn(requests[3]?.messages ?? [])).toEqual(['3']);
    const unbound = await drop('anthropic/claude-opus-5', compacting);
    expect(unbound.thoughts.at(-1)).toEqual(['1', '2', '3']);
  });

  it('loses bound reasoning while the tools or the system prompt differ', async () => {
    const prompts = ['A', 'A', 'B', 'A'];
    const changing = intercept('changing', () => ({
      decide: { 'model.request': (event) => ({ ...event, system: [{ text: prompts[event.step - 1] ?? '' }] }) },
    }));
    expect((await drop(opus, changing)).thoughts).toEqual([[], ['1'], [], ['1', '2']]);
  });

  it('does not send bound reasoning that a tail preceded', async () => {
    const tail = intercept('tail', () => ({
      decide: {
        'model.request': (event) => (event.step === 1 ? { ...event, tail: [user('It is noon.')] } : undefined),
      },
    }));
    expect((await drop(opus, tail)).thoughts).toEqual([[], [], ['2'], ['2', '3']]);
    expect((await drop('anthropic/claude-opus-5', tail)).thoughts.at(-1)).toEqual(['1', '2', '3']);
  });

  it('passes unchanged to a model without a name', async () => {
    const model = scriptedModel([response(thought('1', 'other'), call('1')), 'Done.']);
    const tools = scriptedTools({ noop: 'ok' });
    await reply(harness({ model, tools }).pipe(reasoning()).turn({ session: 'alice', input: 'Go.' }));
    expect(thoughtsIn(model.requests[1]?.messages ?? [])).toEqual(['1']);
    expect(model.requests[1]?.settings.reasoning).toBeUndefined();
  });
});

describe('reasoning.used', () => {
  it('reports tokens and share before the end', async () => {
    const { used, events } = await run([spending(30, call('1')), spending(10, 'Done.')]);
    expect(used).toMatchObject({ effort: 'medium', tokens: 40, outputTokens: 80, share: 0.5 });
    expect(events.at(-2)).toBe(used);
  });

  it('is not emitted if no model was called', async () => {
    const quiet = intercept('quiet', () => ({
      decide: { 'turn.start': () => ({ type: 'turn.stop', outcome: 'blocked' }) },
    }));
    expect((await run(['Done.'], { before: [quiet] })).used).toBeUndefined();
  });
});

describe('the options', () => {
  it.each([
    { effort: 'huge' },
    { rules: { triggers: { user: 'huge' } } },
    { rules: { lowBudget: 2 } },
    { words: { ' ': 'high' } },
    { words: { think: 'hard' } },
    { maxReasoningTokens: -1 },
    { budgetLeft: 0.5 },
    { raiseOn: [''] },
    { efforts: 'high' },
  ])('rejects %j', (options) => {
    expect(() => reasoning(options as ReasoningOptions)).toThrow(InvalidOptionError);
  });
});

const changes = ['model.request', 'history.append', 'history.replace', 'turn.end', 'reasoning.used'] as const;
describeOperator(() => reasoning(), { changes });

describe('for a model with bound reasoning', () => {
  const named = intercept('named', () => ({
    decide: { 'model.request': (event) => (event.model === opus ? undefined : { ...event, model: opus }) },
  }));
  describeOperator(() => (source) => source.pipe(named, reasoning({ maxReasoningTokens: 3 })), { changes });
});
