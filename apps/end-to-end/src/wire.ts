/** A block of a request to Anthropic, as it is read for its cache: in order, its cache mark apart. */
export interface WireBlock {
  /** The block and whose it is, as JSON, without its mark. */
  readonly json: string;
  readonly isMarked: boolean;
}

interface WireBody {
  readonly tools?: readonly object[];
  readonly system: readonly object[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly object[] }[];
}

/** The blocks of a body in the order in which the provider reads them: tools, system, messages. */
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
 * A provider's prompt cache: keeps the prefix before each mark, and reads the longest that it has kept.
 *
 * @returns for each body the share of its characters that was read from the cache
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
