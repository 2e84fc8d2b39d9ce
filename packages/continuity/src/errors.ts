import { TurnError } from '@h/turn';

/**
 * What can be wrong with a project's state.
 *
 * | code | meaning |
 * |---|---|
 * | `invalid-option` | an option is unknown, missing or has a value that it does not take |
 * | `progress-missing` | there is no progress file yet: the initializer has not run |
 * | `progress-corrupt` | the progress file cannot be read as one; it was backed up and is not overwritten |
 * | `progress-newer` | the progress file was written by a later version of this package |
 * | `progress-conflict` | the progress file is no longer at the expected version |
 * | `progress-invalid` | the change would leave a progress file that is not in order |
 * | `already-initialized` | the tasks are planned and work has begun |
 * | `unknown-task` | no task has this id |
 * | `not-claimed` | the task is not claimed by the one who changes it |
 * | `claim-lost` | the lease ran out and somebody else works on the task |
 * | `not-ready` | the task waits for others, or is done or blocked |
 * | `evidence-missing` | a task cannot be done without evidence of a check that passed |
 * | `check-failed` | the end-to-end check did not pass |
 * | `locked` | another process has held the lock for too long |
 * | `unsafe-path` | a file of the state is a link, or lies outside of the project |
 * | `unknown-rule` | no proposed rule has this id |
 * | `too-many-rules` | so many proposals wait for a review that no more are taken |
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

/** Something is wrong with a project's state; `code` says what, the message what to do. */
export class ContinuityError extends TurnError {
  declare readonly code: ContinuityErrorCode;
}
