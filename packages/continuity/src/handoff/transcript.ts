import type { Message, ToolResultOutput } from '@h/turn';

type Part = Exclude<Message['content'], string>[number];

/** A message as text for whoever reports on it. Reasoning and files are left out, and ids of calls, which mean nothing where the calls are gone. */
export const transcriptOf = (message: Message): string => {
  const who = message.metadata?.internal === true ? 'harness' : message.role;
  const lines =
    typeof message.content === 'string'
      ? [quoted(message.content)]
      : message.content.map(partText).filter((line) => line !== '');
  return lines.length === 0 ? '' : `[${who}]\n${lines.join('\n')}\n`;
};

const partText = (part: Part): string => {
  switch (part.type) {
    case 'text':
      return quoted(part.text);
    case 'tool-call':
      return `[call of ${part.toolName}] ${json(part.input)}`;
    case 'tool-result':
      return `[result of ${part.toolName}] ${quoted(outputText(part.output))}`;
    case 'image':
    case 'file':
      return `[${part.type} left out]`;
    default:
      return '';
  }
};

/** Keeps a text from passing for something that somebody else has said: a line that looks like a heading of ours gets a bar before it. */
const quoted = (text: string): string =>
  text.replaceAll(/^(?=[^\S\r\n\u2028\u2029]*\[(?:user|assistant|tool|system|harness|call of|result of)\b)/gim, '| ');

const outputText = (output: ToolResultOutput): string => {
  switch (output.type) {
    case 'text':
      return output.value;
    case 'error-text':
      return `Error: ${output.value}`;
    case 'execution-denied':
      return `Denied. ${output.reason ?? ''}`;
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type} left out]`)).join('\n');
    default:
      return json(output.value);
  }
};

const json = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
};

/** A text of at most so many characters: its beginning and its end, where errors stand. Cuts through no character. */
export const clip = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text;
  const note = `\n[… ${text.length - maxChars} or more characters left out …]\n`;
  const room = Math.max(0, maxChars - note.length);
  const head = text.slice(0, Math.ceil(room * 0.6)).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(text.length - Math.floor(room * 0.4)).replace(/^[\udc00-\udfff]/, '');
  return `${head}${note}${tail}`;
};

/** Texts in groups of at most so many characters, in order. One that is longer by itself is clipped. */
export const chunksOf = (texts: readonly string[], maxChars: number): readonly (readonly string[])[] => {
  const chunks: string[][] = [];
  let room = 0;
  for (const text of texts) {
    const clipped = clip(text, maxChars);
    const last = chunks.at(-1);
    if (last && clipped.length <= room) {
      last.push(clipped);
      room -= clipped.length;
    } else {
      chunks.push([clipped]);
      room = maxChars - clipped.length;
    }
  }
  return chunks;
};
