import type { LanguageModelV4ToolResultOutput, SharedV4FileData } from '@ai-sdk/provider';
import type { ProviderOptions, ToolResultContentPart, ToolResultOutput } from '@h/turn';
import { toFileData } from './file-data.js';
import { optionsMember } from './provider-options.js';

type OutputPart = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number];
type OutputFile = Extract<OutputPart, { type: 'file' }>;

/**
 * Converts the result of a tool to the provider's shape; older file shapes become `file` parts.
 *
 * @param provider - The provider to which a bare file id belongs.
 */
export const toToolOutput = (output: ToolResultOutput, provider: string): LanguageModelV4ToolResultOutput => {
  if (output.type !== 'content') return output as LanguageModelV4ToolResultOutput;
  const value = output.value.map((part) => toOutputPart(part, provider));
  return { type: 'content', value, ...optionsMember(output.providerOptions) };
};

const toOutputPart = (part: ToolResultContentPart, provider: string): OutputPart => {
  switch (part.type) {
    case 'text':
    case 'custom':
      return part as OutputPart;
    case 'file': {
      const { data, mediaType = part.mediaType } = toFileData(part.data);
      return file(data, mediaType, part);
    }
    case 'media':
    case 'file-data':
    case 'image-data':
      return file({ type: 'data', data: part.data }, part.mediaType, part);
    case 'file-url':
    case 'image-url': {
      const { data, mediaType = part.mediaType } = toFileData({ type: 'url', url: new URL(part.url) });
      return file(data, mediaType ?? (part.type === 'image-url' ? 'image/*' : 'application/octet-stream'), part);
    }
    case 'file-id':
    case 'image-file-id':
      return file(
        reference(typeof part.fileId === 'string' ? { [provider]: part.fileId } : part.fileId),
        kindOf(part.type),
        part,
      );
    case 'file-reference':
    case 'image-file-reference':
      return file(reference(part.providerReference), kindOf(part.type), part);
  }
};

const file = (
  data: SharedV4FileData,
  mediaType: string,
  source: { readonly filename?: string | undefined; readonly providerOptions?: ProviderOptions | undefined },
): OutputFile => ({
  type: 'file',
  data,
  mediaType,
  ...(source.filename !== undefined && { filename: source.filename }),
  ...optionsMember(source.providerOptions),
});

const reference = (ids: Readonly<Record<string, string>>): SharedV4FileData => toFileData(ids).data;

/** Returns the top-level media type of a file reference. */
const kindOf = (type: string): string => (type.startsWith('image') ? 'image' : 'application');
