import type { ToolResultOutput } from '@h/turn';

/** The output with a note behind it, for the model to read. What it is stays: an error stays an error. */
export const withNote = (output: ToolResultOutput, text: string): ToolResultOutput => {
  const note = `[Loop warning] ${text}`;
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n${note}` };
    case 'json':
      return { ...output, type: 'text', value: `${JSON.stringify(output.value)}\n\n${note}` };
    case 'error-json':
      return { ...output, type: 'error-text', value: `${JSON.stringify(output.value)}\n\n${note}` };
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text: note }] };
    case 'execution-denied':
      return { ...output, reason: output.reason === undefined ? note : `${output.reason}\n\n${note}` };
  }
};
