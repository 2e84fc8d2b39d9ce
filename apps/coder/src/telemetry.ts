import { closeSinks, type Sink } from '@h/observe';
import type { ModelDriver, ToolDriver } from '@h/turn';
import { UsageError } from './usage-error.js';

/** Where telemetry goes, and what has to be traced for it. */
export interface Telemetry {
  readonly sinks: readonly Sink[];
  traceModel(driver: ModelDriver): ModelDriver;
  traceTools(driver: ToolDriver): ToolDriver;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}

/** What exporters of spans and of metrics have in common. */
interface Exports<Items> {
  export(items: Items, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** How long one export may take, retries included, in milliseconds: nobody waits longer for the prompt to come back. */
const timeoutMillis = 2000;

const silent: Telemetry = {
  sinks: [],
  traceModel: (driver) => driver,
  traceTools: (driver) => driver,
  close: () => Promise.resolve(),
};

/**
 * Sends spans and metrics to an OpenTelemetry collector that speaks OTLP over HTTP. Nothing of it is loaded where it is not
 * asked for.
 *
 * @param url the collector, such as `http://127.0.0.1:4318`
 * @param warn told at the end if the collector has not taken everything
 * @throws UsageError where that is no address
 */
export const openTelemetry = async (url: string | undefined, warn: (text: string) => void): Promise<Telemetry> => {
  if (url === undefined) return silent;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(
      `--otel takes the address of a collector, such as http://127.0.0.1:4318; it was given ${JSON.stringify(url)}.`,
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
        (result) => (result.code === 0 || (failure ??= result.error ?? new Error('It gives no reason.')), done(result)),
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
      // A collector that is not there is no reason to fail.
      await Promise.allSettled([tracing.shutdown(), metering.shutdown()]);
      if (failure) warn(`--otel: the collector at ${url} did not take everything: ${failure.message}`);
    },
  };
};
