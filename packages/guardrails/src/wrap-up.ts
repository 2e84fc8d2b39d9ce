import type { ModelRequest, UserMessage } from '@h/turn';

/** A message that only this request has, and no history. */
export const told = <Request extends ModelRequest>(request: Request, kind: string, text: string): Request => {
  const message: UserMessage = { role: 'user', content: text, metadata: { internal: true, kind } };
  return { ...request, tail: [...request.tail, message] };
};

/**
 * The request with tools that the model may not call. They stay in it: providers want to know the tools of calls that are in
 * the history, and a list that changes costs the whole cache. A call that comes all the same is refused.
 */
export const withoutTools = <Request extends ModelRequest>(request: Request): Request => ({
  ...request,
  settings: { ...request.settings, toolChoice: 'none' as const },
});

/**
 * What models of today can write at once, at the least. More is not asked for where nobody has, and so much is set aside of a
 * shared budget for an answer of unknown length.
 */
export const commonMaximum = 16_384;

/** The request with an answer that is no longer than this. */
export const clamped = <Request extends ModelRequest>(request: Request, outputTokens: number): Request => {
  const { maxOutputTokens } = request.settings;
  const most = Math.max(1, Math.floor(outputTokens));
  return most < (maxOutputTokens ?? commonMaximum)
    ? { ...request, settings: { ...request.settings, maxOutputTokens: most } }
    : request;
};

/** Whether the model may ask for tools. */
export const offersTools = ({ tools, settings }: ModelRequest): boolean =>
  tools.length > 0 && settings.toolChoice !== 'none';
