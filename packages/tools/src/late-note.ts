import type { Message } from '@h/turn';
import type { LateResult } from './late-results.js';

/** Tells the model that calls which it believes unfinished have completed. */
export const lateNote = (results: readonly LateResult[]): Message => {
  const lines = results.map(({ name, id, reportedAs, durationMs }) => {
    const before = reportedAs === 'timed-out' ? 'reported as timed out' : 'cancelled when its turn ended';
    return `- ${name} (call ${id}), ${before}, came to its end after ${durationMs} ms without an error`;
  });
  return {
    role: 'user',
    content: [
      '[Note from the harness, not from the user. Tool calls that had been given up may have completed after all:',
      ...lines,
      'Check what they have done before you repeat them.]',
    ].join('\n'),
    metadata: { internal: true, kind: 'late-results' },
  };
};
