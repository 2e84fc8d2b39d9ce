export { describeOperator } from './describe-operator.js';
export { marbles, type TurnMarbles } from './marbles.js';
export { operatorChecks, type OperatorCheck, type OperatorCheckOptions } from './operator-checks.js';
