/**
 * How bad a finding is: a `note` changes no verdict, because ordinary files have such things too.
 */
export type Severity = 'note' | 'suspicious' | 'malicious';

/** Something in a text that may be meant to redirect the model. */
export interface Finding {
  /** A stable word to decide on: `'override'`, `'hidden-text'`, `'exfiltration'` … */
  readonly rule: string;
  readonly severity: Severity;
  /** What it is, in words of this package: nothing of the text is in it. */
  readonly message: string;
  /** Line in the text, from 1. */
  readonly line: number;
  /** Place in the text that was scanned. */
  readonly start: number;
  readonly end: number;
  /** The beginning of the passage, with everything invisible made visible. For people: it never goes to a model. */
  readonly excerpt: string;
}

/** A finding that has not been placed yet. */
export interface Hit {
  readonly rule: string;
  readonly severity: Severity;
  readonly start: number;
  readonly end: number;
}

/** Whether two stretches have a character in common. */
export const overlap = (
  one: { readonly start: number; readonly end: number },
  other: { readonly start: number; readonly end: number },
): boolean => one.start < other.end && other.start < one.end;
