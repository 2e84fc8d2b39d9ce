import { setTimeout as sleep } from 'node:timers/promises';
import { natsSessions, type NatsSessions } from '@h/nats';
import { natsObjects } from '@h/nats/objects';
import { CodedError } from '@h/options';
import { objectArtifacts } from '@h/tools/objects';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import pTimeout from 'p-timeout';
import type { Stores } from './backend.js';

/** Where sessions and artifacts are stored in NATS. */
export interface NatsSettings {
  readonly servers: readonly string[];
  readonly token: string | undefined;
  readonly sessionBucket: string;
  readonly artifactBucket: string;
  readonly maxFileBytes: number;
  /** Time after the last use in which sessions and artifacts are removed, in milliseconds. */
  readonly ttlMs: number;
}

/** The NATS stores cannot be used. */
class NatsStoresError extends CodedError {}

/** How long the sessions of a killed process stay claimed, in milliseconds. */
const leaseMs = 10_000;
/** Interval of the search for sessions that are still claimed, in milliseconds. */
const searchEveryMs = 250;
/** How long a request of a health check may take, in milliseconds. */
const checkMs = 2_000;

/**
 * Opens stores in NATS for one station. After `kill -9`, this waits until the leases of the killed process have ended,
 * so that all of its turns are resumed.
 *
 * @throws NatsStoresError if no server answers, or another process uses the bucket
 */
export const openNatsStores = async (settings: NatsSettings, onProblem: (error: unknown) => void): Promise<Stores> => {
  const connection = await open(settings);
  try {
    const { sessionBucket: bucket, ttlMs, artifactBucket, maxFileBytes: maxObjectBytes } = settings;
    const sessions = await natsSessions(connection, { bucket, ttlMs, leaseMs, onProblem });
    const artifacts = objectArtifacts(await natsObjects(connection, { bucket: artifactBucket, maxObjectBytes }), {
      ttlMs,
    });
    await leasesEnded(sessions, bucket);
    return {
      sessions,
      artifacts,
      retention: {
        ms: ttlMs,
        sweep: async () => {
          await sessions.sweep();
          await artifacts.sweep();
        },
      },
      check: async () => {
        await pTimeout(connection.rtt(), {
          milliseconds: checkMs,
          message: new NatsStoresError('nats-unavailable', `NATS has not answered for ${checkMs} ms.`),
        });
      },
      close: async () => {
        await sessions.close();
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
};

const open = async ({ servers, token }: NatsSettings): Promise<NatsConnection> => {
  try {
    return await connect({ servers: [...servers], maxReconnectAttempts: -1, ...(token !== undefined && { token }) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NatsStoresError(
      'nats-unavailable',
      `No NATS server can be used at ${servers.join(', ')}: ${reason}. Start one, or set harness.nats.enabled to false.`,
      { cause: error },
    );
  }
};

/** @throws NatsStoresError if a session is claimed for longer than a killed process could claim it */
const leasesEnded = async (sessions: NatsSessions, bucket: string): Promise<void> => {
  for (let waitedMs = 0; (await sessions.list()).some(({ state }) => state === 'running'); waitedMs += searchEveryMs) {
    if (waitedMs > 2 * leaseMs) {
      throw new NatsStoresError(
        'nats-bucket-in-use',
        `Another process runs turns of the bucket ${JSON.stringify(bucket)}. Set another harness.nats.kv_bucket for this station.`,
      );
    }
    await sleep(searchEveryMs);
  }
};
