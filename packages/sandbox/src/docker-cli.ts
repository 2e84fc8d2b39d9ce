import { captureProcess, type CapturedProcess } from '@h/process';
import { SandboxError } from './sandbox-error.js';

/** The docker command, configured for one daemon. */
export interface DockerCli {
  readonly command: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a docker command to its end. A failure is an exit code. */
  run(args: readonly string[], timeoutMs?: number): Promise<CapturedProcess>;
}

/** A busy daemon takes seconds; one that hangs must not block a turn forever. */
const defaultTimeoutMs = 60_000;

/**
 * @param command the program, such as `docker` or `podman`
 * @param dockerHost the daemon, as in `DOCKER_HOST`
 */
export const dockerCli = (command: string, dockerHost: string | undefined): DockerCli => {
  const environment = dockerHost === undefined ? process.env : { ...process.env, DOCKER_HOST: dockerHost };
  return {
    command,
    environment,
    run: (args, timeoutMs = defaultTimeoutMs) =>
      captureProcess({ command: [command, ...args], environment, timeoutMs }).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new SandboxError('sandbox-unavailable', 'docker', `Docker does not respond: ${reason}`, { cause: error });
      }),
  };
};
