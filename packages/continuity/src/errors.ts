import { TurnError } from '@h/turn';

/**
 * The codes of {@link ContinuityError}.
 *
 * | code | meaning |
 * |---|---|
 * | `invalid-option` | an option is unknown, missing or has an invalid value |
 * | `progress-missing` | the progress file does not exist: no initializer has run |
 * | `progress-corrupt` | the progress file is not valid; it was backed up and is not overwritten |
 * | `progress-newer` | the progress file was written by a later version of this package |
 * | `progress-conflict` | the progress file is no longer at the expected version |
 * | `progress-invalid` | the change would make the progress file invalid |
 * | `already-initialized` | the tasks are planned and work has begun |
 * | `unknown-task` | no task has this id |
 * | `not-claimed` | the session that changes the task has not claimed it |
 * | `claim-lost` | the lease expired and another session works on the task |
 * | `not-ready` | the task depends on unfinished tasks, or is done or blocked |
 * | `evidence-missing` | a task needs evidence of a passed check to be done |
 * | `check-failed` | the end-to-end check did not pass |
 * | `locked` | another process held the lock beyond the time limit |
 * | `unsafe-path` | a file of the state is a link, or lies outside of the project |
 * | `unknown-rule` | no proposed rule has this id |
 * | `too-many-rules` | the limit of unreviewed proposals is reached |
 */
export type ContinuityErrorCode =
  | 'invalid-option'
  | 'progress-missing'
  | 'progress-corrupt'
  | 'progress-newer'
  | 'progress-conflict'
  | 'progress-invalid'
  | 'already-initialized'
  | 'unknown-task'
  | 'not-claimed'
  | 'claim-lost'
  | 'not-ready'
  | 'evidence-missing'
  | 'check-failed'
  | 'locked'
  | 'unsafe-path'
  | 'unknown-rule'
  | 'too-many-rules';

/** An error about a project's state: `code` names it, the message contains what to do. */
export class ContinuityError extends TurnError {
  declare readonly code: ContinuityErrorCode;
}
