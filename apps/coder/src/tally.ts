import '@h/failover';
import '@h/reasoning';
import type { TurnEvent, TurnEventOf } from '@h/turn';
import { changesIn } from './render/diff.js';

/** The change of a file: lines added and removed by a tool, or the kind of change that git reports for a command. */
export type FileTally = { readonly additions: number; readonly deletions: number } | { readonly change: string };

/** The totals of a turn for its summary. */
export interface Tally {
  readonly toolCalls: number;
  /** Calls with a status other than `ok` and `stored`. */
  readonly troubled: number;
  /** Number of switches to another key or model. */
  readonly switches: number;
  /** Total delay of retries, in milliseconds. */
  readonly waitedMs: number;
  readonly startedAt: number | undefined;
  readonly files: ReadonlyMap<string, FileTally>;
  /** What the turn spent on reasoning. */
  readonly reasoning: TurnEventOf<'reasoning.used'> | undefined;
  readonly end: TurnEventOf<'turn.end'> | undefined;
}

export const noTally: Tally = {
  toolCalls: 0,
  troubled: 0,
  switches: 0,
  waitedMs: 0,
  startedAt: undefined,
  files: new Map(),
  reasoning: undefined,
  end: undefined,
};

/** Adds an event to the tally. */
export const tallied = (tally: Tally, event: TurnEvent): Tally => {
  switch (event.type) {
    case 'turn.start':
      return { ...tally, startedAt: event.at };
    case 'tool.result': {
      const isFine = event.status === 'ok' || event.status === 'stored';
      const files = filesWith(tally.files, event);
      return { ...tally, files, toolCalls: tally.toolCalls + 1, troubled: tally.troubled + (isFine ? 0 : 1) };
    }
    case 'failover.switched':
      return { ...tally, switches: tally.switches + 1, waitedMs: tally.waitedMs + event.delayMs };
    case 'failover.retrying':
    case 'failover.waiting':
      return { ...tally, waitedMs: tally.waitedMs + event.delayMs };
    case 'git.changes':
      return { ...tally, files: filesOfCommands(tally.files, event) };
    case 'reasoning.used':
      return { ...tally, reasoning: event };
    case 'turn.end':
      return { ...tally, end: event };
    default:
      return tally;
  }
};

const filesWith = (files: Tally['files'], { details }: TurnEventOf<'tool.result'>): Tally['files'] => {
  const changes = changesIn(details);
  if (changes.length === 0) return files;
  const result = new Map(files);
  for (const { path, additions, deletions } of changes) {
    const known = result.get(path);
    const before = known && 'additions' in known ? known : { additions: 0, deletions: 0 };
    result.set(path, { additions: before.additions + additions, deletions: before.deletions + deletions });
  }
  return result;
};

/** Paths from git are relative to the top of the work tree, which may be above the workspace. */
const filesOfCommands = (files: Tally['files'], { files: changed }: TurnEventOf<'git.changes'>): Tally['files'] => {
  const known = [...files.keys()];
  const others = changed.filter(({ path }) => !known.some((name) => path === name || path.endsWith(`/${name}`)));
  return others.length === 0
    ? files
    : new Map([...files, ...others.map(({ path, change }) => [path, { change }] as const)]);
};
