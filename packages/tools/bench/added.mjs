/**
 * What the operator adds to a step and to a delta, beside the loop without it in the same run.
 *
 *   node bench/added.mjs        (after a build)
 */
import * as turn from '@h/turn';
import * as rxjs from 'rxjs';
import { tools } from '@h/tools';
import { addedCost } from '../../../tooling/bench/added-cost.mjs';

await addedCost(
  { turn, rxjs },
  {
    'tools()': () => [tools()],
  },
);
process.exit(0);
