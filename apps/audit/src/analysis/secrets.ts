import type { AuditRecord } from '../read/record.js';
import type { TextFacts } from './text-facts.js';

/** Counts secrets by kind. Their values are neither stored nor printed. */
export class SecretAnalysis {
  readonly byKind = new Map<string, number>();
  count = 0;
  readonly #facts: TextFacts;

  constructor(facts: TextFacts) {
    this.#facts = facts;
  }

  take(record: AuditRecord): void {
    if (record.type === 'result' || record.type === 'message') this.#count(record.text);
    else if (record.type === 'call') {
      this.#count(typeof record.input === 'string' ? record.input : (JSON.stringify(record.input) ?? ''));
    }
  }

  #count(text: string): void {
    for (const [kind, count] of Object.entries(this.#facts.secrets(text))) {
      this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + count);
      this.count += count;
    }
  }
}
