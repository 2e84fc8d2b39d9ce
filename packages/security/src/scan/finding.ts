/** How bad a finding is. A `note` changes no verdict: ordinary files contain such things too. */
export type Severity = 'note' | 'suspicious' | 'malicious';

/** Something in a text that may be meant to redirect the model. */
export interface Finding {
  /** Stable name of the rule: `'override'`, `'hidden-text'`, `'exfiltration'` … */
  readonly rule: string;
  readonly severity: Severity;
  /** What the rule found, without any words of the text. */
  readonly message: string;
  /** Line in the text, from 1. */
  readonly line: number;
  /** Offset in the scanned text. */
  readonly start: number;
  readonly end: number;
  /** The beginning of the passage, with invisible characters made visible. For people; never give it to a model. */
  readonly excerpt: string;
}

/** A phrase or a command, before it is judged by where it is. */
export interface Said {
  readonly rule: string;
  /** Whether it is an attempt on its own. */
  readonly isStrong: boolean;
  /** Whether it is an attempt in a hidden place. */
  readonly isHiddenStrong?: boolean | undefined;
  /** Whether its own sentence discusses attacks. */
  readonly isDiscussed?: boolean | undefined;
  /** Whether it is suspicious in plain sight. */
  readonly isSuspicious?: boolean | undefined;
  readonly start: number;
  readonly end: number;
}

/** A finding without its line and excerpt. */
export interface Hit {
  readonly rule: string;
  readonly severity: Severity;
  readonly start: number;
  readonly end: number;
}

/** Whether two spans have a character in common. */
export const overlap = (
  one: { readonly start: number; readonly end: number },
  other: { readonly start: number; readonly end: number },
): boolean => one.start < other.end && other.start < one.end;

/** Weights of signals add up; from here on, a request is an attempt. */
export const attempt = 4;
