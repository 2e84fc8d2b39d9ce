import type { OperatorContext } from '@h/turn';
import { createCredentialPool, type CredentialPool } from './credential-pool.js';

/**
 * The pool of a turn: the one that the app has passed, or its own for cooldowns of models, made at the first failure.
 */
export class TurnPool {
  readonly #random: () => number;
  readonly #operator: OperatorContext;
  #pool: CredentialPool | undefined;

  constructor(
    { pool, random }: { readonly pool: CredentialPool | undefined; readonly random: () => number },
    operator: OperatorContext,
  ) {
    this.#pool = pool;
    this.#random = random;
    this.#operator = operator;
  }

  get pool(): CredentialPool {
    return (this.#pool ??= createCredentialPool({
      profiles: [],
      now: () => this.#operator.now(),
      random: this.#random,
    }));
  }

  /** The pool; `undefined` as long as every model is available without a credential. */
  get existing(): CredentialPool | undefined {
    return this.#pool;
  }
}
