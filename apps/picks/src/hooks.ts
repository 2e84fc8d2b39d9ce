// A LangChain agent that asks a person before it deploys: the graph is interrupted, and resumes with the answer.
import { hooks, type Hook } from '@h/hooks';
import { asMiddleware } from '@h/langchain';
import type { ApprovalDecision } from '@h/turn';
import { Command, interrupt, MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import * as z from 'zod';

const deploy = tool(({ version }) => `Version ${version} is live.`, {
  name: 'deploy',
  description: 'Deploys a version.',
  schema: z.object({ version: z.string() }),
});
const askFirst: Hook = {
  name: 'ask-first',
  beforeTool: ({ call }) =>
    call.name === 'deploy' ? { decision: 'ask', reason: 'A deployment needs approval.' } : undefined,
};
const approve = ({ reason, call }: { readonly reason?: string | undefined; readonly call?: unknown }) =>
  interrupt<unknown, ApprovalDecision>({ reason, call });
const agent = createAgent({
  model: new ChatOpenAI({ model: 'gpt-5-mini', maxRetries: 0 }),
  tools: [deploy],
  middleware: [asMiddleware({ approve }, hooks([askFirst]))],
  checkpointer: new MemorySaver(),
});

const thread = { configurable: { thread_id: 'release' } };
const asked = await agent.invoke({ messages: [{ role: 'user', content: 'Deploy version 1.2.3.' }] }, thread);
console.log(JSON.stringify((asked as { readonly __interrupt__?: unknown }).__interrupt__));
const { messages } = await agent.invoke(new Command({ resume: 'once' }), thread);
console.log(messages.map(({ text }) => text).join('\n'));
