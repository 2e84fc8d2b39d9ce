import type { TurnEvent } from '@h/turn';
import type { Palette } from './palette.js';
import { oneLine } from './printable.js';
import { counted } from './quantity.js';

const maxNamed = 5;

/** Formats an event of git(), one line per fact. */
export const gitLines = (event: TurnEvent, palette: Palette): readonly string[] => {
  const done = (text: string): readonly string[] => [palette.dim(`⎇ ${oneLine(text)}`)];
  const warning = (text: string): readonly string[] => [palette.yellow(`! ${oneLine(text)}`)];
  switch (event.type) {
    case 'git.branch': {
      const { branch, from, uncommitted } = event;
      const remarks = [
        ...(from === undefined ? [] : [`from ${from}`]),
        ...(uncommitted === 0 ? [] : [`${counted(uncommitted, 'file')} not committed`]),
      ];
      return done(`on branch ${branch}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}`);
    }
    case 'git.changes':
      return event.mixed.length === 0 ? [] : done(`uncommitted before the turn: ${named(event.mixed)}`);
    case 'git.commit':
      return done(
        `committed ${counted(event.files.length, 'file')} as ${event.commit.slice(0, 10)} on ${event.branch}: ${event.message.split('\n', 1)[0] ?? ''}`,
      );
    case 'git.left-out':
      return warning(`not committed: ${named(event.files.map(({ path, reason }) => `${path} (${reason})`))}`);
    case 'git.restored':
      if ('kept' in event) return warning(`still on the branch: ${event.kept}`);
      return done(`back on ${event.to}${event.branchDeleted ? '; the branch had no changes and was deleted' : ''}`);
    case 'git.failed':
      return warning(`git: ${event.error.message}`);
    default:
      return [];
  }
};

const named = (names: readonly string[]): string =>
  [...names.slice(0, maxNamed), ...(names.length > maxNamed ? [`${names.length - maxNamed} more`] : [])].join(', ');
