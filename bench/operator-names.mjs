/** The ten operators in the order of a pipeline. */
export const operatorNames = [
  'queue',
  'hooks',
  'guardrails',
  'failover',
  'prompt',
  'compaction',
  'loop-detect',
  'tools',
  'security',
  'observe',
];
