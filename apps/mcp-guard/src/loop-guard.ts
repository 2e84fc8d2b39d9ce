import { createLoopDetector } from '@h/loop-detect';
import { deny, intercept, type PipelineOperator, type ToolEffect, type ToolResultOutput } from '@h/turn';

/**
 * Creates an operator that denies calls without progress, with one detector for all turns: every call of an MCP client
 * is a separate turn.
 */
export const loopGuard = (effectOf: (tool: string) => ToolEffect | undefined): PipelineOperator => {
  const detector = createLoopDetector();
  return intercept(
    'loop-detect',
    () => ({
      decide: {
        'tool.call': (event) => {
          if (event.denied !== undefined) return undefined;
          const { level, message } = detector.judge({ ...event.call, effect: effectOf(event.call.name) });
          return level === 'block' || level === 'break' ? deny(event, message, 'loop-detect') : undefined;
        },
        'tool.result': (event) => {
          const { status, output, call } = event;
          const { level, message } = detector.record({ ...call, effect: effectOf(call.name) }, { status, output });
          return level === 'warn' ? { ...event, output: withNote(output, message) } : undefined;
        },
      },
    }),
    { after: ['guardrails'], before: ['tools', 'security'] },
  );
};

const withNote = (output: ToolResultOutput, note: string): ToolResultOutput => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n[${note}]` };
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text: `[${note}]` }] };
    case 'json':
      return {
        type: 'content',
        value: [
          { type: 'text', text: JSON.stringify(output.value) },
          { type: 'text', text: `[${note}]` },
        ],
      };
    default:
      return output;
  }
};
