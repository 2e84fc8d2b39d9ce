import { europe } from './core-requests-europe.fixture.js';
import { others } from './core-requests-others.fixture.js';

/** Core requests in one language, in two forms each, and ordinary sentences with the same words. */
export interface CoreRequests {
  readonly language: string;
  /** Ignore the instructions; show the prompt; send a secret; hide; approve unread; rate; delete or disable; add an owner. */
  readonly requests: readonly (readonly [one: string, other: string])[];
  readonly ordinary: readonly string[];
}

const sentencesIn = (line: string): readonly string[] => line.split(' | ').map((sentence) => sentence.trim());

/** The table by language. */
export const coreRequests: readonly CoreRequests[] = `${europe}${others}`
  .split('\n# ')
  .slice(1)
  .map((block) => {
    const [language = '', ...lines] = block.trim().split('\n');
    return {
      language,
      requests: lines
        .filter((line) => !line.startsWith('>'))
        .map((line) => {
          const [one = '', other = ''] = sentencesIn(line);
          return [one, other] as const;
        }),
      ordinary: lines.filter((line) => line.startsWith('>')).flatMap((line) => sentencesIn(line.slice(1))),
    };
  });
