import { toolCallIdsFor } from '@h/failover';
import type { Message } from '@h/turn';
import type { ProxyConfig } from '../config.js';
import { formats, portableOf } from '../formats/convert.js';
import { NotConvertible, type PortableRequest } from '../formats/portable-request.js';
import { arrayOf, objectOf, stringOf, type JsonObject } from '../wire/json-value.js';
import type { TextEdit } from '../wire/json-edit.js';
import { editsAt } from '../wire/json-edit.js';
import type { Provider } from './refusal.js';
import type { FormatName } from './routes.js';
import type { WireRequest } from '../wire/wire-request.js';

/** A model that may answer a request. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  /** The format in which the model is called. */
  readonly format: FormatName;
  /** The request in another format than that of the client; `undefined` if only the model differs. */
  readonly request: JsonObject | undefined;
}

/** A model that cannot answer a request, and why. */
export interface SkippedTarget {
  readonly model: string;
  readonly reason: string;
}

/** The models that may answer a request if the requested one fails. */
export interface Fallbacks {
  readonly targets: readonly Target[];
  readonly skipped: readonly SkippedTarget[];
}

/**
 * Returns the fallback models of a request, in the order of the configuration, with the request converted to the format
 * of each. A model whose format cannot express the request is skipped.
 *
 * @param read - returns the request as it leaves the proxy
 */
export const fallbacksOf = (
  config: ProxyConfig,
  provider: Provider,
  wire: Pick<WireRequest, 'format' | 'model'>,
  read: () => WireRequest | undefined,
): Fallbacks => {
  const targets: Target[] = [];
  const skipped: SkippedTarget[] = [];
  let portable: PortableRequest | undefined;
  for (const choice of config[provider].models) {
    const target = typeof choice === 'string' ? { provider, model: choice } : choice;
    const format = formatOf(target, wire.format);
    if (target.provider === provider && target.model === wire.model && format === wire.format) continue;
    const base = { provider: target.provider, model: target.model, format };
    if (format === wire.format) {
      targets.push({ ...base, request: undefined });
      continue;
    }
    try {
      const shaped = portable ? undefined : read();
      portable ??= shaped && portableOf(shaped);
      if (!portable) throw new NotConvertible('The request');
      targets.push({ ...base, request: formats[format].write(withPortableIds(portable, target.model), target.model) });
    } catch (error) {
      if (!(error instanceof NotConvertible)) throw error;
      skipped.push({ model: `${target.provider}/${target.model}`, reason: error.message });
    }
  }
  return { targets, skipped };
};

const formatOf = (
  { provider, api }: { readonly provider: Provider; readonly api?: 'chat' | 'responses' | undefined },
  given: FormatName,
): FormatName => {
  if (provider === 'anthropic') return 'anthropic-messages';
  if (api !== undefined) return `openai-${api}`;
  return given === 'anthropic-messages' ? 'openai-chat' : given;
};

/** Replaces ids of calls that the provider of the model does not accept. */
const withPortableIds = (request: PortableRequest, model: string): PortableRequest => {
  const ids = toolCallIdsFor(model);
  const messages = request.messages.map((message): Message => {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      const content = message.content.map((part) =>
        part.type === 'tool-call' ? { ...part, toolCallId: ids(part.toolCallId) } : part,
      );
      return { ...message, content };
    }
    if (message.role !== 'tool') return message;
    const content = message.content.map((part) =>
      part.type === 'tool-result' ? { ...part, toolCallId: ids(part.toolCallId) } : part,
    );
    return { ...message, content };
  });
  return { ...request, messages };
};

/** Begins every id of a call that Anthropic has made. */
const ownIds = 'toolu_';

/**
 * Turns thinking off for a request that continues calls of another provider: Anthropic rejects such calls without the
 * thinking before them, which another provider cannot write.
 */
export const thinkingEdits = (
  config: ProxyConfig,
  { format, value, entries, text }: WireRequest,
): readonly TextEdit[] => {
  const hasForeign = config.anthropic.models.some(
    (choice) => typeof choice !== 'string' && choice.provider !== 'anthropic',
  );
  if (!hasForeign || format !== 'anthropic-messages' || objectOf(value['thinking'])['type'] !== 'enabled') return [];
  const latest = objectOf(entries.findLast((entry) => objectOf(entry)['role'] === 'assistant'));
  const isForeign = arrayOf(latest['content']).some((part) => {
    const { type, id } = objectOf(part);
    return type === 'tool_use' && !(stringOf(id) ?? ownIds).startsWith(ownIds);
  });
  return isForeign ? editsAt(text, [{ path: ['thinking'], value: { type: 'disabled' } }]) : [];
};
