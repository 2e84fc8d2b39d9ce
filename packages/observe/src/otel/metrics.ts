import { boundedLabel } from '@h/bounded';
import type { Meter } from '@opentelemetry/api';
import type { ModelCalled, Noticed, RunEnded, ToolCalled } from '../observation.js';
import { errorType, known } from './attributes.js';

/** The metrics of all turns. Labels never contain ids. */
export interface Metrics {
  runBegun(): void;
  runOver(): void;
  run(ended: RunEnded): void;
  model(call: ModelCalled): void;
  tool(call: ToolCalled): void;
  notice(notice: Noticed): void;
}

/** The bucket boundaries that the semantic conventions recommend. */
const tokenBuckets = Array.from({ length: 14 }, (_, power) => 4 ** power);
const secondBuckets = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);
/** In seconds, up to four hours: the default boundaries are too small for turns. */
const turnBuckets = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400];

export const createMetrics = (meter: Meter, maxLabelValues: number): Metrics => {
  const histogram = (name: string, unit: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } });
  const tokens = histogram('gen_ai.client.token.usage', '{token}', 'Tokens of a model call.', tokenBuckets);
  const durations = histogram('gen_ai.client.operation.duration', 's', 'How long a model call takes.', secondBuckets);
  const firstChunks = histogram(
    'gen_ai.client.operation.time_to_first_chunk',
    's',
    'From the request to the first piece of the answer.',
    secondBuckets,
  );
  const toolDurations = histogram('gen_ai.execute_tool.duration', 's', 'How long a tool call takes.', secondBuckets);
  const turns = histogram('h.turn.duration', 's', 'How long a turn takes, from its admission.', turnBuckets);
  const waits = histogram('h.turn.queue_wait', 's', 'How long a turn waits before it is admitted.', secondBuckets);
  const active = meter.createUpDownCounter('h.turn.active', { unit: '{turn}', description: 'Turns under way.' });
  const toolErrors = meter.createCounter('h.tool.errors', { unit: '{call}', description: 'Tool calls that failed.' });
  const costs = meter.createCounter('h.cost', {
    unit: 'USD',
    description: 'What model calls cost, where their price is known.',
  });
  const notices = meter.createCounter('h.notices', { unit: '{notice}', description: 'Notices, by type.' });

  const model = boundedLabel(maxLabelValues);
  const provider = boundedLabel(maxLabelValues);
  const tool = boundedLabel(maxLabelValues);
  const error = boundedLabel(maxLabelValues);
  const trigger = boundedLabel(maxLabelValues);
  const notice = boundedLabel(maxLabelValues);
  const labelled = (label: (value: string) => string, value: string | undefined): string | undefined =>
    value === undefined ? undefined : label(value);

  return {
    runBegun: () => active.add(1),
    runOver: () => active.add(-1),
    run: (ended) => {
      const labels = { 'h.turn.outcome': ended.outcome, 'h.turn.trigger': trigger(ended.trigger) };
      turns.record(ended.durationMs / 1000, labels);
      waits.record(ended.queueWaitMs / 1000, { 'h.turn.trigger': labels['h.turn.trigger'] });
    },
    model: (call) => {
      const labels = known({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': labelled(provider, call.provider),
        'gen_ai.request.model': labelled(model, call.model),
        'gen_ai.response.model': labelled(model, call.responseModel),
      });
      const failed = call.error === undefined ? labels : { ...labels, 'error.type': error(errorType(call.error)) };
      durations.record(call.durationMs / 1000, failed);
      if (call.firstDeltaMs !== undefined) firstChunks.record(call.firstDeltaMs / 1000, labels);
      if (call.usage.input > 0) tokens.record(call.usage.input, { ...labels, 'gen_ai.token.type': 'input' });
      if (call.usage.output > 0) tokens.record(call.usage.output, { ...labels, 'gen_ai.token.type': 'output' });
      if (call.cost !== undefined && call.cost > 0) costs.add(call.cost, labels);
    },
    tool: (call) => {
      const labels = { 'gen_ai.tool.name': tool(call.tool) };
      const status = { ...labels, 'h.tool.status': call.status };
      toolDurations.record(call.durationMs / 1000, status);
      if (call.level === 'warn') toolErrors.add(1, status);
    },
    notice: ({ type }) => notices.add(1, { 'h.notice.type': notice(type) }),
  };
};
