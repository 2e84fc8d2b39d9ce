export * from './api/contract.js';
export type { AgentEnvironment, StationAgent } from './agents/station-agent.js';
