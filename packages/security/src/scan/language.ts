/** Stems of one language that occur in requests against a model's instructions. */
export interface Language {
  /** Verbs of dismissal: ignore, forget, disregard. */
  readonly dismiss: string;
  /** Objects of dismissal: instructions, rules, prompt. */
  readonly orders: string;
  /** Attributes of the object: previous, above, all, your. */
  readonly earlier: string;
  /** Inclusive words in place of an object: everything so far. */
  readonly everything?: string;
  /** Verbs of disclosure: show, repeat. */
  readonly reveal?: string;
  /** Objects of disclosure: system prompt, your instructions. */
  readonly prompt?: string;
  /** Requests for secrecy: do not tell the user. */
  readonly secrecy?: string;
  /** Role changes: you are now, from now on. */
  readonly persona?: string;
  /** Freedom from rules; an attempt together with `persona`. */
  readonly unbound?: string;
  /** New instructions, followed by a colon. */
  readonly renewal?: string;
  /** No longer in force; an attempt together with the reader's own orders. */
  readonly void?: string;
  /** Verbs of telling; a request for secrecy if negated. */
  readonly tell?: string;
  readonly not?: string;
  /** You have no more; an attempt together with `limits`. */
  readonly lacking?: string;
  readonly limits?: string;
  /** Verbs of sending; an attempt together with a file of secrets and an address. */
  readonly send?: string;
  /** Whether the language has no spaces between words. */
  readonly isSpaceless?: true;
}
