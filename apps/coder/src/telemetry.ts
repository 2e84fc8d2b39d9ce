import { closeSinks, type Sink } from '@h/observe';
import type { ModelDriver, ToolDriver } from '@h/turn';
import { UsageError } from './usage-error.js';

/** The sinks and the tracing wrappers of telemetry. */
export interface Telemetry {
  readonly sinks: readonly Sink[];
  traceModel(driver: ModelDriver): ModelDriver;
  traceTools(driver: ToolDriver): ToolDriver;
  /** Flushes pending telemetry. */
  close(): Promise<void>;
}

/** The common interface of span and metric exporters. */
interface Exports<Items> {
  export(items: Items, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** Timeout of one export including its retries, in milliseconds. It delays the exit of the app. */
const timeoutMillis = 2000;

const silent: Telemetry = {
  sinks: [],
  traceModel: (driver) => driver,
  traceTools: (driver) => driver,
  close: () => Promise.resolve(),
};

/**
 * Sends spans and metrics to an OpenTelemetry collector over OTLP/HTTP. Without a URL, the OpenTelemetry modules are
 * not loaded.
 *
 * @param url the collector, such as `http://127.0.0.1:4318`
 * @param warn receives a message at the end if an export failed
 * @throws UsageError if `url` is not an HTTP URL
 */
export const openTelemetry = async (url: string | undefined, warn: (text: string) => void): Promise<Telemetry> => {
  if (url === undefined) return silent;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(
      `--otel must be the URL of a collector, such as http://127.0.0.1:4318, but is ${JSON.stringify(url)}.`,
    );
  }
  const base = url.replace(/\/+$/, '');
  const [
    { context },
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
    import('@h/observe/otel'),
  ]);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  let failure: Error | undefined;
  const noting = <Items, Exporter extends Exports<Items>>(exporter: Exporter): Exporter => {
    const send = exporter.export.bind(exporter);
    exporter.export = (items, done) =>
      send(
        items,
        (result) => (result.code === 0 || (failure ??= result.error ?? new Error('unknown reason')), done(result)),
      );
    return exporter;
  };
  const resource = resourceFromAttributes({ 'service.name': 'h-coder' });
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
  const sink = otelSink({ tracer: tracing.getTracer('@h/coder'), meter: metering.getMeter('@h/coder') });
  return {
    sinks: [sink],
    traceModel: (driver) => sink.traceModel(driver),
    traceTools: (driver) => sink.traceTools(driver),
    close: async () => {
      await closeSinks([sink]);
      // An unreachable collector does not fail the run.
      await Promise.allSettled([tracing.shutdown(), metering.shutdown()]);
      if (failure) warn(`--otel: exporting to ${url} failed: ${failure.message}`);
    },
  };
};
