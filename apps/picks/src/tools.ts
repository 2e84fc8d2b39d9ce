// An AI SDK app whose tools return megabytes: the model reads the beginning, the end and how much is missing.
import { openai } from '@ai-sdk/openai';
import { attach } from '@h/ai-sdk';
import { tools as capped } from '@h/tools';
import { generateText, tool } from 'ai';
import * as z from 'zod';

const readLog = tool({
  description: 'Reads the log of a service.',
  inputSchema: z.object({ service: z.string() }),
  execute: ({ service }) => Array.from({ length: 50_000 }, (_, line) => `${service} ${line}: ok`).join('\n'),
});

const { steps, text } = await generateText({
  ...attach({ model: openai.chat('gpt-5-mini'), tools: { readLog } }, capped({ maxChars: 4000 })),
  prompt: 'Is the mail service healthy?',
  maxRetries: 0,
});
console.log(`${String(steps[0]?.toolResults[0]?.output).length} characters`, text);
