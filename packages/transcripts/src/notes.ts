import type { FilePart, ReasoningPart } from '@h/turn';
import type { TranscriptNote } from './transcript.js';

/** Maximum number of different notes; further kinds are merged. */
const maxNotes = 200;
const other = 'other problems';

/** Media type of content of an unknown kind. No format can write it. */
const opaqueType = 'application/vnd.h.opaque+json';

/** Collects what was dropped or changed, each kind once with a count. */
export class Notes {
  /** Whether content of unknown kinds is preserved as opaque files. Without it, such content is dropped. */
  readonly isOpaqueKept: boolean;
  readonly #opaque = new Set<string>();
  readonly #notes = new Map<
    string,
    { kind: TranscriptNote['kind']; what: string; count: number; firstAt?: number | undefined }
  >();

  constructor(isOpaqueKept = false) {
    this.isOpaqueKept = isOpaqueKept;
  }

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

  /** Notes content of an unknown kind. Returns the opaque file that preserves it, if any. */
  unknown(content: unknown, what: string, at: number): readonly FilePart[] {
    if (!this.isOpaqueKept) {
      this.dropped(what, at);
      return [];
    }
    if (this.#opaque.size < maxNotes) this.#opaque.add(what);
    return [{ type: 'file', mediaType: opaqueType, data: { type: 'text', text: JSON.stringify(content) ?? '' } }];
  }

  /** The kinds of content that were preserved as opaque files. */
  opaque(): readonly string[] {
    return [...this.#opaque];
  }

  list(): readonly TranscriptNote[] {
    return [...this.#notes.values()];
  }
}

/** Returns whether a file preserves content of an unknown kind. */
export const isOpaque = ({ mediaType }: FilePart): boolean => mediaType === opaqueType;

/** Notes signatures and sealed reasoning of providers other than the one of the format. */
export const noteSignature = (
  { providerOptions = {} }: ReasoningPart,
  provider: string | undefined,
  notes: Notes,
  at: number,
): void => {
  if (Object.keys(providerOptions).some((key) => key !== provider)) notes.dropped('the signature of reasoning', at);
};
