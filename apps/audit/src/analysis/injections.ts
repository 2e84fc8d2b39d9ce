import type { AuditRecord } from '../read/record.js';
import { FindingList } from './finding.js';
import type { TextFacts } from './text-facts.js';

/** A result of a tool that tried to redirect the model. */
export interface InjectionFinding {
  readonly tool: string;
  readonly verdict: 'suspicious' | 'malicious';
  readonly rules: readonly string[];
}

/** Tools whose results come from outside of the user's machine. */
const externalTools = /web|fetch|browser|search|http|url|^mcp__/i;
const maxOpenCalls = 1000;

/** Scans the results of tools that read from outside. */
export class InjectionAnalysis {
  readonly found = new FindingList<InjectionFinding>();
  scanned = 0;
  readonly #open = new Map<string, string>();
  readonly #facts: TextFacts;

  constructor(facts: TextFacts) {
    this.#facts = facts;
  }

  take(record: AuditRecord): void {
    if (record.type === 'call' && externalTools.test(record.name)) {
      if (this.#open.size >= maxOpenCalls) this.#open.clear();
      this.#open.set(record.id, record.name);
    }
    if (record.type !== 'result') return;
    const tool = this.#open.get(record.id);
    this.#open.delete(record.id);
    if (tool === undefined) return;
    this.scanned += 1;
    const { verdict, findings } = this.#facts.injection(record.text);
    if (verdict === 'clean') return;
    this.found.add({ tool, verdict, rules: [...new Set(findings.map(({ rule }) => rule))] });
  }
}
