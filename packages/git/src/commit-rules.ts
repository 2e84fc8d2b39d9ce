import ignore from 'ignore';
import { sensitivePaths } from '@h/paths';

/** A file that is not committed, and the reason. */
export interface LeftOut {
  readonly path: string;
  readonly reason: string;
}

/** What must not be committed. */
export interface CommitRules {
  /** Patterns of paths to exclude, as in `.gitignore`, besides secrets and artifacts. */
  readonly exclude?: readonly string[] | undefined;
  /** The largest file that is committed, in bytes. */
  readonly maxFileBytes: number;
  /** A redactor, such as that of `@h/security`: a file whose text it changes is excluded. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Files that contain keys by convention, and files that agents leave behind. */
const secretsAndArtifacts: readonly string[] = [
  ...sensitivePaths,
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.kdbx',
  '*.ppk',
  '*.asc',
  '*.tfstate',
  '*.tfstate.*',
  '.htpasswd',
  '.pgpass',
  '.pypirc',
  '.docker/config.json',
  '.kube/config',
  'kubeconfig',
  'credentials.json',
  'service-account*.json',
  '.agent-output',
  'node_modules',
  '.DS_Store',
  '*.tmp',
  '*.swp',
  'core.[0-9]*',
];

/**
 * Unmistakable forms of keys. This is the last safety net below an injected redactor, not a substitute for one.
 */
const keyMarks = new RegExp(
  [
    '-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY-----',
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bgh[pousr]_[A-Za-z0-9]{36}`,
    String.raw`\bgithub_pat_[A-Za-z0-9_]{40}`,
    String.raw`\bsk-(?:ant-api03|proj)-[A-Za-z0-9_-]{32}`,
    String.raw`\bxox[abprs]-[A-Za-z0-9-]{20}`,
    String.raw`\bAIza[A-Za-z0-9_-]{35}`,
    String.raw`\bglpat-[A-Za-z0-9_-]{20}`,
    String.raw`\bnpm_[A-Za-z0-9]{36}\b`,
  ].join('|'),
);

/** Returns why a path is not committed, by its name; `undefined` permits it. */
export type PathCheck = (path: string) => string | undefined;

/** Compiles the rules for names of paths. */
export const pathCheck = ({ exclude = [] }: Pick<CommitRules, 'exclude'>): PathCheck => {
  const names = ignore({ ignorecase: true }).add(secretsAndArtifacts);
  const own = ignore({ ignorecase: true }).add(exclude);
  return (path) => {
    if (path.endsWith('/')) return 'it is a separate repository';
    if (path.includes('\u{fffd}')) return 'its name is not UTF-8';
    if (names.ignores(path)) return 'files of this name contain secrets or are temporary';
    return own.ignores(path) ? 'it is excluded' : undefined;
  };
};

/** The reason for a file that is not committed because of its size. */
export const tooLarge = (maxFileBytes: number): string => `it is larger than ${maxFileBytes} bytes`;

/** Returns why a file is not committed, by its content. */
export const contentProblem = (content: Buffer, redact: CommitRules['redact']): string | undefined => {
  const text = content.toString('utf8');
  if (keyMarks.test(text)) return 'it contains what looks like a key';
  if (redact === undefined || content.includes(0)) return undefined;
  return redact(text) === text ? undefined : 'it contains what looks like a secret';
};
