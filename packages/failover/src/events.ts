import type { FailoverReason } from './reasons.js';

/** Who was or will be asked: the model by its name, the credential by its id. */
export interface Asked {
  readonly model?: string | undefined;
  readonly credential?: string | undefined;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** The same model is asked again with the same credential, after so many milliseconds. */
    'failover.retrying': {
      readonly step: number;
      /** The attempt that has failed. */
      readonly attempt: number;
      readonly reason: FailoverReason;
      readonly from: Asked;
      readonly to: Asked;
      readonly delayMs: number;
    };
    /** Another credential or model is asked. */
    'failover.switched': {
      readonly step: number;
      readonly attempt: number;
      readonly reason: FailoverReason;
      readonly from: Asked;
      readonly to: Asked;
      readonly delayMs: number;
    };
    /** All are left alone; the call waits until the first of them may be asked again. */
    'failover.waiting': {
      readonly step: number;
      readonly attempt: number;
      readonly reason: FailoverReason;
      readonly from: Asked;
      /** Who may be asked first; somebody else may become free before. */
      readonly to: Asked;
      readonly delayMs: number;
    };
    /** Something is left alone from now on. */
    'failover.cooling': {
      readonly step: number;
      readonly attempt: number;
      readonly reason: FailoverReason;
      /** What: the credential with all its models, it with this model, or the model whoever asks. */
      readonly scope: 'profile' | 'model' | 'service';
      readonly from: Asked;
      readonly delayMs: number;
      /** As milliseconds since 1970. */
      readonly until: number;
    };
    /** Nobody is left to ask. The error of the turn has a record of each attempt. */
    'failover.exhausted': {
      readonly step: number;
      readonly attempt: number;
      readonly reason: FailoverReason;
      readonly attempts: number;
      /** When the first of those that are left alone may be asked again, as milliseconds since 1970. */
      readonly availableAt?: number | undefined;
    };
  }
}
