export {
  chooseEffort,
  defaultEffortRules,
  type EffortFacts,
  type EffortRules,
  type ReasoningEffort,
} from './effort.js';
export { reasoningModelOf, type ReasoningHistory, type ReasoningModel } from './providers.js';
export { reasoning, type ReasoningOptions } from './reasoning.js';
