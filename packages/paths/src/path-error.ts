import { CodedError } from '@h/options';
import { printable } from './printable.js';

/**
 * Why a path was refused.
 *
 * | code | meaning |
 * |---|---|
 * | `invalid-path` | it is empty, not a string, has a lone surrogate, or has a special meaning on Windows |
 * | `nul` | it contains a NUL character |
 * | `home` | it starts with `~`, which no system call expands |
 * | `outside` | its text leads out of the workspace: `..`, or an absolute path elsewhere |
 * | `link-outside` | a link in it leads out of the workspace |
 * | `dangling-link` | a link in it points to nothing, so the file that would be created is unknown |
 * | `link-loop` | its links form a loop |
 * | `not-a-folder` | a file is where a folder is required |
 * | `not-a-file` | a folder, device, pipe or socket is where a regular file is required |
 * | `unreachable` | the system refuses access: permissions, a name that is too long |
 * | `read-only` | it is in a read-only root, or writing is disabled |
 * | `not-permitted` | a pattern of the permissions refuses it |
 * | `approval-required` | it is outside, and its use must be approved: call `authorize` |
 * | `not-approved` | it is outside, and its use was not approved |
 * | `changed` | another file or link took its place between the check and the use |
 * | `no-root` | the root does not exist or is not a folder |
 */
export type PathErrorCode =
  | 'invalid-path'
  | 'nul'
  | 'home'
  | 'outside'
  | 'link-outside'
  | 'dangling-link'
  | 'link-loop'
  | 'not-a-folder'
  | 'not-a-file'
  | 'unreachable'
  | 'read-only'
  | 'not-permitted'
  | 'approval-required'
  | 'not-approved'
  | 'changed'
  | 'no-root';

/** A path was refused. `code` is the reason; neither `path` nor `message` contains control characters of the path. */
export class PathError extends CodedError {
  declare readonly code: PathErrorCode;
  /** The path as it was given, made printable and truncated to 300 characters. */
  readonly path: string;

  constructor(code: PathErrorCode, path: string, reason: string, options?: ErrorOptions) {
    const shown = printable(path);
    super(code, `"${shown}" ${reason}`, options);
    this.path = shown;
  }
}
