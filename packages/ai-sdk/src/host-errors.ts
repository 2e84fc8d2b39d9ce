import { TurnError, type ErrorInfo } from '@h/turn';

/** Remembers how the host would have heard of an error if no operators were there. */
export interface HostErrors {
  note(error: ErrorInfo, deliver: () => void): void;
  /** Tells the host: as it would have heard of it, or with a new error where an operator made or rewrote this one. */
  deliver(error: ErrorInfo, otherwise: (error: TurnError) => void): void;
}

export const hostErrors = (): HostErrors => {
  const deliveries = new WeakMap<ErrorInfo, () => void>();
  return {
    note: (error, deliver) => void deliveries.set(error, deliver),
    deliver: (error, otherwise) => {
      const deliver = deliveries.get(error);
      if (deliver) deliver();
      else otherwise(new TurnError(error.code ?? 'model-error', error.message, { cause: error }));
    },
  };
};
