import { AsyncLocalStorage } from 'node:async_hooks';
import type { Telemetry } from '@h/observe/otlp';
import { intercept, type PipelineOperator } from '@h/turn';

const members = ['traceparent', 'tracestate', 'baggage'] as const;

/** The W3C trace context of a request, which MCP transports in `_meta`. */
export type TraceContext = { readonly [Member in (typeof members)[number]]?: string };

/** Maximum length of a member. W3C allows 8,192 bytes of baggage. */
const maxLength = 8_192;

/** Returns the trace context in the `_meta` of a request. */
export const traceContextIn = (meta: unknown): TraceContext | undefined => {
  const given = (meta ?? {}) as Readonly<Record<string, unknown>>;
  const found = members.flatMap((member) => {
    const value = given[member];
    return typeof value === 'string' && value.length <= maxLength ? [[member, value] as const] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
};

/** Continues the traces of clients: in the spans of the guard, and in the requests to the servers. */
export class CallTraces {
  readonly #telemetry: Telemetry;
  readonly #running = new AsyncLocalStorage<TraceContext>();
  /** The turn of each running call, which identifies its span. */
  readonly #turns = new Map<string, string>();

  constructor(telemetry: Telemetry) {
    this.#telemetry = telemetry;
  }

  /** Learns the turns of calls. */
  readonly operator: PipelineOperator = intercept('trace', () => {
    let callId: string | undefined;
    return {
      observe: {
        'tool.call': ({ turn, call }) => {
          callId = call.id;
          this.#turns.set(callId, turn);
        },
      },
      finalize: () => {
        if (callId !== undefined) this.#turns.delete(callId);
      },
    };
  });

  /** Begins the turn of a call as a child of the span of the client. */
  begin<Value>({ traceparent }: TraceContext, work: () => Value): Value {
    return this.#telemetry.within(traceparent, work);
  }

  /** The turn of a running call. */
  turnOf(callId: string): string {
    return this.#turns.get(callId) ?? callId;
  }

  /** Runs a call so that {@link current} returns its trace context. */
  within<Value>(trace: TraceContext, work: () => Value): Value {
    return Object.keys(trace).length === 0 ? work() : this.#running.run(trace, work);
  }

  /** The trace context for the server: with the span of the guard, or that of the client if the guard has none. */
  current(): Readonly<Record<string, string>> | undefined {
    const given = this.#running.getStore();
    const traceparent = this.#telemetry.traceparent();
    return traceparent === undefined ? given : { ...given, traceparent };
  }
}
