// An AI SDK agent whose conversation fits the window, however long it runs: old messages become a summary.
import { openai } from '@ai-sdk/openai';
import { attach } from '@h/ai-sdk';
import { compaction, type Summarize } from '@h/compaction';
import { generateText, stepCountIs, tool, ToolLoopAgent } from 'ai';
import * as z from 'zod';

const summarize: Summarize = async ({ instructions, text }, { signal }) => {
  const model = openai.chat('gpt-5-nano');
  return (await generateText({ model, instructions, prompt: text, abortSignal: signal })).text;
};
const readPage = tool({
  description: 'Reads a page of the manual.',
  inputSchema: z.object({ page: z.number() }),
  execute: ({ page }) => `Page ${page}. ${'The pump has a valve, and the valve has a handle. '.repeat(200)}`,
});
const agent = new ToolLoopAgent(
  attach(
    { model: openai.chat('gpt-5-mini'), tools: { readPage }, session: 'manual', stopWhen: stepCountIs(50) },
    compaction({ window: 12_000, reserve: 2000, protectTokens: 2000, summarize }),
  ),
);

const { steps } = await agent.generate({ prompt: 'Read the manual and tell me what the handle is for.' });
console.log(steps.map(({ usage }) => usage.inputTokens).join(', '));
console.log(steps.at(-1)?.text);
