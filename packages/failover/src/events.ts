import type { ErrorReason } from '@h/provider-errors';

/** The model, by its name, and the credential, by its id, that a call is sent to. */
export interface FailoverTarget {
  readonly model?: string | undefined;
  readonly credential?: string | undefined;
}

/** A failed call that is repeated, and where. */
export interface FailoverTransition {
  readonly step: number;
  /** The attempt that failed. */
  readonly attempt: number;
  readonly reason: ErrorReason;
  readonly from: FailoverTarget;
  readonly to: FailoverTarget;
  /** The delay in milliseconds. */
  readonly delayMs: number;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** The same model is retried with the same credential after a delay. */
    'failover.retrying': FailoverTransition;
    /** Another credential or model is asked. */
    'failover.switched': FailoverTransition;
    /**
     * All are in cooldown; the call waits for `to`, the first that becomes available. Another one may become available
     * earlier.
     */
    'failover.waiting': FailoverTransition;
    /** A cooldown begins. */
    'failover.cooling': {
      readonly step: number;
      readonly attempt: number;
      readonly reason: ErrorReason;
      /**
       * What is in cooldown: the credential with all its models, it with this model, or the model with any credential.
       */
      readonly scope: 'profile' | 'model' | 'service';
      readonly from: FailoverTarget;
      readonly delayMs: number;
      /** Milliseconds since 1970. */
      readonly until: number;
    };
    /** Nothing is left to try. The error of the turn has a record of each attempt. */
    'failover.exhausted': {
      readonly step: number;
      readonly attempt: number;
      readonly reason: ErrorReason;
      readonly attempts: number;
      /** When the first cooldown ends, in milliseconds since 1970. */
      readonly availableAt?: number | undefined;
    };
  }
}
