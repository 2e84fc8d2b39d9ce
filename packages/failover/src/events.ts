import type { ErrorReason } from '@h/provider-errors';

/** Who was or will be asked: the model by its name, the credential by its id. */
export interface Asked {
  readonly model?: string | undefined;
  readonly credential?: string | undefined;
}

/** A failed call that will be made again, and by whom. */
export interface AskedAgain {
  readonly step: number;
  /** The attempt that has failed. */
  readonly attempt: number;
  readonly reason: ErrorReason;
  readonly from: Asked;
  readonly to: Asked;
  /** After how many milliseconds. */
  readonly delayMs: number;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** The same model is asked again with the same credential, after a while. */
    'failover.retrying': AskedAgain;
    /** Another credential or model is asked. */
    'failover.switched': AskedAgain;
    /** All are left alone; the call waits until the first of them, `to`, may be asked again. Somebody else may become free before. */
    'failover.waiting': AskedAgain;
    /** Something is left alone from now on. */
    'failover.cooling': {
      readonly step: number;
      readonly attempt: number;
      readonly reason: ErrorReason;
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
      readonly reason: ErrorReason;
      readonly attempts: number;
      /** When the first of those that are left alone may be asked again, as milliseconds since 1970. */
      readonly availableAt?: number | undefined;
    };
  }
}
