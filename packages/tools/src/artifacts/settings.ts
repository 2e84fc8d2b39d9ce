// oxlint-disable-next-line h/no-clock -- ids must be unpredictable
import { randomBytes } from 'node:crypto';
import { asyncScheduler } from 'rxjs';
import { anyFunction, checkOptions, numberFrom } from '@h/options';
import type { ArtifactStoreOptions } from './store.js';

const day = 24 * 60 * 60 * 1_000;

/** Options with defaults filled in. */
export interface ArtifactSettings {
  readonly ttlMs: number;
  readonly maxBytes: number;
  readonly maxSessionBytes: number;
  readonly now: () => number;
}

/** Checks the options of a store and fills in defaults. */
export const artifactSettings = (
  factory: string,
  options: ArtifactStoreOptions,
  maxBytesByDefault: number,
  more: object = {},
): ArtifactSettings => {
  checkOptions(`${factory}()`, options, {
    ttlMs: numberFrom(1, Infinity),
    maxBytes: numberFrom(0, Infinity),
    maxSessionBytes: numberFrom(0, Infinity),
    now: anyFunction,
    ...more,
  });
  const { ttlMs = 7 * day, maxBytes = maxBytesByDefault, now = () => asyncScheduler.now() } = options;
  return { ttlMs, maxBytes, maxSessionBytes: options.maxSessionBytes ?? maxBytes / 4, now };
};

/** Creates an id that cannot be guessed. */
export const newArtifactId = (): string => `art_${randomBytes(12).toString('hex')}`;

/** Returns whether a value has the form of an id. Ids written by a model are used in paths only after this check. */
export const isArtifactId = (id: unknown): id is string => typeof id === 'string' && /^art_[0-9a-f]{24}$/.test(id);

const mediaTypePattern = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:; ?[\w-]{1,40}="?[\w.+-]{1,100}"?){0,5}$/;

/** Returns the media type of an artifact. One that a server made up of other text is not stored: messages quote it. */
export const mediaTypeOf = ({
  content,
  mediaType,
}: {
  readonly content: string | Uint8Array;
  readonly mediaType?: string | undefined;
}): string => {
  if (mediaType !== undefined && mediaTypePattern.test(mediaType)) return mediaType;
  return typeof content === 'string' ? 'text/plain' : 'application/octet-stream';
};
