import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JSONValue, ToolOutcome, ToolResultContentPart } from '@h/turn';

type Block = CallToolResult['content'][number];

/**
 * Converts an outcome to the result that the client receives.
 *
 * @param hasStructure - whether the structured content is passed on. It is neither wrapped nor cut.
 */
export const callResult = ({ status, output, details }: ToolOutcome, hasStructure: boolean): CallToolResult => {
  const isError = status !== 'ok' && status !== 'stored';
  const structured = hasStructure && status === 'ok' ? structureOf(details) : undefined;
  return {
    content: blocksOf(output),
    ...(structured !== undefined && { structuredContent: structured }),
    ...(isError && { isError }),
  };
};

/** A result that reports an error. */
export const errorResult = (text: string): CallToolResult => ({ content: [textBlock(text)], isError: true });

const textBlock = (text: string): Block => ({ type: 'text', text });

const blocksOf = (output: ToolOutcome['output']): Block[] => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return [textBlock(output.value)];
    case 'json':
    case 'error-json':
      return [textBlock(JSON.stringify(output.value))];
    case 'execution-denied':
      return [textBlock(output.reason ?? 'The call was denied.')];
    case 'content':
      return output.value.map(blockOf);
  }
};

const blockOf = (part: ToolResultContentPart): Block => {
  if (part.type === 'text') return textBlock(part.text);
  if (part.type !== 'file' || typeof part.data !== 'string') return textBlock(`[${part.type}]`);
  const { data, mediaType, filename } = part;
  if (mediaType.startsWith('image/')) return { type: 'image', data, mimeType: mediaType };
  if (mediaType.startsWith('audio/')) return { type: 'audio', data, mimeType: mediaType };
  const uri = `mcp-guard:///${encodeURIComponent(filename ?? 'file')}`;
  return { type: 'resource', resource: { uri, blob: data, mimeType: mediaType } };
};

const structureOf = (details: JSONValue | undefined): Record<string, unknown> | undefined => {
  const { structuredContent } = (details ?? {}) as { readonly structuredContent?: unknown };
  const isObject =
    typeof structuredContent === 'object' && structuredContent !== null && !Array.isArray(structuredContent);
  return isObject ? (structuredContent as Record<string, unknown>) : undefined;
};
