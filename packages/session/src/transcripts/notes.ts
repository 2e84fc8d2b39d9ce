import type { TranscriptNote } from './transcript.js';

/** Collects what did not come through as it was, the same thing once. */
export class Notes {
  readonly #notes = new Map<string, { kind: TranscriptNote['kind']; what: string; count: number; firstAt?: number | undefined }>();

  add(kind: TranscriptNote['kind'], what: string, at?: number): void {
    const key = `${kind} ${what}`;
    const known = this.#notes.get(key);
    if (known) known.count += 1;
    else this.#notes.set(key, { kind, what, count: 1, ...(at !== undefined && { firstAt: at }) });
  }

  dropped(what: string, at?: number): void {
    this.add('dropped', what, at);
  }

  changed(what: string, at?: number): void {
    this.add('changed', what, at);
  }

  list(): readonly TranscriptNote[] {
    return [...this.#notes.values()];
  }
}
