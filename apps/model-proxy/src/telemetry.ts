import { observe, record } from '@h/observe';
import { openTelemetry } from '@h/observe/otlp';
import type { CostOf } from '@h/prices';
import { createRedactor, eventRedactor } from '@h/redact';
import type { PipelineOperator } from '@h/turn';
import type { ProxyConfig } from './config.js';

/** What observes model calls as turns: OpenTelemetry and recordings. */
export interface ProxyTelemetry {
  /** Operators that observe a call; none if nothing is configured. */
  readonly operators: readonly PipelineOperator[];
  /** Runs a call as a child of the span that its client names in `traceparent`. */
  within<Value>(traceparent: unknown, work: () => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

/** Opens what the configuration requests. */
export const openProxyTelemetry = async ({ otel, recording }: ProxyConfig, costOf: CostOf): Promise<ProxyTelemetry> => {
  const telemetry = await openTelemetry({
    url: otel,
    serviceName: 'h-model-proxy',
    onFailure: ({ message }) =>
      process.emitWarning(`Exporting to ${otel} failed: ${message}`, { code: 'otel-export-failed' }),
  });
  const { sinks } = telemetry;
  // Providers quote keys in errors.
  const redact = eventRedactor(createRedactor());
  const operators = [
    ...(sinks.length > 0 ? [observe({ sinks, harnessId: 'model-proxy', costOf, redact })] : []),
    // The proxy passes no messages, so recordings contain times, tokens and errors.
    ...(recording === undefined
      ? []
      : [
          record(recording.file, {
            maxBytes: recording.maxBytes,
            maxFiles: recording.maxFiles,
            content: false,
            redact,
          }),
        ]),
  ];
  return {
    operators,
    within: (traceparent, work) => telemetry.within(traceparent, work),
    close: () => telemetry.close(),
  };
};
