/** Returns the messages or items of a request, each as JSON without the marks of the prompt cache. */
export const messagesIn = (body: string): readonly string[] => {
  const { messages, input } = JSON.parse(body) as { readonly messages?: unknown; readonly input?: unknown };
  const items = messages ?? input;
  return (Array.isArray(items) ? items : [items]).map((item) => JSON.stringify(item));
};

/** Whether the messages of a request begin with those of an earlier one. */
export const isPrefix = (before: readonly string[], after: readonly string[]): boolean =>
  before.every((message, index) => after[index] === message);

/** Returns all strings of a request but ids, which some hosts drop from later requests. */
export const texts = (body: string): readonly string[] => {
  const found: string[] = [];
  JSON.parse(body, (key, value: unknown) => {
    if (typeof value === 'string' && key !== 'id') found.push(value);
    return value;
  });
  return found;
};
