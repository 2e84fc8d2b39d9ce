// Files.
export { WorkspaceOptionsError } from './options.js';
export * from './paths/index.js';

// Processes, sandbox and git.
