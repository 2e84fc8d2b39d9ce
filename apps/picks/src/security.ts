// An agent of the OpenAI Agents SDK whose tools print keys: neither the model nor the history reads them.
import { attach } from '@h/openai-agents';
import { security } from '@h/security';
import { Agent, MemorySession, setTracingDisabled, tool } from '@openai/agents';
import * as z from 'zod';

setTracingDisabled(true);
const readConfig = tool({
  name: 'read_config',
  description: 'Reads the configuration.',
  parameters: z.object({}),
  execute: () => 'region: eu\nDATABASE_PASSWORD=r7Vq-p0Kx9Lm2Zt',
});
const agent = new Agent({ name: 'Operator', model: 'gpt-5-mini', tools: [readConfig] });
const session = new MemorySession({ sessionId: 'alice' });

const attached = attach({ agent }, security());
const { finalOutput } = await attached.run('In which region do we run?', { session });
console.log(finalOutput);
console.log(JSON.stringify(await session.getItems()));
