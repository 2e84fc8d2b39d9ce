/** The same work without a harness: an async generator that asks, streams, runs the tool and continues. */
import { callIdOf, deltaAt, inputOf, resultOf, stepOf, tool } from '../workload.mjs';

async function* bareLoop(model, runTool, input, onMessage) {
  const messages = [{ role: 'user', content: input }];
  const add = (message) => {
    messages.push(message);
    onMessage?.(message);
  };
  for (let step = 1; ; step += 1) {
    const content = [];
    let text = '';
    for await (const part of model(messages, step)) {
      if (part.type === 'delta') {
        text += part.text;
        yield { type: 'delta', step, text: part.text };
      } else {
        content.push(...part.content);
      }
    }
    add({ role: 'assistant', content: text === '' ? content : [{ type: 'text', text }, ...content] });
    yield { type: 'response', step, content };
    if (content.length === 0) return;
    const results = [];
    for (const call of content) {
      yield { type: 'call', step, call };
      const value = await runTool(call.input);
      results.push({ type: 'tool-result', toolCallId: call.toolCallId, output: { type: 'text', value } });
      yield { type: 'result', step, call, value };
    }
    add({ role: 'tool', content: results });
  }
}

export const create = () => {
  const modelOf = (steps, deltas) =>
    async function* (_messages, step) {
      for (let index = 0; index < deltas; index += 1) yield { type: 'delta', text: deltaAt(step, index) };
      const call = { type: 'tool-call', toolCallId: callIdOf(step), toolName: tool.name, input: inputOf(step) };
      yield { type: 'response', content: step < steps ? [call] : [] };
    };
  const runTool = async (input) => resultOf(stepOf(input));
  return {
    /** `onMessage` receives each message that the turn adds. */
    run: async (steps, deltas, onMessage) => {
      let received = 0;
      for await (const event of bareLoop(modelOf(steps, deltas), runTool, 'Go.', onMessage)) {
        if (event.type === 'delta') received += event.text.length;
      }
      return received;
    },
    park: () => {
      // oxlint-disable-next-line require-yield -- the model never answers
      const silent = async function* () {
        await new Promise(() => {});
      };
      const turn = bareLoop(silent, runTool, 'Go.');
      void turn.next();
      return turn;
    },
  };
};
