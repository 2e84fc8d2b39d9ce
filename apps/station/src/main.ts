export * from './api/contract.js';
export { parseAgentFile, readAgentFiles, type AgentFile } from './agents/agent-file.js';
export type { AgentEnvironment, StationAgent } from './agents/station-agent.js';
export { configuredModels, stationAgents, type StationAgentsOptions } from './agents/station-agents.js';
export { loadConfig, loadText, type LoadedConfig } from './config/load-config.js';
export type { StationConfig } from './config/schema.js';
export { serviceSettings, type ServiceSettings } from './config/service-settings.js';
