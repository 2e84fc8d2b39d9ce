import { context, metrics, trace, type Context, type Meter, type Tracer } from '@opentelemetry/api';
import type { ModelDriver, ToolDriver } from '@h/turn';
import { from, Observable, type ObservableInput } from 'rxjs';
import { checkOptions, objectWithMethods, integerFrom } from '@h/options';
import { isNotice, isRunEnd, type Observation } from '../observation.js';
import type { Follower, Sink } from '../sinks/sink.js';
import { createMetrics, type Metrics } from './metrics.js';
import { createTurnSpans, type TurnSpans } from './turn-spans.js';

/** Options of {@link otelSink}. */
export interface OtelSinkOptions {
  /** @defaultValue the tracer `@h/observe` of the global provider */
  readonly tracer?: Tracer | undefined;
  /** @defaultValue the meter `@h/observe` of the global provider */
  readonly meter?: Meter | undefined;
  /**
   * Maximum number of distinct values of a metric label; further values become `other`.
   *
   * @defaultValue `100`, many more than the models and tools of an application
   */
  readonly maxLabelValues?: number | undefined;
}

/** The part of the call context of `@h/tools` that identifies a call. */
interface TracedCall {
  readonly turn: string;
  readonly call: { readonly id: string };
}

/** A tool that can be traced. */
interface TraceableTool {
  execute(input: never, context: never, ...rest: never[]): unknown;
}

/** A sink for OpenTelemetry. */
export interface OtelSink extends Sink {
  /** Runs a model driver inside the span of its call, so that its own spans (HTTP) become child spans. */
  traceModel(driver: ModelDriver): ModelDriver;
  /** Runs a tool driver inside the span of its step, or of its call if there is only one call. */
  traceTools(driver: ToolDriver): ToolDriver;
  /** Runs a tool inside the span of its call, so that its spans and its sub-agents' turns become child spans. */
  traceTool<Tool extends TraceableTool>(tool: Tool): Tool;
  /** Returns the context of a turn's step or of one of its tool calls; `undefined` if it has none. */
  contextOf(turn: string, callId?: string): Context | undefined;
}

/**
 * Creates a sink that exports OpenTelemetry spans and metrics by the semantic conventions for generative AI.
 *
 * A turn is a span `invoke_agent` whose parent is the span that is active at subscription. Its child spans are `step`;
 * each step contains `chat <model>` for each attempt, and `execute_tool <tool>`. Notices are events of the open span.
 * Prompts and outputs are exported only with `observe({ content: true })`, with the same redaction as in observations.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const otel = otelSink();
 * const agent = harness({ model: otel.traceModel(model), tools: otel.traceTools(tools) }).pipe(observe({ sinks: [otel] }));
 * ```
 */
export const otelSink = (options: OtelSinkOptions = {}): OtelSink => {
  checkOptions('otelSink()', options, {
    tracer: objectWithMethods('startSpan'),
    meter: objectWithMethods('createHistogram'),
    maxLabelValues: integerFrom(1, Infinity),
  });
  const {
    tracer = trace.getTracer('@h/observe'),
    meter = metrics.getMeter('@h/observe'),
    maxLabelValues = 100,
  } = options;
  const measures = createMetrics(meter, maxLabelValues);
  const turns = new Map<string, TurnSpans>();
  const contextOf = (turn: string, callId?: string): Context | undefined => turns.get(turn)?.toolContext(callId);

  return {
    name: 'opentelemetry',
    follow: () => followTurn(tracer, measures, turns, context.active()),
    contextOf,
    traceModel: (driver) => (request, call) =>
      runWithin(
        () => turns.get(call.turn)?.modelContext,
        () => driver(request, call),
      ),
    traceTools: (driver) => ({
      definitions: () => driver.definitions(),
      run: (calls, run) => {
        const only = calls.length === 1 ? calls[0]?.id : undefined;
        return runWithin(
          () => contextOf(run.turn, only),
          () => driver.run(calls, run),
        );
      },
    }),
    traceTool: (tool) => {
      const execute = (...given: Parameters<typeof tool.execute>): unknown => {
        const { turn, call } = given[1] as TracedCall;
        const within = contextOf(turn, call.id);
        return within === undefined ? tool.execute(...given) : context.with(within, () => tool.execute(...given));
      };
      return { ...tool, execute };
    },
  };
};

const followTurn = (tracer: Tracer, measures: Metrics, turns: Map<string, TurnSpans>, parent: Context): Follower => {
  let spans: TurnSpans | undefined;
  let turn: string | undefined;
  const end = (): void => {
    if (turn === undefined) return;
    turns.delete(turn);
    turn = undefined;
    spans?.end();
    measures.runOver();
  };
  return {
    begin: (beginning) => {
      if (beginning.kind === 'run' && turn === undefined) {
        const { runId, parentRunId } = beginning;
        const above =
          trace.getSpan(parent) === undefined && parentRunId !== undefined
            ? turns.get(parentRunId)?.toolContext()
            : undefined;
        turn = runId;
        spans = createTurnSpans(tracer, above ?? parent);
        turns.set(runId, spans);
        measures.runBegun();
      }
      spans?.begin(beginning);
    },
    write: (observation) => {
      measure(measures, observation);
      spans?.write(observation);
      if (isRunEnd(observation)) end();
    },
    end,
  };
};

const measure = (measures: Metrics, observation: Observation): void => {
  if (isNotice(observation)) measures.notice(observation);
  else if (observation.type === 'model.call') measures.model(observation);
  else if (observation.type === 'tool.call') measures.tool(observation);
  else if (isRunEnd(observation)) measures.run(observation);
};

/** Runs work and subscribes to its output within a context, which asynchronous continuations inherit. */
const runWithin = <Output>(find: () => Context | undefined, work: () => ObservableInput<Output>): Observable<Output> =>
  new Observable((subscriber) => {
    const within = find() ?? context.active();
    return context.with(within, () => from(work()).subscribe(subscriber));
  });
