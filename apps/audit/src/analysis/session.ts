import type { CostOf } from '@h/prices';
import type { AuditRecord } from '../read/record.js';
import { CacheAnalysis, type CacheBreak } from './cache.js';
import { CommandAnalysis, type CommandFinding } from './commands.js';
import { ContextAnalysis } from './context.js';
import type { Findings } from './finding.js';
import { InjectionAnalysis, type InjectionFinding } from './injections.js';
import { LoopAnalysis, type LoopFinding } from './loops.js';
import { ResultAnalysis, type OversizedFinding, type ToolTotals } from './results.js';
import { SecretAnalysis } from './secrets.js';
import type { TextFacts } from './text-facts.js';
import { UsageAnalysis, type Spending } from './usage.js';

/** The file of a session. */
export interface SessionFile {
  readonly path: string;
  readonly format: string;
  readonly skippedLines: number;
}

/** What one session cost, and what each package would have found in it. */
export interface SessionReport extends SessionFile {
  readonly spending: Spending;
  readonly byModel: Readonly<Record<string, Spending>>;
  readonly byDay: Readonly<Record<string, Spending>>;
  readonly byTool: Readonly<Record<string, ToolTotals>>;
  readonly loops: Findings<LoopFinding> & {
    readonly repeats: number;
    readonly callsAfter: number;
    readonly wasted: Spending;
  };
  readonly commands: {
    readonly count: number;
    readonly denied: Findings<CommandFinding>;
    readonly asked: Findings<CommandFinding>;
  };
  readonly secrets: { readonly count: number; readonly byKind: Readonly<Record<string, number>> };
  readonly injections: Findings<InjectionFinding> & { readonly scanned: number };
  readonly results: {
    readonly oversized: Findings<OversizedFinding>;
    readonly carriedTokens: number;
    readonly openCalls: number;
    readonly orphanResults: number;
  };
  readonly cache: {
    readonly breaks: Findings<CacheBreak>;
    readonly lostTokens: Readonly<Record<string, number>>;
    readonly lostCost: number;
  };
  readonly context: {
    readonly crossings: number;
    readonly compactions: number;
    readonly tokensAbove: number;
    readonly maxInputTokens: number;
    readonly pathsAtRisk: number;
    readonly longTurns: number;
    readonly stepsBeyond: number;
  };
}

/** Audits one session. */
export class SessionAudit {
  readonly #usage: UsageAnalysis;
  readonly #loops: LoopAnalysis;
  readonly #cache: CacheAnalysis;
  readonly #commands: CommandAnalysis;
  readonly #secrets: SecretAnalysis;
  readonly #injections: InjectionAnalysis;
  readonly #results: ResultAnalysis;
  readonly #context = new ContextAnalysis();

  constructor(costOf: CostOf, facts: TextFacts) {
    this.#usage = new UsageAnalysis(costOf);
    this.#loops = new LoopAnalysis(costOf);
    this.#cache = new CacheAnalysis(costOf, facts);
    this.#commands = new CommandAnalysis(facts);
    this.#secrets = new SecretAnalysis(facts);
    this.#injections = new InjectionAnalysis(facts);
    this.#results = new ResultAnalysis(facts);
  }

  /**
   * Takes the next records. Each analysis reads all of them before the next one begins: its code and tables then stay in the
   * caches of the processor.
   */
  take(records: readonly AuditRecord[]): void {
    const analyses = [
      this.#usage,
      this.#loops,
      this.#cache,
      this.#commands,
      this.#secrets,
      this.#injections,
      this.#results,
      this.#context,
    ];
    for (const analysis of analyses) for (const record of records) analysis.take(record);
  }

  end({ path, format, skippedLines }: SessionFile): SessionReport {
    this.#results.end();
    const { loops, repeats, callsAfter, wasted } = this.#loops;
    const { breaks, lostByCause, lostCost } = this.#cache;
    const { oversized, carriedTokens, openCalls, orphanResults, byTool } = this.#results;
    const { crossings, compactions, tokensAbove, maxInputTokens, pathsAtRisk, longTurns, stepsBeyond } = this.#context;
    return {
      path,
      format,
      skippedLines,
      spending: this.#usage.total,
      byModel: Object.fromEntries(this.#usage.byModel),
      byDay: Object.fromEntries(this.#usage.byDay),
      byTool: Object.fromEntries(byTool),
      loops: { count: loops.count, listed: loops.listed, repeats, callsAfter, wasted },
      commands: { count: this.#commands.commands, denied: this.#commands.denied, asked: this.#commands.asked },
      secrets: { count: this.#secrets.count, byKind: Object.fromEntries(this.#secrets.byKind) },
      injections: { ...listOf(this.#injections.found), scanned: this.#injections.scanned },
      results: { oversized, carriedTokens, openCalls, orphanResults },
      cache: { breaks, lostTokens: Object.fromEntries(lostByCause), lostCost },
      context: { crossings, compactions, tokensAbove, maxInputTokens, pathsAtRisk, longTurns, stepsBeyond },
    };
  }
}

const listOf = <Finding>({ count, listed }: Findings<Finding>): Findings<Finding> => ({ count, listed });
