/** Thrown inside the strict reader, and caught by it: why a line is outside the grammar that can be checked. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Leaves the strict reader. */
export const refuse = (reason: string): never => {
  throw new Refusal(reason);
};
