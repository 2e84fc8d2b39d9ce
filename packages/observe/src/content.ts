import { cutText } from '@h/bounded';
import type { AssistantPart, Message, ToolResultOutput } from '@h/turn';
import { textOf } from '@h/turn';
import type { TextRules } from './plain-data.js';

/**
 * Truncates content for an observation. The redactor processes the event first, because it cannot detect a truncated
 * secret.
 */
export const contentOf = (text: string, { maxContentChars }: TextRules): string => cutText(text, maxContentChars);

/** Returns the text of the user's messages. */
export const inputText = (messages: readonly Message[]): string =>
  messages.map((message) => textOf(message)).join('\n\n');

/** Returns the texts of an answer, and the names and inputs of its tool calls. */
export const answerText = (content: readonly AssistantPart[]): string =>
  content
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'tool-call' ? [`${part.toolName}(${jsonText(part.input)})`] : [];
    })
    .join('\n');

/** Returns the text of a tool result for the model. */
export const outputText = (output: ToolResultOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return jsonText(output.value);
    case 'execution-denied':
      return output.reason ?? '';
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  }
};

export const jsonText = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '[no JSON]';
  }
};
