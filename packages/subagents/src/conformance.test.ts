import { describeOperator } from '@h/turn/vitest';
import { policyGuard, subagents, unrestricted } from './index.js';

const worker = { description: 'Works.', create: () => Promise.reject(new Error('Nobody asks for one.')) };

describeOperator(() => subagents({ agents: { worker } }));
describeOperator(() => policyGuard(unrestricted));
describeOperator(() => policyGuard({ ...unrestricted, tools: [] }), { changes: ['model.request', 'tool.call'] });
