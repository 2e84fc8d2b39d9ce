import { canonicalJson, hashJson } from '@h/json';

/** The text that a pattern matches: the command of a shell call, the path of a file call, or the input as JSON. */
export interface CallSubject {
  readonly kind: 'command' | 'path' | 'other';
  readonly text: string;
}

const pathKeys = ['file_path', 'path', 'notebook_path'] as const;

/** Returns the text that a pattern for this call matches; `undefined` if JSON cannot represent the input. */
export const subjectOf = (input: unknown): CallSubject | undefined => {
  const members = (typeof input === 'object' && input !== null ? input : {}) as Readonly<Record<string, unknown>>;
  if (typeof members['command'] === 'string') return { kind: 'command', text: members['command'] };
  for (const key of pathKeys) {
    const value = members[key];
    if (typeof value === 'string') return { kind: 'path', text: value };
  }
  const text = canonicalJson(input ?? null);
  return text === undefined ? undefined : { kind: 'other', text };
};

/**
 * Hashes a call: SHA-256 of the tool's name and its input in canonical JSON, in hexadecimal.
 *
 * @returns `undefined` for an input that JSON cannot represent without loss
 *
 * @example
 * ```ts
 * hashCall({ name: 'bash', input: { command: 'git push' } });
 * ```
 */
export const hashCall = (call: { readonly name: string; readonly input: unknown }): string | undefined =>
  hashJson([call.name, call.input ?? null]);
