import { describe, expect, it } from 'vitest';
import { answersIn, contextOf } from '../../test/contexts.js';
import { overflowError, recorded } from '../../test/summarizers.js';
import { isContextOverflow } from '@h/provider-errors';
import { createInterview, type Interview } from './interview.js';
import type { Summarize } from './summarize.js';

const text = 'A long transcript. '.repeat(20);
const interviewWith = (summarize: Summarize, answers = new Map<string, string>(), maxAttempts = 2): Interview =>
  createInterview({
    ...contextOf([]),
    answers: answersIn(answers),
    summarize,
    maxAttempts,
    maxOutputTokens: 100,
    limit: (task) => task(),
    isOverflow: isContextOverflow,
    redact: (given) => given.replaceAll('secret', '***'),
    onUsage: () => undefined,
  });

describe('an interview', () => {
  it('puts the same question once', async () => {
    const summarize = recorded(() => 'A report.');
    const interview = interviewWith(summarize);
    expect(await interview.ask('summarize', text)).toBe('A report.');
    expect(await interview.ask('summarize', text)).toBe('A report.');
    await interview.ask('merge', text);
    expect(summarize.requests).toHaveLength(2);
  });

  it.each<readonly [string, Summarize, string]>([
    ['nothing', () => '', 'empty'],
    ['more than it was given', () => text + text, 'inflated'],
  ])('does not keep an answer of %s, and asks again', async (_, summarize, reason) => {
    const answers = new Map<string, string>();
    const asked = recorded(summarize);
    await expect(interviewWith(asked, answers).ask('summarize', text)).rejects.toMatchObject({ reason });
    expect(asked.requests).toHaveLength(2);
    expect(answers.size).toBe(0);
  });

  it('keeps answers without secrets', async () => {
    const answers = new Map<string, string>();
    await interviewWith(() => 'It is secret.', answers).ask('summarize', text);
    expect([...answers.values()]).toEqual(['It is ***.']);
  });

  it('does not ask again what is too long', async () => {
    const summarize = recorded(() => Promise.reject(overflowError()));
    await expect(interviewWith(summarize).ask('summarize', text)).rejects.toMatchObject({ reason: 'overflow' });
    expect(summarize.requests).toHaveLength(1);
  });
});
