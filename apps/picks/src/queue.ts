// Messages of a chat, answered one at a time for each user and two at a time in all, heartbeats last.
import { openai } from '@ai-sdk/openai';
import { createLanes } from '@h/queue';
import type { TurnTrigger } from '@h/turn';
import { generateText, type ModelMessage } from 'ai';

const lanes = createLanes({ concurrency: 2, reservedForeground: 1, idleTimeoutMs: 120_000 });
const histories = new Map<string, ModelMessage[]>();

/** Answers a message. Without the lane, two messages of one user would write the same history at once. */
const answer = (user: string, content: string, trigger: TurnTrigger = 'user') =>
  lanes.run(
    user,
    async ({ signal }) => {
      const messages: ModelMessage[] = [...(histories.get(user) ?? []), { role: 'user', content }];
      const { text } = await generateText({ model: openai.chat('gpt-5-mini'), messages, abortSignal: signal });
      histories.set(user, [...messages, { role: 'assistant', content: text }]);
      console.log(`${user}: ${content} → ${text}`);
    },
    { trigger },
  );

await Promise.all([
  answer('alice', 'My name is Alice.'),
  answer('system', 'Is anything to do?', 'heartbeat'),
  answer('alice', 'What is my name?'),
  answer('bob', 'Hello.'),
]);
await lanes.shutdown();
