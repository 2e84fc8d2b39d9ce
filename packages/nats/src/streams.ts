import {
  DiscardPolicy,
  jetstream,
  RetentionPolicy,
  StorageType,
  type JetStreamClient,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { compare, parseSemVer } from '@nats-io/nats-core/internal';
import { isStreamMissing, NatsBucketError, retrying } from './errors.js';

/**
 * The first version that keeps what it has confirmed when nodes of a cluster are killed, by
 * https://jepsen.io/analyses/nats-2.12.1 (2025-12-08). With 2.9, sessions disappeared in the tests of this package.
 */
const firstForReplicas = '2.10.23';

const requestTimeoutMs = 3_000;

/** Returns a client of JetStream whose requests end soon if the connection is silent. */
export const clientOf = (connection: NatsConnection): JetStreamClient =>
  jetstream(connection, { timeout: requestTimeoutMs });

/** Returns the configuration of a stream; `undefined` if the server reports that it does not exist. */
export const streamConfig = (
  manager: JetStreamManager,
  name: string,
  retryMs: number,
): Promise<StreamConfig | undefined> =>
  retrying('Reading the stream', retryMs, async () => {
    try {
      return (await manager.streams.info(name)).config;
    } catch (error) {
      if (isStreamMissing(error)) return undefined;
      throw error;
    }
  });

/** Whether a version of the server keeps the messages of streams with replicas when nodes are killed. */
export const isSafeWithReplicas = (version: string): boolean =>
  compare(parseSemVer(version), parseSemVer(firstForReplicas)) >= 0;

/** @throws NatsBucketError if the server can lose messages of a stream with replicas */
export const checkReplicas = ({ info }: Pick<NatsConnection, 'info'>, stream: string, replicas: number): void => {
  if (replicas === 1 || info === undefined || isSafeWithReplicas(info.version)) return;
  throw new NatsBucketError(
    stream,
    `has ${replicas} replicas in nats-server ${info.version}, which loses messages when nodes are killed`,
    `Update the server to ${firstForReplicas} or later, or use one replica.`,
  );
};

/** Opens the bucket. It is created only if the server reports that it does not exist. */
export const openBucket = async (
  connection: NatsConnection,
  manager: JetStreamManager,
  bucket: string,
  replicas: number,
  retryMs: number,
): Promise<KV> => {
  const buckets = new Kvm(clientOf(connection));
  const exists = await checkStream(connection, manager, `KV_${bucket}`, replicas, retryMs);
  // Reads come from the leader: a read from a follower could miss the lease of another process.
  const settings = { history: 1, storage: StorageType.File, allow_direct: false, replicas };
  return retrying('Opening the bucket', retryMs, () =>
    exists ? buckets.open(bucket, { allow_direct: false }) : buckets.create(bucket, settings),
  );
};

/** Opens the stream of the logs beside a bucket. */
export const openLog = async (
  connection: NatsConnection,
  manager: JetStreamManager,
  bucket: string,
  replicas: number,
  retryMs: number,
): Promise<void> => {
  const name = `${bucket}_log`;
  if (await checkStream(connection, manager, name, replicas, retryMs)) return;
  const config = {
    name,
    subjects: [`${bucket}.log.*`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: replicas,
  };
  await retrying('Creating the stream', retryMs, () => manager.streams.add(config));
};

/** Returns whether a stream exists. Rejects one that deletes messages on its own, or that its server can lose. */
const checkStream = async (
  connection: NatsConnection,
  manager: JetStreamManager,
  name: string,
  replicas: number,
  retryMs: number,
): Promise<boolean> => {
  const config = await streamConfig(manager, name, retryMs);
  checkReplicas(connection, name, config?.num_replicas ?? replicas);
  if (config === undefined) return false;
  const isLimited = config.max_bytes > 0 || config.max_msgs > 0;
  if (config.max_age > 0) throw unsafe(name, `deletes messages after ${config.max_age / 1e6} ms`);
  if (config.storage === StorageType.Memory) throw unsafe(name, 'is in memory');
  if (config.discard === DiscardPolicy.Old && isLimited) throw unsafe(name, 'deletes old messages when it is full');
  return true;
};

const unsafe = (stream: string, problem: string): NatsBucketError =>
  new NatsBucketError(
    stream,
    `${problem}, so that sessions of running turns could be deleted`,
    'Use another bucket, or change the stream.',
  );
