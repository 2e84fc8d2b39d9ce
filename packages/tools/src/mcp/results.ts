import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JSONValue, ToolResultContentPart } from '@h/turn';
import { toolOutput, type ToolOutput } from '../define-tool.js';

type Block = CallToolResult['content'][number];

/**
 * Converts the result of an MCP tool.
 *
 * The model receives text, images, resources, and links by name. Structured content becomes the details, and the output
 * if the result has no other content.
 */
export const outputOf = ({ content, structuredContent, isError }: CallToolResult): ToolOutput => {
  const structured = structuredContent as JSONValue | undefined;
  const parts = content.map(partOf);
  const [only] = parts;
  const text = parts.length === 1 && only?.type === 'text' ? only.text : undefined;
  return toolOutput({
    output: text ?? (parts.length > 0 ? asOutput(parts, isError === true) : (structured ?? '(no output)')),
    ...(structured !== undefined && { details: { structuredContent: structured } }),
    isError: isError === true,
  });
};

/** Reports an error as one string if possible, because parts have no error flag. */
const asOutput = (
  parts: readonly ToolResultContentPart[],
  isError: boolean,
): string | readonly ToolResultContentPart[] => {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return isError && texts.length === parts.length ? texts.join('\n') : parts;
};

const partOf = (block: Block): ToolResultContentPart => {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'file', data: block.data, mediaType: block.mimeType };
    case 'resource_link':
      return { type: 'text', text: linkText(block) };
    case 'resource':
      return resourcePart(block.resource);
  }
};

const linkText = ({ name, uri, description, mimeType }: Extract<Block, { type: 'resource_link' }>): string =>
  `[Resource ${name}: ${uri}${mimeType === undefined ? '' : ` (${mimeType})`}${description === undefined ? '' : ` – ${description}`}]`;

const resourcePart = (resource: Extract<Block, { type: 'resource' }>['resource']): ToolResultContentPart => {
  if ('text' in resource) return { type: 'text', text: resource.text };
  const filename = resource.uri.split('/').at(-1);
  return {
    type: 'file',
    data: resource.blob,
    mediaType: resource.mimeType ?? 'application/octet-stream',
    ...(filename !== undefined && filename !== '' && { filename }),
  };
};
