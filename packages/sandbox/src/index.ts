export { createSandbox } from './create-sandbox.js';
export { reapContainers } from './docker-cleanup.js';
export type {
  BubblewrapSandboxOptions,
  DockerSandboxOptions,
  E2bSandboxOptions,
  HostSandboxOptions,
  SandboxOptions,
} from './options.js';
export type { CommandEnd, Sandbox, SandboxCommand, SandboxMode } from './sandbox.js';
export { SandboxError, UnsupportedSandboxOptionError, type SandboxErrorCode } from './sandbox-error.js';
export { toolchain } from './toolchain.js';
