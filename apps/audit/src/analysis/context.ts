import type { AuditRecord } from '../read/record.js';
import { isObject } from '../read/record.js';

/** The window of current models, and what `@h/compaction` reserves for the answer by default. */
const windowTokens = 200_000;
const reserveTokens = 16_384;
/** The default of `compaction()`: the share of the rest at which it begins. */
const threshold = 0.7;
/** The default of `guardrails()`: steps of one turn. */
const maxSteps = 50;
const maxPaths = 5000;
const pathPattern = /(?<![\w.@-])(?:\.{0,2}\/)?(?:[\w.@-]+\/)+[\w.@-]+/g;

/** Finds requests that a compaction would have shortened, what it had to preserve, and turns without an end. */
export class ContextAnalysis {
  /** Times at which the context crossed the threshold. */
  crossings = 0;
  /** Compactions of the agent itself. */
  compactions = 0;
  /** Input tokens above the threshold, summed over the requests. */
  tokensAbove = 0;
  maxInputTokens = 0;
  /** Paths from before a crossing that later calls used again: what a summary must not lose. */
  readonly #atRisk = new Set<string>();
  /** Turns with more than 50 steps, and their steps beyond. */
  longTurns = 0;
  stepsBeyond = 0;
  readonly #paths = new Set<string>();
  #before: ReadonlySet<string> = new Set();
  #isAbove = false;
  #steps = 0;

  get pathsAtRisk(): number {
    return this.#atRisk.size;
  }

  take(record: AuditRecord): void {
    switch (record.type) {
      case 'message':
        if (record.role === 'user') this.#steps = 0;
        return;
      case 'compaction':
        this.compactions += 1;
        this.#isAbove = false;
        return;
      case 'call':
        this.#takeCall(record.input);
        return;
      case 'request':
        this.#takeStep(record.usage?.input ?? 0);
        return;
      default:
    }
  }

  #takeStep(input: number): void {
    this.#steps += 1;
    if (this.#steps === maxSteps + 1) this.longTurns += 1;
    if (this.#steps > maxSteps) this.stepsBeyond += 1;
    this.maxInputTokens = Math.max(this.maxInputTokens, input);
    const above = input - threshold * (windowTokens - reserveTokens);
    if (above <= 0) {
      this.#isAbove = false;
      return;
    }
    this.tokensAbove += Math.round(above);
    if (this.#isAbove) return;
    this.#isAbove = true;
    this.crossings += 1;
    this.#before = new Set(this.#paths);
  }

  #takeCall(input: unknown): void {
    for (const path of pathsIn(input)) {
      if (this.#before.has(path)) this.#atRisk.add(path);
      if (this.#paths.size < maxPaths) this.#paths.add(path);
    }
  }
}

const pathsIn = (input: unknown): readonly string[] => {
  const texts = typeof input === 'string' ? [input] : isObject(input) ? Object.values(input) : [];
  return texts.flatMap((text) => (typeof text === 'string' ? (text.slice(0, 2000).match(pathPattern) ?? []) : []));
};
