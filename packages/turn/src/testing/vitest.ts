export { describeOperator } from './describe-operator.js';
export { marbles } from './marbles.js';
export { operatorChecks } from './operator-checks.js';
