import { scanContext } from '@h/security';
import type { AuditRecord } from '../read/record.js';
import { FindingList } from './finding.js';

/** A result of a tool that tried to redirect the model. */
export interface InjectionFinding {
  readonly tool: string;
  readonly verdict: 'suspicious' | 'malicious';
  readonly rules: readonly string[];
}

/** Tools whose results come from outside of the user's machine. */
const externalTools = /web|fetch|browser|search|http|url|^mcp__/i;
/** Results are scanned up to this length: an injection is at the beginning of a page or hidden near its text. */
const maxScannedChars = 200_000;
const maxOpenCalls = 1000;

/** Scans the results of tools that read from outside. */
export class InjectionAnalysis {
  readonly found = new FindingList<InjectionFinding>();
  scanned = 0;
  readonly #open = new Map<string, string>();

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
    const { verdict, findings } = scanContext(record.text.slice(0, maxScannedChars), { policy: 'warn' });
    if (verdict === 'clean') return;
    this.found.add({ tool, verdict, rules: [...new Set(findings.map(({ rule }) => rule))] });
  }
}
