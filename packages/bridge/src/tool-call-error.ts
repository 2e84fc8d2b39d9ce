import { TurnError, type ToolResultOutput } from '@h/turn';

/** Thrown by a tool of a host if the operators answered its call with an error. The model receives the message. */
export class ToolCallError extends TurnError {
  constructor(message: string) {
    super('tool-call-failed', message);
  }

  /** Some hosts pass this string to the model. */
  override toString(): string {
    return this.message;
  }
}

/**
 * Returns the output of a call, for hosts whose tools fail by throwing.
 *
 * @throws ToolCallError for an error or a denial
 */
export const outputOrThrow = (
  output: ToolResultOutput,
): Exclude<ToolResultOutput, { readonly type: 'execution-denied' }> => {
  switch (output.type) {
    case 'error-text':
      throw new ToolCallError(output.value);
    case 'error-json':
      throw new ToolCallError(JSON.stringify(output.value));
    case 'execution-denied':
      throw new ToolCallError(`Denied: ${output.reason ?? 'a policy does not allow this call.'}`);
    default:
      return output;
  }
};
