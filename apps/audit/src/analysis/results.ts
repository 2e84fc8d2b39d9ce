import type { AuditRecord } from '../read/record.js';
import { FindingList } from './finding.js';
import type { TextFacts } from './text-facts.js';
import { memberOf } from './usage.js';

/** A result that `@h/tools` would have capped. */
export interface OversizedFinding {
  readonly tool: string;
  readonly chars: number;
  /** Estimated tokens beyond the cap. */
  readonly excessTokens: number;
}

/** What a tool was called for. */
export interface ToolTotals {
  calls: number;
  errors: number;
  /** Estimated tokens of its results. */
  resultTokens: number;
}

/** The cap of a result for a window of 200,000 tokens: the default of `tools()` for large windows. */
const maxChars = 64_000;
const maxOpenCalls = 1000;

/** Finds results beyond the cap, and counts how often they were sent again. */
export class ResultAnalysis {
  readonly oversized = new FindingList<OversizedFinding>();
  readonly byTool = new Map<string, ToolTotals>();
  /** Calls without a result, and results without a call: histories that a provider rejects. */
  openCalls = 0;
  orphanResults = 0;
  /** Tokens beyond the cap times the requests that carried them. */
  carriedTokens = 0;
  readonly #open = new Map<string, string>();
  readonly #facts: TextFacts;
  #excess = 0;

  constructor(facts: TextFacts) {
    this.#facts = facts;
  }

  take(record: AuditRecord): void {
    if (record.type === 'compaction') this.#excess = 0;
    else if (record.type === 'request') this.carriedTokens += this.#excess;
    else if (record.type === 'call') {
      if (this.#open.size >= maxOpenCalls) this.#forgetOldest();
      this.#open.set(record.id, record.name);
      this.#tool(record.name).calls += 1;
    } else if (record.type === 'result') this.#takeResult(record);
  }

  end(): void {
    this.openCalls += this.#open.size;
    this.#open.clear();
  }

  #takeResult({ id, text, isError }: Extract<AuditRecord, { type: 'result' }>): void {
    const tool = this.#open.get(id);
    if (tool === undefined) {
      this.orphanResults += 1;
      return;
    }
    this.#open.delete(id);
    const totals = this.#tool(tool);
    const tokens = this.#facts.tokens(text);
    totals.resultTokens += tokens;
    if (isError) totals.errors += 1;
    if (text.length <= maxChars) return;
    const excessTokens = Math.round(tokens * (1 - maxChars / text.length));
    this.#excess += excessTokens;
    this.oversized.add({ tool, chars: text.length, excessTokens });
  }

  #tool(name: string): ToolTotals {
    return memberOf(this.byTool, name, () => ({ calls: 0, errors: 0, resultTokens: 0 }));
  }

  #forgetOldest(): void {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) this.#open.delete(oldest);
    this.openCalls += 1;
  }
}
