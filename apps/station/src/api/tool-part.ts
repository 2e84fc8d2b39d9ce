import type { ToolOutcome, ToolResultOutput } from '@h/turn';
import type { StationEntry } from './contract.js';

type ToolPart = Extract<StationEntry['parts'][number], { readonly type: 'tool' }>;

const statuses: Readonly<Record<ToolOutcome['status'], ToolPart['status']>> = {
  ok: 'ok',
  stored: 'ok',
  failed: 'error',
  'timed-out': 'error',
  'invalid-input': 'error',
  'unknown-tool': 'error',
  denied: 'denied',
  skipped: 'skipped',
  cancelled: 'interrupted',
  interrupted: 'interrupted',
};

/** Returns the status of a tool call as the API and the page show it. */
export const shownStatus = (status: string): ToolPart['status'] => statuses[status as ToolOutcome['status']] ?? 'error';

/** Returns the output of a tool call as text that people read. */
export const outputText = (output: ToolResultOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value, null, 2);
    case 'execution-denied':
      return output.reason ?? 'Denied';
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  }
};
