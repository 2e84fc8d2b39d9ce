import { TurnError } from '@h/turn';

/** An option that does not exist, or has a value that makes no sense. The message names it, its value and what to do. */
export class SecurityOptionsError extends TurnError {
  /** Name of the option. */
  readonly option: string;

  constructor(option: string, message: string) {
    super('invalid-option', message);
    this.option = option;
  }
}
