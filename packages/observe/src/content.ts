import { cutText } from '@h/bounded';
import type { AssistantPart, Message, ToolResultOutput } from '@h/turn';
import { textOf } from '@h/turn';
import type { TextRules } from './plain-data.js';

/**
 * Cuts content for an observation. Its event was redacted before, so that no cut hides half of a secret from the
 * redactor.
 */
export const contentOf = (text: string, { maxContentChars }: TextRules): string => cutText(text, maxContentChars);

/** What the user said. */
export const inputText = (messages: readonly Message[]): string =>
  messages.map((message) => textOf(message)).join('\n\n');

/** What the model said: texts, and the names and inputs of the tools that it calls. */
export const answerText = (content: readonly AssistantPart[]): string =>
  content
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'tool-call' ? [`${part.toolName}(${jsonText(part.input)})`] : [];
    })
    .join('\n');

/** What the model reads of a tool result. */
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
