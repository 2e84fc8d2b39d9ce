import { TurnError, type ErrorInfo, type ModelDriverOutput, type Usage } from '@h/turn';

/** Remembers how the host would have heard of an error if no operators were there. */
export interface HostErrors {
  /** The error as operators hear of it; `deliver` tells the host, should none of them take it in hand. */
  toOutput(error: ErrorInfo, deliver: () => void, usage?: Usage): ModelDriverOutput;
  /** Tells the host: as it would have heard of it, or with a new error where an operator made or rewrote this one. */
  deliver(error: ErrorInfo, otherwise: (error: TurnError) => void): void;
}

export const hostErrors = (): HostErrors => {
  const deliveries = new WeakMap<ErrorInfo, () => void>();
  return {
    toOutput: (error, deliver, usage) => {
      deliveries.set(error, deliver);
      return { type: 'error', error, ...(usage && { usage }) };
    },
    deliver: (error, otherwise) => {
      const deliver = deliveries.get(error);
      if (deliver) deliver();
      else otherwise(new TurnError(error.code ?? 'model-error', error.message, { cause: error }));
    },
  };
};
