// What an AI SDK app costs: tokens and dollars for each session, and one line of JSON for each run.
import { openai } from '@ai-sdk/openai';
import { attach } from '@h/ai-sdk';
import { callbackSink, createUsageMeter, formatTotals, observe } from '@h/observe';
import { loadPrices } from '@h/prices';
import { streamText } from 'ai';

const meter = createUsageMeter({ costOf: await loadPrices() });
const sink = callbackSink((observation) => {
  if (observation.type === 'run.completed') console.log(JSON.stringify(observation));
});
const operators = observe({ meter, sinks: [sink], provider: 'openai' });

const attached = attach({ model: openai.chat('gpt-4o-mini'), session: 'alice' }, operators);
for (const prompt of ['Say hello.', 'Say goodbye.']) {
  const { textStream } = streamText({ ...attached, prompt, maxRetries: 0 });
  for await (const text of textStream) process.stdout.write(text);
}
attached.forget('alice');
console.log(`\n${formatTotals(meter.session('alice'))}`);
