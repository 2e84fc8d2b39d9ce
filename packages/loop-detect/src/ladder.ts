import type { TurnEventOf, UserMessage } from '@h/turn';
import type { LoopVerdict } from './verdict.js';

/** Why a call was not run, and what to do now. */
export const refusal = ({ level, message }: LoopVerdict, isCulprit: boolean, tool: string): string => {
  const next = level === 'break' ? 'The turn ends here.' : 'If the same comes again the turn ends.';
  if (isCulprit) return `Not run. ${message} ${next}`;
  return `Not run: ${tool} was asked for together with a call that goes in circles. ${message} ${next}`;
};

const advice = (text: string): UserMessage => ({
  role: 'user',
  content: text,
  metadata: { internal: true, kind: 'loop-detect' },
});

/** The last request of a turn in a loop: no tools, only words. The tools stay in it, so that what is cached stays cached. */
export const asksForSummary = (event: TurnEventOf<'model.request'>, reason: string): TurnEventOf<'model.request'> => ({
  ...event,
  settings: { ...event.settings, toolChoice: 'none' },
  tail: [
    ...event.tail,
    advice(
      `This turn ends because it went in circles: ${reason} Do not call tools. Say in a few sentences what was done, what was found out, what is still open, and what you would need to go on.`,
    ),
  ],
});

/** The same request once more, after an answer that repeated itself. */
export const withAdvice = (event: TurnEventOf<'model.request'>, text: string): TurnEventOf<'model.request'> => ({
  ...event,
  tail: [...event.tail, advice(text)],
});
