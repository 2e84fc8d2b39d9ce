import { TurnError } from '@h/turn';

/** The version of the files; that of a record is `JournalRecord.v`. */
export const formatVersion = 1;

/** Files of a later release are left alone: what cannot be understood is not broken. */
export const newerVersion = (version: number): TurnError =>
  new TurnError(
    'unsupported-version',
    `The session was written in version ${version} of the format, and this release knows version ${formatVersion}; use a later one.`,
  );
