import type { TurnEventOf } from '@h/turn';
import { anyBoolean, anyFunction, anyString, checkOptions, anyOf, arrayOf, objectWithMethods, oneOf } from '@h/options';
import type { Redactor } from '@h/redact';

/**
 * Where secrets are replaced.
 *
 * | place | what changes |
 * |---|---|
 * | `results` | tool results: what the model reads, details, errors |
 * | `progress` | what tools report while they run |
 * | `approvals` | what people are asked to approve, as it is shown; the call runs as written |
 * | `errors` | errors and reasons of models, drivers, denials, stops and endings |
 * | `notices` | the notices of all operators |
 * | `context` | messages that operators, such as hooks, add to the history or to the tail of a request |
 * | `metadata` | the metadata of a turn |
 * | `input` | what users say, before the model reads it |
 * | `answers` | what the model says; deltas are held back until they cannot become a secret |
 * | `state` | what operators keep for the session's next turn |
 */
export type RedactionPlace = (typeof redactionPlaces)[number];

const redactionPlaces = [
  'results',
  'progress',
  'approvals',
  'errors',
  'notices',
  'context',
  'metadata',
  'input',
  'answers',
  'state',
] as const;

/** All places but what users and the model say, and state. */
export const defaultPlaces: readonly RedactionPlace[] = [
  'results',
  'progress',
  'approvals',
  'errors',
  'notices',
  'context',
  'metadata',
];

/** Options of `security()`. */
export interface SecurityOptions {
  /**
   * Replaces secrets; `false` leaves them.
   *
   * @defaultValue `createRedactor()` of `@h/redact`
   */
  readonly redactor?: Redactor | false | undefined;
  /**
   * Where secrets are replaced.
   *
   * @defaultValue all places but `'input'`, `'answers'` and `'state'`: a model that never reads a secret cannot repeat it
   */
  readonly redact?: readonly RedactionPlace[] | undefined;
  /**
   * Tools whose results come from outside, by name or by a function of the result. Results that are marked as external
   * (`external: true` of `defineTool`, all of MCP) are included in any case. If the function throws, the result counts
   * as external.
   *
   * @defaultValue `[]`
   */
  readonly external?: readonly string[] | ((event: TurnEventOf<'tool.result'>) => boolean) | undefined;
  /**
   * Returns where a result comes from, for the mark.
   *
   * @defaultValue the tool's name, and the `url` or `uri` of its input
   */
  readonly sourceOf?: ((event: TurnEventOf<'tool.result'>) => string) | undefined;
  /**
   * Scans the first 262,144 characters of external results and emits `security.suspicious`. Nothing is withheld.
   *
   * @defaultValue `true`
   */
  readonly scan?: boolean | undefined;
  /**
   * Creates the ids of wraps.
   *
   * @defaultValue 64 random bits, in hexadecimal
   */
  readonly createId?: (() => string) | undefined;
}

export const checkSecurityOptions = (options: SecurityOptions): void =>
  checkOptions('security()', options, {
    redactor: anyOf(objectWithMethods('redact', 'inspect', 'redactData', 'stream'), oneOf(false)),
    redact: arrayOf(oneOf(...redactionPlaces)),
    external: anyOf(arrayOf(anyString), anyFunction),
    sourceOf: anyFunction,
    scan: anyBoolean,
    createId: anyFunction,
  });
