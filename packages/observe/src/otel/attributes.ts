import type { Attributes } from '@opentelemetry/api';
import type { Usage } from '@h/turn';
import type { ErrorSummary, ModelCalled, Noticed, RunEnded, ToolCalled } from '../observation.js';

/** Returns the attributes without undefined values. */
export const known = (
  attributes: Readonly<Record<string, string | number | boolean | string[] | undefined>>,
): Attributes => Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

/** Returns the `error.type` attribute: the code, the status or the name of an error. */
export const errorType = ({ code, status, name }: ErrorSummary): string =>
  code ?? (status === undefined ? name : String(status));

const usageAttributes = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage) => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  'gen_ai.usage.cache_read.input_tokens': cacheRead,
  'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
  'gen_ai.usage.reasoning.output_tokens': reasoning,
});

/** Returns the attributes of a finished model call. */
export const modelAttributes = (call: ModelCalled): Attributes =>
  known({
    ...usageAttributes(call.usage),
    'gen_ai.response.id': call.responseId,
    'gen_ai.response.model': call.responseModel,
    'gen_ai.response.finish_reasons': call.finishReason === undefined ? undefined : [call.finishReason],
    'gen_ai.response.time_to_first_chunk': call.firstDeltaMs === undefined ? undefined : call.firstDeltaMs / 1000,
    'gen_ai.output.messages': call.output === undefined ? undefined : message('assistant', call.output),
    'error.type': call.error && errorType(call.error),
    'h.credential.profile_id': call.credentialProfileId,
    'h.cost.usd': call.cost,
    'h.retrying': call.retrying,
  });

/** Returns the attributes of a finished tool call. */
export const toolAttributes = (call: ToolCalled): Attributes =>
  known({
    'gen_ai.tool.call.arguments': call.input,
    'gen_ai.tool.call.result': call.output,
    'h.tool.status': call.status,
    'h.tool.denied_by': call.deniedBy,
    'error.type': call.error && errorType(call.error),
  });

/** Returns the attributes of a finished turn. */
export const runAttributes = (run: RunEnded): Attributes =>
  known({
    ...usageAttributes(run.usage),
    'gen_ai.provider.name': run.provider,
    'gen_ai.request.model': run.model,
    'error.type': run.errorCode,
    'h.turn.outcome': run.outcome,
    'h.turn.reason': run.reason,
    'h.turn.steps': run.steps,
    'h.turn.model_calls': run.modelCalls,
    'h.turn.tool_calls': run.toolCalls,
    'h.turn.tool_errors': run.toolErrors,
    'h.turn.queue_wait_ms': run.queueWaitMs,
    'h.turn.compacted': run.compactionTriggered,
    'h.turn.fallback_used': run.fallbackUsed,
    'h.turn.recovery_action': run.recoveryAction,
    'h.credential.profile_id': run.credentialProfileId,
    'h.cost.usd': run.cost,
  });

/** Formats a message as the semantic conventions require. */
export const message = (role: 'user' | 'assistant', content: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);

const maxNoticeAttributes = 30;

/** Returns the data of a notice: one attribute for each value, with its path as the name. */
export const noticeAttributes = ({ data }: Noticed): Attributes => {
  const attributes: Attributes = {};
  const add = (path: string, value: unknown): void => {
    if (Object.keys(attributes).length >= maxNoticeAttributes) return;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') attributes[path] = value;
    else if (Array.isArray(value)) attributes[path] = JSON.stringify(value);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) add(`${path}.${key}`, item);
    }
  };
  for (const [key, value] of Object.entries(data)) add(`h.${key}`, value);
  return attributes;
};
