import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { ChatCompletionRequest, FixtureResponse } from '@copilotkit/aimock';
import { languageModel } from '@h/ai-sdk';
import { prompt, type PromptOptions } from '@h/prompt';
import { defineTool, toolDriver } from '@h/tools';
import { harness, type TurnEvent } from '@h/turn';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { lastValueFrom, toArray } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { startMockProvider } from './mock-provider.js';
import { blocksOf, simulateCache } from './wire.js';

const turns = 50;

/** Answers every third question with a tool call first. */
const answer = ({ messages }: ChatCompletionRequest): FixtureResponse => {
  const asked = JSON.stringify(messages.at(-1)?.content ?? '');
  const isQuestion = asked.includes('Question ') && messages.at(-1)?.role === 'user';
  const number = Number(/Question (\d+)/.exec(asked)?.[1] ?? 0);
  const wantsTool = isQuestion && number % 3 === 0;
  return wantsTool
    ? { toolCalls: [{ id: `toolu_${number}`, name: 'look', arguments: JSON.stringify({ number }) }] }
    : { content: `Answer ${number}` };
};

const rule =
  'Prefer small functions, name things by what they mean, and run the tests before you say that you are done. ';

/** Returns the prompt of an agent whose clock and memory change with every request. */
const tiers = (): PromptOptions => {
  let seconds = 0;
  const memories: string[] = [];
  return {
    frozen: [{ id: 'identity', text: `You are a careful engineer.\r\n${rule.repeat(10)}` }],
    session: [{ id: 'rules', text: async () => Promise.resolve(`# Rules\n${rule.repeat(20)}  \r\n`) }],
    volatile: [
      { id: 'time', text: () => `It is 12:00:${String((seconds += 1)).padStart(2, '0')}.` },
      {
        id: 'memory',
        text: ({ step, turn }) =>
          memories.concat(`Remembered in ${turn}, step ${step}: ${memories.push('something')}`).join('\n'),
      },
    ],
  };
};

const tool = (name: string) =>
  defineTool({
    name,
    description: `The tool ${name}.`,
    input: { type: 'object', properties: { number: { type: 'number' } } },
    effect: 'read-only',
    run: () => 'Seen.',
  });

interface Conversation {
  /** The request bodies as received over the wire. */
  readonly bodies: readonly string[];
  /** The same requests as parsed by the mock. */
  readonly received: readonly ChatCompletionRequest[];
  readonly events: readonly TurnEvent[];
}

const converse = async (
  options: PromptOptions,
  modelAt: (url: string) => LanguageModelV4 = anthropicAt,
): Promise<Conversation> => {
  const provider = await startMockProvider(answer);
  try {
    const tools = toolDriver([tool('write'), tool('look'), tool('ask')]);
    const agent = harness({ model: languageModel(modelAt(provider.url)), tools }).pipe(prompt(options));
    const events: TurnEvent[] = [];
    for (let number = 1; number <= turns; number += 1) {
      events.push(
        ...(await lastValueFrom(agent.turn({ session: 'alice', input: `Question ${number}` }).pipe(toArray()))),
      );
    }
    return {
      bodies: provider.bodies,
      received: provider.received().map(({ body }) => body as ChatCompletionRequest),
      events,
    };
  } finally {
    await provider.stop();
  }
};

const anthropicAt = (url: string): LanguageModelV4 =>
  createAnthropic({ baseURL: url, apiKey: 'test' })('claude-sonnet-4-5');
const openaiAt = (url: string): LanguageModelV4 => createOpenAI({ baseURL: url, apiKey: 'test' }).chat('gpt-4.1');

