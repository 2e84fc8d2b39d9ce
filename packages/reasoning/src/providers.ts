import type { ReasoningEffort } from './effort.js';

/**
 * What a provider requires of reasoning in the history.
 *
 * - `signed`: parts with the provider's own signature go back unchanged; unsigned ones are dropped.
 * - `bound`: as `signed`, and only while everything that was sent before the part is unchanged.
 * - `text`: plain reasoning goes back in exchanges with tool calls, and is dropped from others.
 * - `dropped`: nothing goes back.
 */
export type ReasoningHistory = 'signed' | 'bound' | 'text' | 'dropped';

/** The rules of a model about reasoning. */
export interface ReasoningModel {
  readonly history: ReasoningHistory;
  /** Members of `providerOptions` that hold signatures of this provider. */
  readonly signedBy: readonly string[];
  /** The efforts that may be set, lowest first; empty if none should be set. */
  readonly efforts: readonly ReasoningEffort[];
  /** Whether another effort within a turn would invalidate the prompt cache. */
  readonly holdsEffort: boolean;
  /** Whether a tool loop that began without reasoning must continue without it. */
  readonly needsThoughtFirst?: boolean | undefined;
}

const signers = {
  anthropic: ['anthropic', 'bedrock', 'amazonBedrock', 'vertex', 'googleVertex'],
  openai: ['openai', 'azure'],
  google: ['google', 'vertex', 'googleVertex'],
  xai: ['xai'],
} as const;

/** Members of `providerOptions` that mark a part as another provider's. */
export const knownSigners: ReadonlySet<string> = new Set<string>([
  ...Object.values(signers).flat(),
  'openrouter',
  'gateway',
]);

/** Names of services whose signatures and settings are those of the model's maker. */
const services =
  /^(?:anthropic|openai|azure|google|gemini|vertex|google-vertex|bedrock|amazon-bedrock|xai|deepseek)(?:[./:]|$)/i;

/** A model of an unknown provider: the reasoning of others would be an unknown field in its requests. */
const unknown: ReasoningModel = { history: 'dropped', signedBy: [], efforts: [], holdsEffort: false };

/**
 * Finds the rules of a model by its name: `provider/model`, or the model's own name.
 *
 * Facts as of 22 November 2026, from the providers' documentation:
 *
 * | provider | history | effort |
 * |---|---|---|
 * | Anthropic | `thinking` and `redacted_thinking` go back unchanged with tool results. From 5.1 on, a block is bound to the system prompt, the tools and the messages before it; others are rejected with status 400 (*Preserved thinking*) | another effort starts the prompt cache again; thinking must not be toggled within a tool loop; with token budgets (before 4.6) a loop continues with a thinking block first |
 * | OpenAI | reasoning items go back with their ids or encrypted content; the API itself drops those whose prefix changed (*Preserved reasoning*) | the effort of the request should stay constant for the cache |
 * | Google | thought signatures of parts and function calls go back unchanged; Gemini 3 rejects a loop without them | may change per request |
 * | xAI | encrypted reasoning goes back; leaving it out misses the cache | not every model accepts one, so none is set |
 * | DeepSeek | `reasoning_content` of exchanges with tool calls goes back in all later requests, else status 400; in others it is ignored. R1 rejects it | may change per request |
 * | GLM, Kimi, MiniMax | reasoning goes back with tool results | none is set |
 * | others, such as Ollama | dropped | none is set |
 */
export const reasoningModelOf = (name: string): ReasoningModel => {
  const text = name.toLowerCase();
  const slash = text.indexOf('/');
  const isDirect = slash < 0 || services.test(text);
  const found = rulesOf(text);
  if (found === undefined) return unknown;
  if (isDirect || found.history === 'text' || found.history === 'dropped') {
    return isDirect ? found : { ...found, efforts: [] };
  }
  // A gateway signs with its name and has other settings for the effort.
  return { ...found, signedBy: [text.slice(0, slash)], efforts: [] };
};

const rulesOf = (name: string): ReasoningModel | undefined => {
  if (name.includes('claude')) return claude(name);
  if (name.includes('gemini')) return gemini(name);
  if (name.includes('grok')) return { history: 'signed', signedBy: signers.xai, efforts: [], holdsEffort: true };
  if (name.includes('deepseek')) return deepseek(name);
  if (/glm-[4-9]|kimi|minimax/.test(name)) return { history: 'text', signedBy: [], efforts: [], holdsEffort: true };
  return /(?:^|[./])(?:gpt-|o\d|codex|chatgpt)/.test(name) ? gpt(name) : undefined;
};

const common = ['low', 'medium', 'high'] as const;

const claude = (name: string): ReasoningModel => {
  const version = versionIn(/claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?/.exec(name));
  const isAdaptive = version >= 4.06;
  const canDisable = version > 5 ? name.includes('haiku') : !/fable|mythos/.test(name);
  const levels = [
    ...common,
    ...(version >= 4.07 ? (['xhigh'] as const) : []),
    ...(isAdaptive ? (['max'] as const) : []),
  ];
  return {
    history: version > 5 ? 'bound' : 'signed',
    signedBy: signers.anthropic,
    efforts: version < 3.07 ? [] : canDisable ? ['none', ...levels] : levels,
    holdsEffort: true,
    needsThoughtFirst: !isAdaptive,
  };
};

const gpt = (name: string): ReasoningModel => ({
  history: 'signed',
  signedBy: signers.openai,
  efforts: effortsOfGpt(name),
  holdsEffort: true,
});

const effortsOfGpt = (name: string): readonly ReasoningEffort[] => {
  if (/-chat|chatgpt|gpt-oss/.test(name)) return [];
  if (name.includes('-pro')) return ['high'];
  if (/(?:^|[./])o\d|codex/.test(name)) return common;
  const version = versionIn(/gpt-(\d{1,2})(?:\.(\d{1,2}))?/.exec(name));
  if (version < 5) return [];
  if (version === 5) return ['minimal', ...common];
  // Some models of the sixth generation cannot switch reasoning off.
  const off = version < 6 ? (['none'] as const) : [];
  return [
    ...off,
    ...common,
    ...(version >= 5.02 ? (['xhigh'] as const) : []),
    ...(version >= 5.06 ? (['max'] as const) : []),
  ];
};

const gemini = (name: string): ReasoningModel => {
  const version = versionIn(/gemini-(\d{1,2})(?:\.(\d{1,2}))?/.exec(name));
  const efforts = version < 2.05 ? [] : name.includes('gemini-3-pro') ? (['low', 'high'] as const) : common;
  return { history: 'signed', signedBy: signers.google, efforts, holdsEffort: false };
};

const deepseek = (name: string): ReasoningModel =>
  /-r1(?:$|[-:.])/.test(name)
    ? unknown
    : { history: 'text', signedBy: [], efforts: name.includes('chat') ? [] : [...common, 'max'], holdsEffort: false };

/** 4.06 for 4.6, so that 4.10 is greater; 0 if the name has no version. */
const versionIn = (found: RegExpExecArray | null): number => Number(found?.[1] ?? 0) + Number(found?.[2] ?? 0) / 100;
