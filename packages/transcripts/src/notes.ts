import type { ReasoningPart } from '@h/turn';
import type { TranscriptNote } from './transcript.js';

/** Maximum number of different notes; further kinds are merged. */
const maxNotes = 200;
const other = 'other problems';

/** Collects what was dropped or changed, each kind once with a count. */
export class Notes {
  readonly #notes = new Map<
    string,
    { kind: TranscriptNote['kind']; what: string; count: number; firstAt?: number | undefined }
  >();

  add(kind: TranscriptNote['kind'], what: string, at?: number): void {
    const key = `${kind} ${what}`;
    const known = this.#notes.get(key);
    if (known) known.count += 1;
    else if (this.#notes.size < maxNotes || what === other) {
      this.#notes.set(key, { kind, what, count: 1, ...(at !== undefined && { firstAt: at }) });
    } else this.add(kind, other, at);
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

/** Notes signatures and sealed reasoning of providers other than the one of the format. */
export const noteSignature = (
  { providerOptions = {} }: ReasoningPart,
  provider: string | undefined,
  notes: Notes,
  at: number,
): void => {
  if (Object.keys(providerOptions).some((key) => key !== provider)) notes.dropped('the signature of reasoning', at);
};
