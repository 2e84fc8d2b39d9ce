import { printable } from './printable.js';

/**
 * Why a path was refused.
 *
 * | code | meaning |
 * |---|---|
 * | `invalid-path` | empty, not a string, a lone surrogate, or a name that Windows gives a meaning of its own |
 * | `nul` | it holds a NUL character |
 * | `home` | it begins with `~`, which no system call expands |
 * | `outside` | it leads out of the workspace by its text: `..`, or an absolute path elsewhere |
 * | `link-outside` | a link on its way leads out of the workspace |
 * | `dangling-link` | a link on its way points to nothing, so what would be created is not known |
 * | `link-loop` | its links go in circles |
 * | `not-a-folder` | a file stands where a folder is needed |
 * | `unreachable` | the system does not let us look (permissions, a name that is too long) |
 * | `read-only` | it is in a root that may only be read, or writing is off |
 * | `not-permitted` | a path pattern of the permissions refuses it |
 * | `approval-required` | it lies outside, and whether it may be used has to be asked: call `authorize` |
 * | `not-approved` | it lies outside, and the answer was no |
 * | `changed` | another file or link was put in its place between the check and the use |
 * | `no-root` | the root is missing or no folder |
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
  | 'unreachable'
  | 'read-only'
  | 'not-permitted'
  | 'approval-required'
  | 'not-approved'
  | 'changed'
  | 'no-root';

/** A path that may not be used. `code` says why; neither `path` nor `message` holds control characters of the path. */
export class PathError extends Error {
  readonly code: PathErrorCode;
  /** The path as it was given, made printable and cut to 300 characters. */
  readonly path: string;

  constructor(code: PathErrorCode, path: string, reason: string, options?: ErrorOptions) {
    const shown = printable(path);
    super(`"${shown}" ${reason}`, options);
    this.name = 'PathError';
    this.code = code;
    this.path = shown;
  }
}
