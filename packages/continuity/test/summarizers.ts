import type { Summarizer } from '../src/index.js';

type Question = Parameters<Summarizer>[0];

/** A summarizer that records its questions. */
export const recordedSummarizer = (
  answer: (question: Question, call: number) => string,
): Summarizer & { readonly asked: readonly Question[] } => {
  const asked: Question[] = [];
  const summarize: Summarizer = (question) => {
    asked.push(question);
    return { text: answer(question, asked.length) };
  };
  return Object.assign(summarize, { asked });
};
