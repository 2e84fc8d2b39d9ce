/**
 * What the operator adds to a step and to a delta, beside the loop without it in the same run.
 *
 *   node bench/added.mjs        (after a build)
 */
import * as turn from '@h/turn';
import * as rxjs from 'rxjs';
import { createCredentialPool, failover } from '@h/failover';
import { addedCost } from '../../../tooling/bench/added-cost.mjs';

const pool = createCredentialPool({ profiles: [{ id: 'a', provider: 'alpha', key: 'key-of-alpha' }] });
await addedCost(
  { turn, rxjs },
  {
    'failover()': () => [failover()],
    'with a pool': () => [failover({ pool, models: ['alpha/one', 'beta/two'] })],
  },
);
process.exit(0);
