import { runProgram, type ProgramResult } from '../process/run-program.js';
import { SandboxError } from './sandbox-error.js';

/** The docker command line, set to one daemon. */
export interface DockerCli {
  readonly command: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Runs a command of the command line to its end. A failure is an exit code. */
  run(args: readonly string[], timeoutMs?: number): Promise<ProgramResult>;
}

/** A daemon under load takes seconds; one that does not answer must not hold up a turn for ever. */
const defaultTimeoutMs = 60_000;

/**
 * @param command The program, such as `docker` or `podman`.
 * @param dockerHost The daemon, as in `DOCKER_HOST`.
 */
export const dockerCli = (command: string, dockerHost: string | undefined): DockerCli => {
  const environment = dockerHost === undefined ? process.env : { ...process.env, DOCKER_HOST: dockerHost };
  return {
    command,
    environment,
    run: (args, timeoutMs = defaultTimeoutMs) =>
      runProgram({ argv: [command, ...args], environment, timeoutMs }).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new SandboxError('sandbox-unavailable', 'docker', `Docker does not answer: ${reason}`, { cause: error });
      }),
  };
};
