import type * as z from 'zod';
import type { Station } from '../service/station.js';

/** Rights of a token. `admin` includes all. */
export const scopes = ['read', 'write', 'approve', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** The sender of a request. */
export interface Caller {
  readonly name: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  /** The id of the record of the token. */
  readonly token: string;
}

/** A checked request. */
export interface RouteRequest<Query, Body> {
  readonly station: Station;
  readonly caller: Caller;
  /** Members of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly raw: Request;
  /** Where the service is reached, such as `http://127.0.0.1:4000`. */
  readonly origin: string;
  /**
   * The same for repeated requests with one `Idempotency-Key`; what is created under it is created once.
   */
  readonly seed: string | undefined;
}

/** A route: what it accepts, what it returns, and what it does. The OpenAPI document is made of it. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** Below `/api/v1`, with members such as `:id`. */
  readonly path: string;
  readonly summary: string;
  readonly scope: Scope;
  readonly query?: z.ZodType | undefined;
  readonly body?: z.ZodType | undefined;
  readonly status: 200 | 201 | 202 | 204;
  /** The schema of the response, or its media type if it is not JSON. */
  readonly response: z.ZodType | string | undefined;
  /** The response is created for each request: a link is not stored with an idempotency key. */
  readonly isSecret?: boolean | undefined;
  /** Whether the audit log contains each call. */
  readonly audit?: string | undefined;
  readonly handle: (request: RouteRequest<never, never>) => Promise<unknown>;
}

interface RouteOptions<Query extends z.ZodType, Body extends z.ZodType> extends Omit<
  Route,
  'query' | 'body' | 'handle'
> {
  readonly query?: Query | undefined;
  readonly body?: Body | undefined;
  readonly handle: (request: RouteRequest<z.output<Query>, z.output<Body>>) => Promise<unknown>;
}

/** Declares a route, with the types of its query and body. */
export const route = <Query extends z.ZodType, Body extends z.ZodType>(options: RouteOptions<Query, Body>): Route =>
  options;
