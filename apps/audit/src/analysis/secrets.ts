import type { Redactor } from '@h/redact';
import type { AuditRecord } from '../read/record.js';

/** Counts secrets by kind. Their values are neither stored nor printed. */
export class SecretAnalysis {
  readonly byKind = new Map<string, number>();
  count = 0;
  readonly #redactor: Redactor;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  take(record: AuditRecord): void {
    if (record.type === 'result' || record.type === 'message') this.#count(record.text);
    else if (record.type === 'call') {
      this.#count(typeof record.input === 'string' ? record.input : (JSON.stringify(record.input) ?? ''));
    }
  }

  #count(text: string): void {
    for (const [kind, count] of Object.entries(this.#redactor.inspect(text).found)) {
      this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + count);
      this.count += count;
    }
  }
}
