// An AI SDK app that continues when a key is out of quota: with a second key, then with a second model.
import { createOpenAI } from '@ai-sdk/openai';
import { attach } from '@h/ai-sdk';
import { createCredentialPool, failover } from '@h/failover';
import { generateText } from 'ai';

const key = (id: string, env: string) => ({ id, provider: 'openai', key: { env } });
const pool = createCredentialPool({ profiles: [key('team', 'OPENAI_API_KEY'), key('reserve', 'OPENAI_RESERVE_KEY')] });
const resolve = async (model = 'gpt-5-mini', credential = 'team') => {
  console.log(`${credential} calls ${model}`);
  return createOpenAI({ apiKey: await pool.key(credential) })(model.replace('openai/', ''));
};
const model = await resolve();
const operator = failover({ pool, models: ['openai/gpt-5-mini', 'openai/gpt-5-nano'] });

const { text } = await generateText({
  ...attach({ model, resolve }, operator),
  prompt: 'Say hello.',
  maxRetries: 0,
});
console.log(text);
