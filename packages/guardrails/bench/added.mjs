/**
 * What the operator adds to a step and to a delta, beside the loop without it in the same run.
 *
 *   node bench/added.mjs        (after a build)
 */
import * as turn from '@h/turn';
import * as rxjs from 'rxjs';
import { guardrails } from '@h/guardrails';
import { addedCost } from '../../../tooling/bench/added-cost.mjs';

await addedCost(
  { turn, rxjs },
  {
    'guardrails()': () => [guardrails({ maxSteps: Infinity })],
    'limits on tokens': () => [guardrails({ maxSteps: Infinity, maxTokens: 1e12, session: { maxTokens: 1e12 } })],
  },
);
process.exit(0);
