import type { FileData, Message, ToolResultOutput } from '@h/turn';

/** A message as texts, for counting characters or tokens. Every text is visited once. */
export const visitTexts = (message: Message, visit: (text: string) => void): void => {
  if (typeof message.content === 'string') {
    visit(message.content);
    return;
  }
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        visit(part.text);
        break;
      case 'tool-call':
        visit(part.toolName);
        visit(jsonOf(part.input));
        break;
      case 'tool-result':
        visitOutput(part.output, visit);
        break;
      default:
    }
  }
};

const visitOutput = (output: ToolResultOutput, visit: (text: string) => void): void => {
  if (output.type === 'content') {
    for (const part of output.value) if (part.type === 'text') visit(part.text);
  } else if (output.type !== 'execution-denied') {
    visit(typeof output.value === 'string' ? output.value : jsonOf(output.value));
  }
};

/** How many characters a message has; files count as long as their data is. */
export const charsOf = (message: Message): number => {
  let chars = 0;
  visitTexts(message, (text) => {
    chars += text.length;
  });
  if (typeof message.content === 'string') return chars;
  for (const part of message.content) {
    if (part.type === 'file' || part.type === 'reasoning-file') chars += dataLength(part.data);
    else if (part.type === 'image') chars += dataLength(part.image);
  }
  return chars;
};

const dataLength = (data: FileData): number => {
  if (typeof data === 'string') return data.length;
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return data.byteLength;
  if (data instanceof URL) return data.href.length;
  if (data.type === 'text') return (data as { readonly text: string }).text.length;
  return data.type === 'data' ? dataLength((data as { readonly data: string | Uint8Array | ArrayBuffer }).data) : 0;
};

export const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
};
