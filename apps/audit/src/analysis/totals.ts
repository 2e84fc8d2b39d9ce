import type { AuditedSession, SkippedFile } from '../audit.js';
import { counted, grouped } from '../format.js';
import { sumOf, type Comparison } from '../replay/comparison.js';
import type { CacheBreak } from './cache.js';
import type { CommandFinding } from './commands.js';
import { FindingList, type Findings } from './finding.js';
import type { InjectionFinding } from './injections.js';
import type { LoopFinding } from './loops.js';
import type { OversizedFinding, ToolTotals } from './results.js';
import type { SessionReport } from './session.js';
import { addSpending, memberOf, noSpending, type Spending } from './usage.js';

/** A finding with the file of its session. */
export type Placed<Finding> = Finding & { readonly path: string };

/** What a package would have done, in one sentence, and its size for sorting. */
export interface Saving {
  readonly package: string;
  readonly effect: string;
  /** Tokens that would not have been sent, if that is the effect. */
  readonly tokens?: number | undefined;
  /** Dollars, as far as prices are known. */
  readonly cost?: number | undefined;
}

/** The sums of all sessions. */
export interface AuditTotals {
  readonly sessions: number;
  readonly skipped: readonly SkippedFile[];
  readonly skippedLines: number;
  readonly spending: Spending;
  readonly byModel: Readonly<Record<string, Spending>>;
  readonly byDay: Readonly<Record<string, Spending>>;
  readonly byTool: Readonly<Record<string, ToolTotals>>;
  readonly loops: Findings<Placed<LoopFinding>>;
  readonly denied: Findings<Placed<CommandFinding>>;
  readonly asked: Findings<Placed<CommandFinding>>;
  readonly injections: Findings<Placed<InjectionFinding>>;
  readonly oversized: Findings<Placed<OversizedFinding>>;
  readonly cacheBreaks: Findings<Placed<CacheBreak>>;
  readonly secretsByKind: Readonly<Record<string, number>>;
  readonly savings: readonly Saving[];
  /** Of the sessions that were replayed. */
  readonly replay?: Comparison | undefined;
}

