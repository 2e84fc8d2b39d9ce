import { cutMiddle } from '@h/bounded';
import { visibleLine } from '@h/options';
import type { Message, ToolResultContentPart, ToolResultOutput } from '@h/turn';
import { toJson } from '../counting/message-tokens.js';

/** The maximum length of tool results in a transcript; identifiers are extracted from the whole. */
const maxResultChars = 2_000;
const maxInputChars = 4_000;

type Part = Exclude<Message['content'], string>[number];

/**
 * Renders a message as text for a summarizer: the role, the text, calls and results. Reasoning is omitted, files are
 * named, and results are truncated.
 *
 * @param redact - redacts a text before it is truncated
 */
export const transcriptOf = (message: Message, redact: (text: string) => string): string => {
  const who = message.role === 'tool' ? '' : `[${message.metadata?.internal === true ? 'harness' : message.role}]\n`;
  if (typeof message.content === 'string') return `${who}${quoted(redact(message.content))}\n`;
  const lines = message.content.map((part) => lineOf(part, redact)).filter((line) => line !== '');
  return lines.length === 0 ? '' : `${who}${lines.join('\n')}\n`;
};

const lineOf = (part: Part, redact: (text: string) => string): string => {
  switch (part.type) {
    case 'text':
      return quoted(redact(part.text));
    case 'tool-call':
      return `[call ${visibleLine(part.toolCallId)} of ${visibleLine(part.toolName)}] ${cutMiddle(redact(toJson(part.input)), maxInputChars)}`;
    case 'tool-result':
      return `[result of ${visibleLine(part.toolName)}, call ${visibleLine(part.toolCallId)}] ${quoted(cutMiddle(redact(textOfOutput(part.output)), maxResultChars))}`;
    case 'image':
      return `[image ${visibleLine(part.mediaType ?? '')} left out]`;
    case 'file':
      return `[file ${visibleLine(`${part.filename ?? ''} ${part.mediaType}`)} left out]`;
    default:
      return '';
  }
};

/** Prevents forged turns: a line that looks like one of our headings is prefixed with a bar. */
const quoted = (text: string): string =>
  text.replaceAll(/^(?=[^\S\r\n\u2028\u2029]*\[(?:user|assistant|tool|system|harness|call|result of)\b)/gim, '| ');

/** A tool result as text. */
export const textOfOutput = (output: ToolResultOutput): string => {
  switch (output.type) {
    case 'text':
      return output.value;
    case 'error-text':
      return `Error: ${output.value}`;
    case 'json':
      return toJson(output.value);
    case 'error-json':
      return `Error: ${toJson(output.value)}`;
    case 'execution-denied':
      return `Denied. ${output.reason ?? ''}`;
    case 'content':
      return output.value.map(textOfContent).join('\n');
    default:
      return toJson(output);
  }
};

const textOfContent = (part: ToolResultContentPart): string =>
  part.type === 'text' ? part.text : `[${part.type} left out]`;
