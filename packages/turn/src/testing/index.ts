export * from './builders.js';
export { describeOperator } from './describe-operator.js';
export { marbles, type TurnMarbles } from './marbles.js';
export { operatorChecks, type OperatorCheck, type OperatorCheckOptions } from './operator-checks.js';
export { sampleTurn } from './sample-turn.js';
export {
  scriptedModel,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptStep,
} from './scripted-model.js';
export { scriptedTools, type ScriptedTool, type ScriptedToolContext, type ScriptedTools } from './scripted-tools.js';