/** Sums up the reports of all sessions. */
export const totalsOf = (sessions: readonly AuditedSession[], skipped: readonly SkippedFile[]): AuditTotals => {
  const spending = noSpending();
  const byModel = new Map<string, Spending>();
  const byDay = new Map<string, Spending>();
  const byTool = new Map<string, ToolTotals>();
  const secretsByKind = new Map<string, number>();
  for (const session of sessions) {
    addSpending(spending, session.spending);
    for (const [name, sum] of Object.entries(session.byModel)) addSpending(memberOf(byModel, name, noSpending), sum);
    for (const [day, sum] of Object.entries(session.byDay)) addSpending(memberOf(byDay, day, noSpending), sum);
    for (const [name, sum] of Object.entries(session.byTool)) addTool(byTool, name, sum);
    for (const [kind, count] of Object.entries(session.secrets.byKind)) {
      secretsByKind.set(kind, (secretsByKind.get(kind) ?? 0) + count);
    }
  }
  return {
    sessions: sessions.length,
    skipped,
    skippedLines: sum(sessions, ({ skippedLines }) => skippedLines),
    spending,
    byModel: largestFirst(byModel, ({ cost, requests }) => cost || requests / 1e9),
    byDay: Object.fromEntries([...byDay].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    byTool: largestFirst(byTool, ({ resultTokens }) => resultTokens),
    loops: placed(sessions, ({ loops }) => loops),
    denied: placed(sessions, ({ commands }) => commands.denied),
    asked: placed(sessions, ({ commands }) => commands.asked),
    injections: placed(sessions, ({ injections }) => injections),
    oversized: placed(sessions, ({ results }) => results.oversized),
    cacheBreaks: placed(sessions, ({ cache }) => cache.breaks),
    secretsByKind: largestFirst(secretsByKind, (count) => count),
    savings: savingsOf(sessions),
    replay: sumOf(sessions.flatMap(({ replay }) => (replay ? [replay] : []))),
  };
};

const addTool = (byTool: Map<string, ToolTotals>, name: string, sum: ToolTotals): void => {
  const total = memberOf(byTool, name, () => ({ calls: 0, errors: 0, resultTokens: 0 }));
  total.calls += sum.calls;
  total.errors += sum.errors;
  total.resultTokens += sum.resultTokens;
};

const sum = (sessions: readonly SessionReport[], of: (session: SessionReport) => number): number =>
  sessions.reduce((total, session) => total + of(session), 0);

const largestFirst = <Value>(
  map: ReadonlyMap<string, Value>,
  sizeOf: (value: Value) => number,
): Record<string, Value> => Object.fromEntries([...map].toSorted(([, one], [, other]) => sizeOf(other) - sizeOf(one)));

const placed = <Finding extends object>(
  sessions: readonly SessionReport[],
  of: (session: SessionReport) => Findings<Finding>,
): Findings<Placed<Finding>> => {
  const list = new FindingList<Placed<Finding>>();
  for (const session of sessions) {
    const { count, listed } = of(session);
    for (const finding of listed) list.add({ ...finding, path: session.path });
    list.count += count - listed.length;
  }
  return { count: list.count, listed: list.listed };
};

/** Joins the effects that were found. */
const joined = (effects: readonly (readonly [found: number, effect: string])[]): string =>
  effects
    .filter(([found]) => found > 0)
    .map(([, effect]) => effect)
    .join(' and ');

/** What each package would have done. Packages without an effect are left out. */
const savingsOf = (sessions: readonly SessionReport[]): readonly Saving[] => {
  const count = (of: (session: SessionReport) => number): number => sum(sessions, of);
  const loops = count((session) => session.loops.count);
  const repeats = count((session) => session.loops.repeats);
  const callsAfter = count((session) => session.loops.callsAfter);
  const denied = count(({ commands }) => commands.denied.count);
  const asked = count(({ commands }) => commands.asked.count);
  const secrets = count((session) => session.secrets.count);
  const injections = count((session) => session.injections.count);
  const oversized = count(({ results }) => results.oversized.count);
  const carried = count(({ results }) => results.carriedTokens);
  const crossings = count(({ context }) => context.crossings);
  const above = count(({ context }) => context.tokensAbove);
  const atRisk = count(({ context }) => context.pathsAtRisk);
  const orphans = count(({ results }) => results.openCalls + results.orphanResults);
  const breaks = count(({ cache }) => cache.breaks.count);
  const lost = count(({ cache }) => Object.values(cache.lostTokens).reduce((all, tokens) => all + tokens, 0));
  const beyond = count(({ context }) => context.stepsBeyond);
  const savings: readonly (Saving & { readonly found: number })[] = [
    {
      package: '@h/loop-detect',
      found: loops,
      effect: `stops ${counted(loops, 'loop')}: of ${counted(callsAfter, 'call')} after that, ${grouped(repeats)} repeated ${loops === 1 ? 'it' : 'one'}`,
      tokens: count((session) => session.loops.wasted.usage.input + session.loops.wasted.usage.output),
      cost: count((session) => session.loops.wasted.cost),
    },
    {
      package: '@h/tools',
      found: oversized,
      effect: `caps ${counted(oversized, 'result')} of more than 64,000 characters, sent again by later requests`,
      tokens: carried,
    },
    {
      package: '@h/compaction',
      found: crossings,
      effect: `shortens the history ${counted(crossings, 'time')}, and preserves ${counted(atRisk, 'path')} that later calls used again`,
      tokens: above,
    },
    {
      package: '@h/prompt',
      found: breaks,
      effect: `reports ${counted(breaks, 'request')} whose prefix was not read from the cache, with what changed`,
      tokens: lost,
      cost: count(({ cache }) => cache.lostCost),
    },
    {
      package: '@h/hooks',
      found: denied + asked,
      effect: joined([
        [denied, `denies ${counted(denied, 'destructive command')}`],
        [asked, `asks about ${counted(asked, 'command')}`],
      ]),
    },
    {
      package: '@h/security',
      found: secrets + injections,
      effect: joined([
        [secrets, `redacts ${counted(secrets, 'secret')}`],
        [
          injections,
          `marks ${counted(injections, 'result that addresses the model', 'results that address the model')}`,
        ],
      ]),
    },
    {
      package: '@h/guardrails',
      found: beyond,
      effect: `ends turns at 50 steps; ${counted(beyond, 'step was', 'steps were')} beyond that`,
    },
    {
      package: '@h/turn',
      found: orphans,
      effect: `repairs ${counted(orphans, 'call or result', 'calls and results')} without a counterpart, which providers reject`,
    },
  ];
  return savings.flatMap(({ found, ...saving }) => (found > 0 ? [saving] : []));
};
