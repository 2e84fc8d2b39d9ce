import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { TurnError } from '@h/turn';
import type { MastraLanguageModel } from '@mastra/core/agent';

/** The versions of the specification of the AI SDK that Mastra supports. */
export type Version = MastraLanguageModel['specificationVersion'];

type Plain = Readonly<Record<string, unknown>>;
type Tools = NonNullable<LanguageModelV4CallOptions['tools']>;

/**
 * Returns a model of version 4 that calls a model of Mastra, whose prompts and answers have the shape of its version.
 *
 * Prompts that already have the older shape are not changed, so what no operator changed is sent as Mastra built it.
 *
 */
export const asV4 = (model: MastraLanguageModel): LanguageModelV4 => {
  const toOptions = (options: LanguageModelV4CallOptions): never =>
    downgradedOptions(options, model.specificationVersion) as never;
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => {
      const result = (await model.doGenerate(toOptions(options))) as unknown as Plain;
      if (!Array.isArray(result['content'])) throw await errorIn(result['stream'] as ReadableStream<Plain>);
      const { stream: _, ...rest } = result;
      return {
        warnings: [],
        ...rest,
        content: result['content'].map((part) => tagged(part as Plain)),
        ...finishOf(result),
      } as unknown as LanguageModelV4GenerateResult;
    },
    doStream: async (options) => {
      const result = await model.doStream(toOptions(options));
      const stream = result.stream as unknown as ReadableStream<Plain>;
      return {
        ...result,
        stream: mapped(stream, (part) =>
          part['type'] === 'finish' ? { ...part, ...finishOf(part) } : tagged(part),
        ) as unknown as ReadableStream<LanguageModelV4StreamPart>,
      };
    },
  };
};

/** Converts an answer to the shape that Mastra reads for every version: file data is a string or bytes. */
export const forMastra = <Part>(part: Part): Part => {
  const { type, data } = part as Plain;
  if (type !== 'file' && type !== 'reasoning-file') return part;
  const { type: kind, data: bytes, url } = (data ?? {}) as Plain;
  if (kind === 'data') return { ...part, data: bytes };
  return kind === 'url' ? { ...part, data: String(url) } : part;
};

/** Returns a stream whose parts are converted one by one. */
export const mapped = <From, To>(
  stream: ReadableStream<From>,
  convert: (part: From) => To | undefined,
): ReadableStream<To> =>
  stream.pipeThrough(
    new TransformStream<From, To>({
      transform: (part, controller) => {
        const converted = convert(part);
        if (converted !== undefined) controller.enqueue(converted);
      },
    }),
  );

/** Returns call options of Mastra as options of version 4, for operators. */
export const upgradedOptions = (options: unknown): LanguageModelV4CallOptions => {
  const given = options as LanguageModelV4CallOptions;
  return given.tools ? { ...given, tools: withProviderTools(given.tools, 'provider') } : given;
};

const downgradedOptions = (options: LanguageModelV4CallOptions, version: Version): LanguageModelV4CallOptions => {
  if (version === 'v4') return options;
  return {
    ...options,
    prompt: downgraded(options.prompt, version),
    ...(options.tools && version === 'v2' && { tools: withProviderTools(options.tools, 'provider-defined') }),
  };
};

/** Renames the type of tools that the provider runs. */
const withProviderTools = (tools: Tools, type: 'provider' | 'provider-defined'): Tools =>
  tools.map((tool) => (tool.type === 'function' ? tool : { ...tool, type: type as 'provider' }));

/** Converts messages that operators wrote. All others have the older shape, and are returned as they are. */
const downgraded = (prompt: LanguageModelV4Prompt, version: 'v2' | 'v3'): LanguageModelV4Prompt =>
  prompt.map((message) => {
    if (message.role === 'system') return message;
    const given = message.content as unknown as readonly Plain[];
    const content = given.map((part) => downgradedPart(part, version));
    const isSame = content.every((part, index) => part === given[index]);
    return isSame ? message : ({ ...message, content } as unknown as typeof message);
  });

const downgradedPart = (part: Plain, version: 'v2' | 'v3'): Plain => {
  if (part['type'] === 'file') return downgradedFile(part);
  const { type, value, ...output } = (part['output'] ?? {}) as Plain;
  if (part['type'] !== 'tool-result' || type !== 'content' || !Array.isArray(value)) return part;
  const parts = value.map((item: Plain) => (item['type'] === 'file' ? downgradedOutput(item, version) : item));
  return { ...part, output: { ...output, type, value: parts } };
};

const downgradedFile = (part: Plain): Plain => {
  const { type, data, url } = (part['data'] ?? {}) as Plain;
  if (type === 'data') return { ...part, data };
  return type === 'url' ? { ...part, data: url } : part;
};

const downgradedOutput = (part: Plain, version: 'v2' | 'v3'): Plain => {
  const { data, mediaType } = downgradedFile(part);
  if (data instanceof URL) return { type: 'text', text: data.href };
  return { type: version === 'v2' ? 'media' : 'file-data', data, mediaType };
};

const tagged = (part: Plain): Plain => {
  const { type, data } = part;
  if (type !== 'file' && type !== 'reasoning-file') return part;
  const isUrl = typeof data === 'string' && /^https?:\/\//.test(data);
  if (isUrl) return { ...part, data: { type: 'url', url: new URL(data) } };
  return typeof data === 'string' || data instanceof Uint8Array ? { ...part, data: { type: 'data', data } } : part;
};

/** Returns the finish reason and the usage in the shape of version 4. */
const finishOf = ({ finishReason, usage }: Plain): Pick<LanguageModelV4GenerateResult, 'finishReason' | 'usage'> => ({
  finishReason: (typeof finishReason === 'string'
    ? { unified: finishReason === 'unknown' ? 'other' : finishReason, raw: undefined }
    : finishReason) as LanguageModelV4GenerateResult['finishReason'],
  usage: usageOf((usage ?? {}) as Plain),
});

const usageOf = (usage: Plain): LanguageModelV4Usage => {
  const { inputTokens: input, outputTokens: output, cachedInputTokens: cacheRead, reasoningTokens: reasoning } = usage;
  if (typeof input === 'object' && input !== null) return usage as unknown as LanguageModelV4Usage;
  return {
    inputTokens: { total: tokens(input), noCache: undefined, cacheRead: tokens(cacheRead), cacheWrite: undefined },
    outputTokens: { total: tokens(output), text: undefined, reasoning: tokens(reasoning) },
    raw: usage as NonNullable<LanguageModelV4Usage['raw']>,
  };
};

const tokens = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Returns the error of a call that has no answer: Mastra reports a missing key as a part of its stream. */
const errorIn = async (stream: ReadableStream<Plain> | undefined): Promise<unknown> => {
  for await (const part of (stream ?? []) as AsyncIterable<Plain>) if (part['type'] === 'error') return part['error'];
  return new TurnError('model-failed', 'The model of Mastra returned neither an answer nor an error.');
};
