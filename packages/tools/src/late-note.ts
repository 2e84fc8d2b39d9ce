import type { Message } from '@h/turn';
import type { LateResult } from './late-results.js';

/** Creates the message that reports calls which completed late. */
export const lateNote = (results: readonly LateResult[]): Message => {
  const lines = results.map(({ name, id, reportedAs, durationMs }) => {
    const before = reportedAs === 'timed-out' ? 'reported as timed out' : 'cancelled when its turn ended';
    return `- ${name} (call ${id}), ${before}, completed after ${durationMs} ms without an error`;
  });
  return {
    role: 'user',
    content: [
      '[Note from the harness, not from the user. These tool calls have completed after they timed out or were cancelled:',
      ...lines,
      'Check their effects before you repeat them.]',
    ].join('\n'),
    metadata: { internal: true, kind: 'late-results' },
  };
};
