import type { Summarize, SummarizeRequest } from '../src/index.js';

/** A summarizer that keeps what it was asked. */
export interface RecordedSummarizer extends Summarize {
  readonly requests: readonly SummarizeRequest[];
}

/** Records the questions that a summarizer gets. */
export const recorded = (summarize: Summarize): RecordedSummarizer => {
  const requests: SummarizeRequest[] = [];
  const recording: Summarize = (request, context) => {
    requests.push(request);
    return summarize(request, context);
  };
  return Object.assign(recording, { requests });
};

/** Rewords everything and omits or changes every name, as unchecked summarizers do. */
export const paraphrasing: Summarize = ({ purpose }) =>
  `## Report (${purpose})\nThe user asked for some handlers to be moved. Some of them were processed. A commit starting with abc1… was used on some host. The next step is to continue.`;

/** Throws what a provider throws when a request is too long. */
export const overflowError = (): Error =>
  Object.assign(new Error('prompt is too long: 210000 tokens > 200000 maximum'), { status: 400 });
