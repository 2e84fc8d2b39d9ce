import * as z from 'zod';
import { jsonValueSchema, type JSONValue } from './json.js';

/**
 * An error as plain data, so that it can travel in an event and be journaled.
 *
 * `status`, `headers` and `body` are those of an HTTP answer; `code` is a stable word to decide on
 * (`'session-busy'`, `'ECONNRESET'` …), `message` is for people.
 */
export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: JSONValue | undefined;
  /** The operator that failed, where it was one. */
  readonly operator?: string | undefined;
  readonly cause?: ErrorInfo | undefined;
}

export const errorInfoSchema: z.ZodType<ErrorInfo> = z.object({
  name: z.string(),
  message: z.string(),
  code: z.string().optional(),
  status: z.number().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: jsonValueSchema.optional(),
  operator: z.string().optional(),
  cause: z
    .custom<ErrorInfo>((value): boolean => errorInfoSchema.safeParse(value).success, 'expected an error as data')
    .optional(),
});
