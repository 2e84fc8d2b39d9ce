export * from './builders.js';
export { sampleTurn } from './sample-turn.js';
export { scriptedModel, type ScriptedModel, type ScriptedModelOptions, type ScriptStep } from './scripted-model.js';
export { scriptedTools, type ScriptedTool, type ScriptedTools } from './scripted-tools.js';
