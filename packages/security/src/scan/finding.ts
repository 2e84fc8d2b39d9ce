/** Severity of a finding. A `note` does not affect the verdict, because ordinary files produce notes too. */
export type Severity = 'note' | 'suspicious' | 'malicious';

/** A passage that may be an attempt to redirect the model. */
export interface Finding {
  /** Stable name of the rule: `'override'`, `'hidden-text'`, `'exfiltration'` … */
  readonly rule: string;
  readonly severity: Severity;
  /** Description of the finding, without any words of the text. */
  readonly message: string;
  /** Line in the text, from 1. */
  readonly line: number;
  /** Offset in the scanned text. */
  readonly start: number;
  readonly end: number;
  /** The beginning of the passage, with invisible characters escaped. For display only; do not pass it to a model. */
  readonly excerpt: string;
}

/** A phrase or a command, before the scan evaluates its location. */
export interface Said {
  readonly rule: string;
  /** Whether the match alone is an attempt. */
  readonly isStrong: boolean;
  /** Whether the match is an attempt in a hidden region. */
  readonly isHiddenStrong?: boolean | undefined;
  /** Whether the match is an attempt in hidden data too, which ordinary files contain. */
  readonly isTelling?: boolean | undefined;
  /** Whether the sentence of the match discusses attacks. */
  readonly isDiscussed?: boolean | undefined;
  /** Whether the match is only in quotations that sentences mention. */
  readonly isMentioned?: boolean | undefined;
  /** Whether the match is suspicious in visible text. */
  readonly isSuspicious?: boolean | undefined;
  /** Whether a suspicion does not depend on the wording of the passage. */
  readonly isKnown?: boolean | undefined;
  readonly start: number;
  readonly end: number;
}

/** A finding without its line and excerpt. */
export interface Hit {
  readonly rule: string;
  readonly severity: Severity;
  /** Whether a suspicion does not depend on the wording of the passage. */
  readonly isKnown?: boolean | undefined;
  readonly start: number;
  readonly end: number;
}

/** Whether two spans overlap. */
export const overlap = (
  one: { readonly start: number; readonly end: number },
  other: { readonly start: number; readonly end: number },
): boolean => one.start < other.end && other.start < one.end;

/** Minimum sum of signal weights at which a request is an attempt. */
export const attempt = 4;

/** Maximum number of reported findings; those of the highest severity are reported. */
export const maxHits = 200;

/** The order of severities. */
export const severityWeight: Readonly<Record<Severity, number>> = { note: 0, suspicious: 1, malicious: 2 };