describe('a conversation of 50 turns with a changing clock and memory', () => {
  let conversation: Conversation;
  beforeAll(async () => {
    conversation = await converse(tiers());
  }, 120_000);

  it('completes all turns', () => {
    const { events, bodies } = conversation;
    const ends = events.filter((event) => event.type === 'turn.end').map(({ outcome }) => outcome);
    expect(ends).toEqual(Array.from({ length: turns }, () => 'completed'));
    expect(bodies).toHaveLength(turns + Math.floor(turns / 3));
    expect(events.filter(({ type }) => type.startsWith('cache.') || type.startsWith('prompt.'))).toEqual([]);
  });

  it('sends a byte-identical prefix and only appends to it', () => {
    const { bodies } = conversation;
    const first = JSON.parse(bodies[0] as string) as { readonly system: unknown; readonly tools: unknown };
    for (const body of bodies) {
      expect(body).toContain(`"system":${JSON.stringify(first.system)}`);
      expect(body).toContain(`"tools":${JSON.stringify(first.tools)}`);
    }
    const all = bodies.map(blocksOf);
    for (const [index, blocks] of all.entries()) {
      const history = blocks.slice(0, -1);
      const next = all[index + 1]?.slice(0, history.length);
      if (next) expect(next.map(({ json }) => json)).toEqual(history.map(({ json }) => json));
    }
  });

  it('sends changing sections last, once, as data and without a cache breakpoint', () => {
    const { bodies } = conversation;
    const clocks = bodies.map((body) => body.match(/It is 12:00:\d+/g) ?? []);
    expect(clocks.every((found) => found.length === 1)).toBe(true);
    expect(new Set(clocks.flat()).size).toBe(bodies.length);
    for (const body of bodies) {
      const blocks = blocksOf(body);
      expect(blocks.at(-1)?.json).toContain('It is 12:00:');
      const marked = blocks.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
      expect(marked).toEqual([3, 4, blocks.length - 2]);
    }
  });

  it('lets the provider read all but the newest messages from its cache', () => {
    const shares = simulateCache(conversation.bodies);
    expect(shares[0]).toBe(0);
    // Each request adds an answer and a question, or a call and its result, and the facts with the growing memory.
    expect(Math.min(...shares.slice(1))).toBeGreaterThan(0.75);
  });

  it('sends one prompt and one order of tools throughout', () => {
    const { received, bodies } = conversation;
    const prompts = received.map(({ messages }) => JSON.stringify(messages.filter(({ role }) => role === 'system')));
    expect(prompts).toHaveLength(bodies.length);
    expect(new Set(prompts).size).toBe(1);
    expect(prompts[0]).toContain('You are a careful engineer.');
    const names = received.map(({ tools }) => tools?.map((offered) => offered.function.name).join());
    expect(new Set(names)).toEqual(new Set(['ask,look,write']));
  });
});

describe('the same conversation', () => {
  it('sends the same text to a provider without cache breakpoints', async () => {
    const { bodies } = await converse(tiers(), openaiAt);
    const sent = bodies.map(
      (body) => (JSON.parse(body) as { readonly messages: readonly { readonly content: unknown }[] }).messages,
    );
    for (const [index, messages] of sent.entries()) {
      const history = messages.slice(0, -1);
      expect(JSON.stringify(messages.at(-1))).toContain('It is 12:00:');
      if (index + 1 < sent.length) expect(sent[index + 1]?.slice(0, history.length)).toEqual(history);
    }
    expect(bodies.join()).not.toContain('cache');
    expect(sent[0]?.slice(0, 2).map(({ content }) => content)).toEqual([
      `You are a careful engineer.\n${rule.repeat(10).trim()}`,
      `# Rules\n${rule.repeat(20).trim()}`,
    ]);
  }, 120_000);

  it('loses the cache in each turn if the clock is in the system prompt, and names the section', async () => {
    const { session = [], ...rest } = tiers();
    const clock = { id: 'clock', text: ({ turn }: { readonly turn: string }) => `Asked in ${turn}.` };
    const { bodies, events } = await converse({ ...rest, session: [...session, clock] });
    expect(simulateCache(bodies).filter((share) => share < 0.5).length).toBeGreaterThanOrEqual(turns);
    const broken = events.filter((event) => event.type === 'cache.broken');
    expect(broken).toHaveLength(turns - 1);
    expect(broken[0]).toMatchObject({
      from: 'session',
      changes: [{ part: 'session', id: 'clock', change: 'changed' }],
    });
  }, 120_000);
});
