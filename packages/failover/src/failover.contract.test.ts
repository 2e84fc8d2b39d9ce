import { describeOperator } from '@h/turn/vitest';
import { models, poolOf } from '../test/turns.js';
import { failover } from './failover.js';

describeOperator(() => failover());
describeOperator(() => failover({ pool: poolOf(), models }), { changes: ['model.request', 'session.state'] });
