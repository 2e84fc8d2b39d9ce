import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { attach } from '@h/ai-sdk';
import { compaction } from '@h/compaction';
import { createCredentialPool, failover } from '@h/failover';
import { guardrails } from '@h/guardrails';
import { hooks } from '@h/hooks';
import { destructiveCommands } from '@h/hooks/commands';
import { loopDetect } from '@h/loop-detect';
import { observe } from '@h/observe';
import { prompt } from '@h/prompt';
import { createLanes, queue } from '@h/queue';
import { security } from '@h/security';
import { tools } from '@h/tools';
import type { PipelineOperator } from '@h/turn';
import { generateText, streamText, tool, type ToolSet } from 'ai';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';

const usage = {
  inputTokens: { total: 1000, noCache: 1000, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};
type Answer = { readonly text: string } | { readonly calls: Readonly<Record<string, object>> };
let nextId = 0;

/** A model that gives these answers, and the last one from then on. */
const scripted = (...answers: readonly Answer[]) => {
  let index = 0;
  const next = () => {
    const answer = answers[Math.min(index, answers.length - 1)] as Answer;
    index += 1;
    const content =
      'text' in answer
        ? [{ type: 'text' as const, text: answer.text }]
        : Object.entries(answer.calls).map(([toolName, input]) => ({
            type: 'tool-call' as const,
            toolCallId: `call-${(nextId += 1)}`,
            toolName,
            input: JSON.stringify(input),
          }));
    const unified = 'text' in answer ? ('stop' as const) : ('tool-calls' as const);
    return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
  };
  return new MockLanguageModelV4({
    doGenerate: async () => next(),
    doStream: async () => {
      const { content, ...finish } = next();
      return {
        stream: convertArrayToReadableStream<LanguageModelV4StreamPart>([
          { type: 'stream-start', warnings: [] },
          ...content.flatMap((part): LanguageModelV4StreamPart[] =>
            part.type === 'text'
              ? [
                  { type: 'text-start' as const, id: '1' },
                  { type: 'text-delta' as const, id: '1', delta: part.text },
                  { type: 'text-end' as const, id: '1' },
                ]
              : [part],
          ),
          { type: 'finish', finishReason: finish.finishReason, usage: finish.usage },
        ]),
      };
    },
  });
};

const shellTools = (run: (command: string) => string): ToolSet => ({
  bash: tool({ inputSchema: z.object({ command: z.string() }), execute: ({ command }) => run(command) }),
  read: tool({
    inputSchema: z.object({ path: z.string() }),
    execute: () => 'The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD.',
  }),
  list: tool({ inputSchema: z.object({}), execute: () => ({ files: ['a.txt', 'b.txt'] }) }),
});

const operators: readonly (readonly [string, () => PipelineOperator])[] = [
  ['queue', () => queue(createLanes())],
  ['hooks', () => hooks([destructiveCommands()])],
  ['guardrails', () => guardrails({ maxSteps: 40 })],
  ['prompt', () => prompt({ frozen: [{ id: 'identity', text: 'You are terse.' }] })],
  ['compaction', () => compaction({ window: 100_000, summarize: () => 'A summary.' })],
  ['loop-detect', () => loopDetect()],
  ['tools', () => tools()],
  ['security', () => security()],
  ['observe', () => observe()],
];

describe('attach', () => {
  it.each<[string, () => readonly PipelineOperator[]]>([
    ...operators.map(([name, make]): [string, () => readonly PipelineOperator[]] => [name, () => [make()]]),
    ['all of them', () => operators.map(([, make]) => make())],
  ])('runs a loop with three tools with %s, whole and as a stream', async (_, make) => {
    const script: readonly Answer[] = [
      { calls: { read: { path: 'a.txt' }, list: {}, bash: { command: 'ls' } } },
      { calls: { bash: { command: 'cat a.txt' } } },
      { text: 'Done.' },
    ];
    const ran: string[] = [];
    const settingsOf = () =>
      attach<ToolSet>(
        { model: scripted(...script), tools: shellTools((command) => `${ran.push(command)}`) },
        ...make(),
      );
    expect((await generateText({ ...settingsOf(), prompt: 'Look.', maxRetries: 0 })).text).toBe('Done.');
    expect(await streamText({ ...settingsOf(), prompt: 'Look.', maxRetries: 0 }).text).toBe('Done.');
    expect(ran).toEqual(['ls', 'cat a.txt', 'ls', 'cat a.txt']);
  });

  it('does not run a destructive command, which runs otherwise', async () => {
    const ran: string[] = [];
    const loop = async (...given: readonly PipelineOperator[]) => {
      const model = scripted({ calls: { bash: { command: 'rm -rf /' } } }, { text: 'Sorry.' });
      const settings = attach<ToolSet>({ model, tools: shellTools((command) => `${ran.push(command)}`) }, ...given);
      return (await generateText({ ...settings, prompt: 'Clean up.' })).text;
    };
    expect(await loop(hooks([destructiveCommands()]))).toBe('Sorry.');
    expect(ran).toEqual([]);
    await loop();
    expect(ran).toEqual(['rm -rf /']);
  });

  it('stops a loop of identical calls, which otherwise runs to the step limit', async () => {
    const loop = async (...given: readonly PipelineOperator[]) => {
      const model = scripted({ calls: { read: { path: 'a.txt' } } });
      const settings = attach<ToolSet>({ model, tools: shellTools(() => '') }, ...given);
      const { steps } = await generateText({ ...settings, prompt: 'Read.' });
      return steps.length;
    };
    expect(await loop()).toBe(100);
    expect(await loop(loopDetect())).toBeLessThan(20);
  });

  it('ends a loop whose budget is used up, with the reason', async () => {
    const model = scripted(
      { calls: { list: {} } },
      { calls: { read: { path: 'a' } } },
      { calls: { bash: { command: 'ls' } } },
    );
    const stops: string[] = [];
    const settings = attach<ToolSet>(
      { model, tools: shellTools(() => ''), onStop: ({ outcome }) => void stops.push(outcome) },
      guardrails({ maxSteps: 3 }),
    );
    const { steps } = await generateText({ ...settings, prompt: 'Go.' });
    expect(stops).toEqual(['max-steps']);
    expect(steps.length).toBeLessThan(6);
  });

  it('uses the second key if the first one has no quota', async () => {
    const used: string[] = [];
    const keys: Record<string, string> = { one: 'sk-1', two: 'sk-2' };
    const profiles = Object.entries(keys).map(([id, key]) => ({ id, provider: 'mock', key }));
    const quota = Object.assign(new Error('You exceeded your current quota.'), {
      status: 429,
      code: 'insufficient_quota',
    });
    const resolve = (_: string | undefined, credential = '') => {
      used.push(keys[credential] ?? '');
      return used.length === 1
        ? new MockLanguageModelV4({ doGenerate: () => Promise.reject(quota) })
        : scripted({ text: 'Hello.' });
    };
    const settings = attach(
      { model: scripted(), resolve },
      failover({ pool: createCredentialPool({ profiles }), models: ['mock/m'] }),
    );
    expect((await generateText({ ...settings, prompt: 'Hi', maxRetries: 0 })).text).toBe('Hello.');
    expect(used).toHaveLength(2);
    expect(new Set(used).size).toBe(2);
  });

  it('lets the model read a redacted result', async () => {
    const model = scripted({ calls: { read: { path: 'a.txt' } } }, { text: 'Done.' });
    await generateText({ ...attach<ToolSet>({ model, tools: shellTools(() => '') }, security()), prompt: 'Read.' });
    const sent = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
    expect(sent).toContain('The key is');
    expect(sent).not.toContain('sk-proj-abcdefghijklmnopqrstuvwxyz');
  });
});
