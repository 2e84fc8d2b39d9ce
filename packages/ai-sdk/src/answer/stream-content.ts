import type {
  LanguageModelV4Content,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { ModelDelta } from '@h/turn';

type Block = LanguageModelV4Text | LanguageModelV4Reasoning;
type StreamPart<Type extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: Type }>;

/** Collects the content of an answer from the parts of a stream. */
export interface StreamContent {
  /** Reads the next part; returns its delta, if it has one. */
  add(part: LanguageModelV4StreamPart): ModelDelta | undefined;
  /** The content so far, in the order in which its blocks began. */
  readonly content: LanguageModelV4Content[];
}

/**
 * Creates a collector for one answer.
 *
 * A block has the last metadata that the provider sends for it: at its start, with a delta or at its end. The input
 * of a call that the provider runs itself is not emitted as deltas.
 */
export const streamContent = (): StreamContent => {
  const content: LanguageModelV4Content[] = [];
  const blocks = blocksOf(content);
  const toolNames = new Map<string, string>();

  const add = (part: LanguageModelV4StreamPart): ModelDelta | undefined => {
    switch (part.type) {
      case 'text-delta':
        return blocks.grow('text', part);
      case 'reasoning-delta':
        return blocks.grow('reasoning', part);
      case 'tool-input-delta':
        return toInputDelta(part, toolNames.get(part.id));
      case 'tool-input-start':
        if (part.providerExecuted !== true) toolNames.set(part.id, part.toolName);
        return undefined;
      case 'text-start':
      case 'text-end':
        return blocks.mark('text', part);
      case 'reasoning-start':
      case 'reasoning-end':
        return blocks.mark('reasoning', part);
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'source':
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
        content.push(part);
        return undefined;
      default:
        return undefined;
    }
  };
  return { add, content };
};

const toInputDelta = (
  { id, delta }: StreamPart<'tool-input-delta'>,
  toolName: string | undefined,
): ModelDelta | undefined =>
  toolName === undefined || delta === '' ? undefined : { type: 'tool-input', toolCallId: id, toolName, text: delta };

/** The open text and reasoning blocks by id; a later block may reuse an id. */
const blocksOf = (content: LanguageModelV4Content[]) => {
  const openBlocks = { text: new Map<string, Block>(), reasoning: new Map<string, Block>() };

  const open = (type: Block['type'], id: string): Block => {
    const block: Block = { type, text: '' };
    content.push(block);
    openBlocks[type].set(id, block);
    return block;
  };

  return {
    mark(
      type: Block['type'],
      part: StreamPart<'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'>,
    ): undefined {
      const starts = part.type === 'text-start' || part.type === 'reasoning-start';
      const block = starts ? open(type, part.id) : openBlocks[type].get(part.id);
      if (block) describe(block, part.providerMetadata);
      if (!starts) openBlocks[type].delete(part.id);
    },
    grow(
      type: Block['type'],
      { id, delta, providerMetadata }: StreamPart<'text-delta' | 'reasoning-delta'>,
    ): ModelDelta | undefined {
      const block = openBlocks[type].get(id) ?? open(type, id);
      describe(block, providerMetadata);
      if (delta === '') return undefined;
      block.text += delta;
      return { type, text: delta, id };
    },
  };
};

const describe = (block: Block, metadata: SharedV4ProviderMetadata | undefined): void => {
  if (metadata !== undefined) block.providerMetadata = metadata;
};
