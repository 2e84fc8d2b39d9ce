/** Thrown and caught inside the strict reader: the reason why a line is outside the grammar. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Aborts the strict reader. */
export const refuse = (reason: string): never => {
  throw new Refusal(reason);
};
