export { otelSink, type OtelSink, type OtelSinkOptions } from './otel-sink.js';
