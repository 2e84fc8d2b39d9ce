// A LangChain agent with a budget: four steps, two dollars, and a last answer that sums up the work.
import { guardrails } from '@h/guardrails';
import { asMiddleware } from '@h/langchain';
import { priceTable } from '@h/prices';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import * as z from 'zod';

const search = tool(({ query }) => `Nothing new about ${query}.`, {
  name: 'search',
  description: 'Searches the web.',
  schema: z.object({ query: z.string() }),
});
const costOf = priceTable({ 'gpt-5-mini': { input: 0.25, output: 2 } });
const agent = createAgent({
  model: new ChatOpenAI({ model: 'gpt-5-mini', maxRetries: 0 }),
  tools: [search],
  middleware: [asMiddleware(guardrails({ maxSteps: 4, maxCost: 2, costOf }))],
});
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Find every mention of us.' }] });
console.log(messages.at(-1)?.text);
