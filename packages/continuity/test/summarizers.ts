import type { BriefingQuestion, IdentifierProof, Summarizer } from '../src/index.js';

/** Long numbers are what must not be paraphrased here. */
export const numbers: IdentifierProof = {
  extract: (text) => [...new Set(text.match(/\d{5,}/g))].map((value) => ({ value })),
  missing: (identifiers, text) => identifiers.filter(({ value }) => !text.includes(value)),
};

/** A summariser that writes down what it is asked. */
export const recordedSummarizer = (
  answer: (question: BriefingQuestion, call: number) => string,
): Summarizer & { readonly asked: readonly BriefingQuestion[] } => {
  const asked: BriefingQuestion[] = [];
  const summarize: Summarizer = (question) => {
    asked.push(question);
    return {
      text: answer(question, asked.length),
      usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 },
    };
  };
  return Object.assign(summarize, { asked });
};
