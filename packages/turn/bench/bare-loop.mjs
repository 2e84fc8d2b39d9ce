/** The same work without a harness: an async generator that calls the model, streams, runs the tool and repeats. */
export async function* bareLoop(model, runTool, input, maxSteps) {
  const messages = [{ role: 'user', content: input }];
  for (let step = 1; step <= maxSteps; step += 1) {
    const content = [];
    let text = '';
    for await (const piece of model(messages)) {
      if (piece.type === 'delta') {
        text += piece.text;
        yield { type: 'delta', step, text: piece.text };
      } else {
        content.push(...piece.content);
      }
    }
    messages.push({ role: 'assistant', content: text === '' ? content : [{ type: 'text', text }, ...content] });
    yield { type: 'response', step, content };
    const calls = content.filter((part) => part.type === 'tool-call');
    if (calls.length === 0) return;
    const results = [];
    for (const call of calls) {
      yield { type: 'call', step, call };
      const value = await runTool(call.toolName, call.input);
      results.push({
        type: 'tool-result',
        toolCallId: call.toolCallId,
        toolName: call.toolName,
        output: { type: 'text', value },
      });
      yield { type: 'result', step, call, value };
    }
    messages.push({ role: 'tool', content: results });
  }
}
