import type { TurnEvent } from '@h/turn';
import type { Palette } from './palette.js';
import { oneLine } from './printable.js';
import { duration, grouped } from './quantity.js';

/** What the operators have to say about a turn, one line for each thing. */
export const noticeLines = (event: TurnEvent, palette: Palette): readonly string[] => {
  const done = (text: string): readonly string[] => [palette.dim(oneLine(text))];
  const warning = (text: string): readonly string[] => [palette.yellow(`! ${oneLine(text)}`)];
  switch (event.type) {
    case 'compaction.done': {
      const { tokensBefore, tokensAfter, strategies, durationMs } = event;
      return done(`⇣ compacted: ${grouped(tokensBefore)} → ${grouped(tokensAfter)} tokens (${strategies.join(', ')}, ${duration(durationMs)})`);
    }
    case 'compaction.failed':
      return warning(`not compacted${event.strategy === undefined ? '' : ` by ${event.strategy}`}: ${event.message}`);
    case 'cache.checked':
      return event.outcome === 'lost' ? warning(`the provider's cache was lost: ${grouped(event.cachedBefore)} tokens were in it, ${grouped(event.cacheRead)} were read`) : [];
    case 'prompt.skipped':
      return warning(`left out of the prompt: ${event.section} (${event.message})`);
    case 'prompt.problem':
    case 'skills.problem':
      return warning(event.message);
    default:
      return [];
  }
};
