/**
 * The tokens of one or more model calls.
 *
 * `input` is everything that was sent and *includes* `cacheRead` and `cacheWrite`; `output` is everything that was
 * generated and includes `reasoning`. The total is `input + output`.
 */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

export const noUsage: Usage = Object.freeze({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 });

/** The sum of two usages. */
export const addUsage = (left: Usage, right: Usage): Usage => ({
  input: left.input + right.input,
  cacheRead: left.cacheRead + right.cacheRead,
  cacheWrite: left.cacheWrite + right.cacheWrite,
  output: left.output + right.output,
  reasoning: left.reasoning + right.reasoning,
});
