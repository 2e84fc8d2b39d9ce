import type { TranscriptFormat } from '@h/transcripts';
import type * as z from 'zod';
import type {
  acceptedMessage,
  agentInfo,
  approvalDecision,
  approvalLink,
  entryPage,
  newMessage,
  problem,
  sessionPage,
  StationApproval,
  StationAuditEntry,
  StationRun,
  StationSession,
  StationTrace,
  StationWorkflow,
  usageReport,
} from '../../api/contract.js';

type Problem = z.infer<typeof problem>;
export type Decision = z.infer<typeof approvalDecision>;
export type MessageMode = z.infer<typeof newMessage>['mode'];

/** A request that failed: a response with a problem, or no response at all. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly problem: Problem | undefined;

  constructor(message: string, status: number, details?: Problem) {
    super(message);
    this.status = status;
    this.problem = details;
  }
}

/** A request without a response for this long has failed; uploads of files take longest. */
const requestTimeoutMs = 30_000;

const unreachable = 'The station cannot be reached. Check that it is running; the page connects again on its own.';
const statusTexts: Readonly<Record<number, string>> = {
  401: 'The token is not accepted. Open the address that `npm run station` prints.',
  403: 'The token does not allow this.',
  404: 'This no longer exists on the station. Return to the list.',
  413: 'The message is too large. Send a smaller file.',
  429: 'The station receives too many requests. Wait a moment and try again.',
};

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string';

/** Whether a request can succeed when it is repeated: the station was not reached, is busy, or failed. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof RequestError && (error.status < 400 || error.status === 429 || error.status >= 500);

/** The message of an error for people. */
export const explain = (error: unknown): string =>
  error instanceof RequestError
    ? error.message
    : `The page failed: ${error instanceof Error ? error.message : 'unknown error'}`;

/** Calls the HTTP interface with the token of this tab. */
export class StationApi {
  readonly #token: string;
  readonly #base: string;

  constructor(token: string, base = '/api/v1') {
    this.#token = token;
    this.#base = base;
  }

  get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#token}` };
  }
  url(path: string): string {
    return `${this.#base}${path}`;
  }

  sessions(query: Readonly<Record<string, string>>): Promise<z.infer<typeof sessionPage>> {
    return this.#json('GET', `/sessions?${new URLSearchParams(query).toString()}`);
  }
  session(id: string): Promise<StationSession> {
    return this.#json('GET', `/sessions/${encodeURIComponent(id)}`);
  }
  createSession(body: object): Promise<StationSession> {
    return this.#json('POST', '/sessions', body);
  }
  deleteSession(id: string): Promise<void> {
    return this.#json('DELETE', `/sessions/${encodeURIComponent(id)}`);
  }
  fork(id: string): Promise<StationSession> {
    return this.#json('POST', `/sessions/${encodeURIComponent(id)}/fork`, {});
  }
  send(id: string, body: object): Promise<z.infer<typeof acceptedMessage>> {
    return this.#json('POST', `/sessions/${encodeURIComponent(id)}/messages`, body);
  }
  cancel(id: string, turn: string | null): Promise<unknown> {
    return this.#json('POST', `/sessions/${encodeURIComponent(id)}/cancel`, turn === null ? {} : { turn });
  }
  entries(id: string, before: number | undefined, limit: number): Promise<z.infer<typeof entryPage>> {
    const query = before === undefined ? `limit=${limit}` : `before=${before}&limit=${limit}`;
    return this.#json('GET', `/sessions/${encodeURIComponent(id)}/entries?${query}`);
  }
  trace(id: string): Promise<StationTrace[]> {
    return this.#json('GET', `/sessions/${encodeURIComponent(id)}/trace`);
  }
  approvals(): Promise<StationApproval[]> {
    return this.#json('GET', '/approvals');
  }
  decide(id: string, decision: Decision): Promise<StationApproval> {
    return this.#json('POST', `/approvals/${encodeURIComponent(id)}`, decision);
  }
  link(id: string): Promise<z.infer<typeof approvalLink>> {
    return this.#json('POST', `/approvals/${encodeURIComponent(id)}/link`, {});
  }
  agents(): Promise<z.infer<typeof agentInfo>[]> {
    return this.#json('GET', '/agents');
  }
  workflows(): Promise<StationWorkflow[]> {
    return this.#json('GET', '/workflows');
  }
  runs(workflow: string): Promise<StationRun[]> {
    return this.#json('GET', `/workflows/${encodeURIComponent(workflow)}/runs`);
  }
  startRun(workflow: string, input: object): Promise<StationRun> {
    return this.#json('POST', `/workflows/${encodeURIComponent(workflow)}/runs`, { input });
  }
  cancelRun(id: string): Promise<unknown> {
    return this.#json('POST', `/runs/${encodeURIComponent(id)}/cancel`, {});
  }
  /** Times are milliseconds since 1970. */
  usage(from: number, to: number): Promise<z.infer<typeof usageReport>> {
    return this.#json('GET', `/usage?from=${from}&to=${to}`);
  }
  async artifact(id: string): Promise<Blob> {
    const response = await this.#request('GET', `/artifacts/${encodeURIComponent(id)}`);
    return response.blob();
  }
  /** Returns the audit log, latest entry first. Requires the scope `admin`. */
  audit(): Promise<StationAuditEntry[]> {
    return this.#json('GET', '/audit');
  }
  async transcript(id: string, format: TranscriptFormat): Promise<Blob> {
    const response = await this.#request('GET', `/sessions/${encodeURIComponent(id)}/transcript?format=${format}`);
    return response.blob();
  }

  async #json<Result>(method: string, path: string, body?: object): Promise<Result> {
    const response = await this.#request(method, path, body);
    return (response.status === 204 ? undefined : await response.json()) as Result;
  }

  async #request(method: string, path: string, body?: object): Promise<Response> {
    return request(this.url(path), method, this.headers, body);
  }
}

/** Sends a request; the same `Idempotency-Key` makes a second attempt of a POST harmless. */
export const request = async (
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<Response> => {
  const init: RequestInit = {
    method,
    headers: {
      ...headers,
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': crypto.randomUUID() }),
    },
    ...(body && { body: JSON.stringify(body) }),
    cache: 'no-store',
  };
  const attempt = (): Promise<Response> => fetch(url, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) });
  let response: Response;
  try {
    response = await attempt();
  } catch {
    // A connection that broke in the background fails once; the second attempt opens another one.
    response = await attempt().catch(() => {
      throw new RequestError(unreachable, 0);
    });
  }
  if (response.ok) return response;
  const details: unknown = await response.json().catch(() => undefined);
  if (isProblem(details)) throw new RequestError(details.message, response.status, details);
  throw new RequestError(
    statusTexts[response.status] ?? `The station answered with status ${response.status}. Try again.`,
    response.status,
  );
};
