import type { TurnEventOf } from '@h/turn';
import { anyBoolean, anyFunction, anyString, checkOptions, anyOf, arrayOf, objectWithMethods, oneOf } from '@h/options';
import type { Redactor } from '@h/redact';

/**
 * Where secrets are taken out.
 *
 * | place | what is changed |
 * |---|---|
 * | `results` | results of tools: what the model reads, details, errors |
 * | `progress` | what tools report while they run |
 * | `approvals` | what people are asked to approve, as it is shown to them; the call is carried out as it is |
 * | `input` | what users say, before the model reads it |
 * | `answers` | what the model says: pieces are held back until it is clear that they are no secret |
 * | `state` | what operators keep for the session's next turn |
 */
export type RedactionPlace = 'results' | 'progress' | 'approvals' | 'input' | 'answers' | 'state';

/** Options of `security()`. */
export interface SecurityOptions {
  /**
   * Takes secrets out; `false` leaves them in.
   *
   * @defaultValue `createRedactor()`
   */
  readonly redactor?: Redactor | false | undefined;
  /**
   * Where secrets are taken out.
   *
   * @defaultValue `['results', 'progress', 'approvals']`: a model that never reads a secret cannot tell it
   */
  readonly redact?: readonly RedactionPlace[] | undefined;
  /**
   * Tools whose results come from outside, besides those that say so themselves (`external: true` of `defineTool`, all of MCP): their names, or
   * a function that tells by the result. A function that throws says yes.
   *
   * @defaultValue `[]`
   */
  readonly external?: readonly string[] | ((event: TurnEventOf<'tool.result'>) => boolean) | undefined;
  /**
   * Where a result comes from, for the mark.
   *
   * @defaultValue the tool's name, and the `url` or `uri` of its input
   */
  readonly sourceOf?: ((event: TurnEventOf<'tool.result'>) => string) | undefined;
  /**
   * Whether results from outside are scanned, their first 262,144 characters, and observers told with `security.suspicious`. Nothing
   * is withheld.
   *
   * @defaultValue `true`
   */
  readonly scan?: boolean | undefined;
  /**
   * Makes the ids of wraps.
   *
   * @defaultValue 64 random bits, in hexadecimal
   */
  readonly createId?: (() => string) | undefined;
}

export const checkSecurityOptions = (options: SecurityOptions): void =>
  checkOptions('security()', options, {
    redactor: anyOf(objectWithMethods('redact', 'inspect', 'redactData', 'stream'), oneOf(false)),
    redact: arrayOf(oneOf('results', 'progress', 'approvals', 'input', 'answers', 'state')),
    external: anyOf(arrayOf(anyString), anyFunction),
    sourceOf: anyFunction,
    scan: anyBoolean,
    createId: anyFunction,
  });
