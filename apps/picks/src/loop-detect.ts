// An agent of pi whose model asks for the same thing again and again: the loop is denied, and then the run ends.
import { Agent, type AgentTool } from '@earendil-works/pi-agent-core';
import { Type } from '@earendil-works/pi-ai';
import { builtinModels } from '@earendil-works/pi-ai/providers/all';
import { loopDetect } from '@h/loop-detect';
import { attach } from '@h/pi';

const models = builtinModels();
const found = models.getModel('openai', 'gpt-4o-mini');
if (!found) throw new Error('The model is unknown.');
const model = { ...found, baseUrl: process.env['OPENAI_BASE_URL'] ?? found.baseUrl };

const runTests: AgentTool = {
  name: 'run_tests',
  label: 'Tests',
  description: 'Runs the tests.',
  parameters: Type.Object({}),
  execute: () => Promise.resolve({ content: [{ type: 'text', text: '1 test failed.' }], details: undefined }),
};
const attached = attach(
  {
    streamFn: (...call) => models.streamSimple(...call),
    tools: [runTests],
    session: 'alice',
    onStop: ({ outcome, reason }) => console.log(`${outcome}: ${reason}`),
  },
  loopDetect(),
);
const agent = new Agent({ ...attached, initialState: { model, tools: attached.tools } });
await agent.prompt('Make the tests pass.');
console.log(`${agent.state.messages.filter(({ role }) => role === 'toolResult').length} calls`);
