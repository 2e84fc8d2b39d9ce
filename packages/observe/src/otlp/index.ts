import { checkOptions, anyFunction, nonEmptyString, required, type OptionCheck } from '@h/options';
import type { ModelDriver, ToolDriver } from '@h/turn';
import type { SpanContext } from '@opentelemetry/api';
import { closeSinks, type Sink } from '../sinks/sink.js';

/** The sinks and the tracing wrappers of a process. */
export interface Telemetry {
  readonly sinks: readonly Sink[];
  traceModel(driver: ModelDriver): ModelDriver;
  traceTools(driver: ToolDriver): ToolDriver;
  /**
   * Runs work as a child of the span that a W3C `traceparent` names. Turns that begin in it are children of that span.
   * A value that is not a valid `traceparent` has no effect.
   */
  within<Value>(traceparent: unknown, work: () => Value): Value;
  /** Returns the `traceparent` of the current span, for a request to another process. */
  traceparent(): string | undefined;
  /** Flushes pending telemetry, for at most five seconds. */
  close(): Promise<void>;
}

/** The common interface of span and metric exporters. */
interface Exports<Items> {
  export(items: Items, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** Options of {@link openTelemetry}. */
export interface TelemetryOptions {
  /** The collector, such as `http://127.0.0.1:4318`. Without it, nothing is sent and no module is loaded. */
  readonly url: string | undefined;
  /** The name of the service in traces and metrics. */
  readonly serviceName: string;
  /**
   * Receives the first error of exports that fail in a row, and what `close()` could not send. An unreachable collector
   * fails nothing else.
   *
   * @defaultValue a warning of the process
   */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/** Timeout of one export including its retries, in milliseconds. It delays the exit of the process. */
const timeoutMillis = 2000;

const silent: Telemetry = {
  sinks: [],
  traceModel: (driver) => driver,
  traceTools: (driver) => driver,
  within: (_, work) => work(),
  traceparent: () => undefined,
  close: () => Promise.resolve(),
};

const httpUrl: OptionCheck = {
  expected: 'the URL of a collector, such as http://127.0.0.1:4318',
  accepts: (value) => typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
};

/**
 * Sends spans and metrics to an OpenTelemetry collector over OTLP/HTTP. Needs the packages `@opentelemetry/api`,
 * `context-async-hooks`, `sdk-trace-base`, `sdk-metrics`, `resources` and both exporters `exporter-*-otlp-http`, which
 * are loaded by this call. It sets the global context manager of OpenTelemetry, so call it once in a process.
 *
 * @throws InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const telemetry = await openTelemetry({ url: 'http://127.0.0.1:4318', serviceName: 'my-agent' });
 * const agent = harness({ model: telemetry.traceModel(model) }).pipe(observe({ sinks: telemetry.sinks }));
 * await telemetry.close();
 * ```
 */
export const openTelemetry = async (options: TelemetryOptions): Promise<Telemetry> => {
  checkOptions('openTelemetry()', options, {
    url: httpUrl,
    serviceName: required(nonEmptyString),
    onFailure: anyFunction,
  });
  const { url, serviceName, onFailure = warn } = options;
  if (url === undefined) return silent;
  const base = url.replace(/\/+$/, '');
  const [
    { context, isSpanContextValid, ROOT_CONTEXT, trace },
    { AsyncLocalStorageContextManager },
    traces,
    metrics,
    { OTLPTraceExporter },
    { OTLPMetricExporter },
    { resourceFromAttributes },
    { otelSink },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
    import('@opentelemetry/resources'),
    import('../otel/index.js'),
  ]);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  let isFailing = false;
  const record = (error: Error | undefined): void => {
    if (error && !isFailing) quietly(() => onFailure(error));
    isFailing = error !== undefined;
  };
  const noting = <Items, Exporter extends Exports<Items>>(exporter: Exporter): Exporter => {
    const send = exporter.export.bind(exporter);
    exporter.export = (items, done) =>
      send(items, (result) => {
        record(result.code === 0 ? undefined : (result.error ?? new Error('The exporter gave no reason.')));
        done(result);
      });
    return exporter;
  };
  const resource = resourceFromAttributes({ 'service.name': serviceName });
  const tracing = new traces.BasicTracerProvider({
    resource,
    spanProcessors: [
      new traces.BatchSpanProcessor(noting(new OTLPTraceExporter({ url: `${base}/v1/traces`, timeoutMillis }))),
    ],
  });
  const metering = new metrics.MeterProvider({
    resource,
    readers: [
      new metrics.PeriodicExportingMetricReader({
        exporter: noting(new OTLPMetricExporter({ url: `${base}/v1/metrics`, timeoutMillis })),
      }),
    ],
  });
  const sink = otelSink({ tracer: tracing.getTracer('@h/observe'), meter: metering.getMeter('@h/observe') });
  return {
    sinks: [sink],
    traceModel: (driver) => sink.traceModel(driver),
    traceTools: (driver) => sink.traceTools(driver),
    within: (traceparent, work) => {
      const parent = spanContextOf(traceparent);
      if (parent === undefined || !isSpanContextValid(parent)) return work();
      return context.with(trace.setSpanContext(ROOT_CONTEXT, parent), work);
    },
    traceparent: () => {
      const current = trace.getSpanContext(context.active());
      if (current === undefined || !isSpanContextValid(current)) return undefined;
      const { traceId, spanId, traceFlags } = current;
      return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
    },
    close: async () => {
      // An unreachable collector does not fail the run, and one whose answer never ends does not hold it up.
      const [late] = await closeSinks([
        { name: 'traces', close: () => tracing.shutdown() },
        { name: 'metrics', close: () => metering.shutdown() },
      ]);
      if (late) record(toError(late.error));
    },
  };
};

const warn = ({ message }: Error): void => process.emitWarning(`openTelemetry(): an export failed: ${message}`);

const quietly = (work: () => void): void => {
  try {
    work();
  } catch {
    // A callback that throws must not affect the export.
  }
};

const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

const traceparentForm = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/;

const spanContextOf = (traceparent: unknown): SpanContext | undefined => {
  const found = traceparentForm.exec(typeof traceparent === 'string' ? traceparent : '');
  if (!found) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = found;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
};
