/** A block of an Anthropic request, with its cache breakpoint separated from its content. */
export interface WireBlock {
  /** The block and its role as JSON, without the breakpoint. */
  readonly json: string;
  readonly isMarked: boolean;
}

interface WireBody {
  readonly tools?: readonly object[];
  readonly system: readonly object[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly object[] }[];
}

/** Returns the blocks of a body in the order in which the provider reads them: tools, system, messages. */
export const blocksOf = (body: string): readonly WireBlock[] => {
  const { tools = [], system, messages } = JSON.parse(body) as WireBody;
  return [
    ...tools.map((tool) => block('tools', tool)),
    ...system.map((part) => block('system', part)),
    ...messages.flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [block(role, { type: 'text', text: content })]
        : content.map((part) => block(role, part)),
    ),
  ];
};

const block = (owner: string, part: object): WireBlock => {
  const { cache_control: mark, ...rest } = part as { readonly cache_control?: unknown };
  return { json: JSON.stringify([owner, rest]), isMarked: mark !== undefined };
};

/**
 * Simulates the prompt cache of a provider, which stores the prefix up to each breakpoint and reads the longest match.
 *
 * @returns the share of characters read from the cache, for each body
 */
export const simulateCache = (bodies: readonly string[]): readonly number[] => {
  const kept = new Set<string>();
  return bodies.map((body) => {
    let prefix = '';
    let read = 0;
    const written: string[] = [];
    for (const { json, isMarked } of blocksOf(body)) {
      prefix += `${json}\n`;
      if (kept.has(prefix)) read = prefix.length;
      if (isMarked) written.push(prefix);
    }
    for (const entry of written) kept.add(entry);
    return read / prefix.length;
  });
};
