import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { ToolCall } from '@h/turn';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import {
  anyFunction,
  nonEmptyString,
  checkOptions,
  anyOf,
  arrayOf,
  numberFrom,
  objectWithMethods,
  required,
  integerFrom,
} from '@h/options';
import type { AfterToolContext, BeforeToolContext, Hook } from '../hook.js';
import { quoted } from './command-of-call.js';
import { countsOf, findingsOf, newFindings, type CheckFindings, type FindingCounts } from './findings.js';
import { localChecks, type CheckRunner } from '@h/process';
import { stepBatch } from './step-batch.js';

/** Options of {@link checkAfterWrite}. */
export interface CheckAfterWriteOptions {
  /**
   * The linter or type checker: `'npx eslint {file}'` for each file, `'npx tsc --noEmit'` for the whole project. A
   * function returns the command for a file, or `undefined` to skip the file.
   */
  readonly check: string | ((path: string) => string | undefined);
  /**
   * Suffixes of the files to check, such as `.ts`.
   *
   * @defaultValue all files
   */
  readonly files?: readonly string[] | undefined;
  /**
   * The folder of the project; the check runs there.
   *
   * @defaultValue the working directory of the process
   */
  readonly cwd?: string | undefined;
  /**
   * Runs the check.
   *
   * @defaultValue `localChecks()`, on this machine, without the secrets of the environment
   */
  readonly run?: CheckRunner | undefined;
  /**
   * Time limit of a check in milliseconds. A check that exceeds it reports no findings.
   *
   * @defaultValue `30_000`, linters and type checkers take seconds
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The maximum number of new findings in a result.
   *
   * @defaultValue `20`, as in opencode
   */
  readonly maxFindings?: number | undefined;
  /**
   * The maximum number of characters of these findings.
   *
   * @defaultValue `4_000`, about 1,000 tokens
   */
  readonly maxChars?: number | undefined;
  /**
   * How long to wait for other writes of the step, in milliseconds, so that one check covers all of them.
   *
   * @defaultValue `1_000`; without another write in progress, the check runs immediately
   */
  readonly debounceMs?: number | undefined;
  /**
   * Returns the file that a call writes; `undefined` if the call writes none.
   *
   * @defaultValue the path in the input of tools whose names contain a verb such as `write`, `edit`, `create`, `patch`
   * or `replace`
   */
  readonly pathOf?: ((call: ToolCall) => string | undefined) | undefined;
  /**
   * Parses the findings in the output of a check.
   *
   * @defaultValue lines that contain a position in a file; output in another format is one finding
   */
  readonly findingsOf?: ((output: string) => CheckFindings) | undefined;
  /**
   * The clock for `debounceMs`.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
}

const checks = {
  check: required(anyOf(nonEmptyString, anyFunction)),
  files: arrayOf(nonEmptyString),
  cwd: nonEmptyString,
  run: anyFunction,
  timeoutMs: numberFrom(1, Infinity),
  maxFindings: integerFrom(1, Infinity),
  maxChars: integerFrom(1, Infinity),
  debounceMs: numberFrom(0, Infinity),
  pathOf: anyFunction,
  findingsOf: anyFunction,
  scheduler: objectWithMethods('schedule', 'now'),
};

/** The maximum number of characters of output that are parsed for findings. */
const maxOutputChars = 200_000;

/** The maximum number of commands per step. */
const maxCommandsOfStep = 10;

/** The maximum number of commands whose earlier findings are stored. */
const maxRemembered = 500;

/** Extra time for the hook, because the runner itself stops the check at `timeoutMs`. */
const reserveMs = 10_000;

/**
 * Runs a linter or type checker after a write, and reports new findings to the model.
 *
 * Each check also runs once before the first write that it covers, to exclude earlier findings. Without new findings,
 * the result is unchanged. A check that cannot run never stops a turn.
 *
 * @returns a function that creates a new hook for every turn
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * hooks([checkAfterWrite({ check: 'npx eslint {file}', files: ['.ts', '.tsx'], cwd: '/work' })]);
 * ```
 */
export const checkAfterWrite = (options: CheckAfterWriteOptions): (() => Hook) => {
  checkOptions('checkAfterWrite()', options, checks);
  const {
    check,
    files,
    cwd = process.cwd(),
    run = localChecks(),
    timeoutMs = 30_000,
    maxFindings = 20,
    maxChars = 4_000,
    debounceMs = 1_000,
  } = options;
  const { pathOf = writtenPath, findingsOf: findingsIn = findingsOf, scheduler = asyncScheduler } = options;
  const project = resolve(cwd);

  const fileOf = (call: ToolCall): string | undefined => {
    const path = pathOf(call);
    if (path === undefined || (files !== undefined && !files.some((end) => path.endsWith(end)))) return undefined;
    return relative(project, resolve(project, path)) || '.';
  };
  const commandFor = (file: string): string | undefined =>
    typeof check === 'function'
      ? check(file)
      : check.replaceAll('{file}', () => quoted(file.startsWith('-') ? `./${file}` : file));

  const findingsBy = async (
    command: string,
    context: Pick<AfterToolContext, 'notify' | 'signal'>,
  ): Promise<CheckFindings | undefined> => {
    const end = await run({ command, cwd: project, timeoutMs, maxChars: maxOutputChars, signal: context.signal });
    if (end.failure === undefined) return end.exitCode === 0 ? [] : findingsIn(end.output);
    if (end.failure !== 'aborted') {
      context.notify(
        `The check ${command} ${end.failure === 'timed-out' ? `did not end within ${timeoutMs} ms` : `was ${end.failure}`}.`,
      );
    }
    return undefined;
  };

  return () => {
    const known = new Map<string, FindingCounts>();
    const remember = (command: string, findings: CheckFindings): void => {
      if (known.size < maxRemembered || known.has(command)) known.set(command, countsOf(findings));
    };
    const batch = stepBatch(debounceMs, scheduler);

    const beginnings = new Map<string, Promise<undefined>>();
    const begin = (file: string, context: BeforeToolContext): Promise<undefined> | undefined => {
      const command = commandFor(file);
      if (command === undefined || known.has(command)) return undefined;
      const begun =
        beginnings.get(command) ?? checkBefore(command, file, context).finally(() => beginnings.delete(command));
      beginnings.set(command, begun);
      return begun;
    };
    const checkBefore = async (command: string, file: string, context: BeforeToolContext): Promise<undefined> => {
      // A new file has no earlier findings, but a check of the whole project can have some.
      const isNew = !existsSync(resolve(project, file)) && command.includes(quoted(file));
      const findings = isNew ? [] : await findingsBy(command, context);
      if (findings !== undefined) remember(command, findings);
    };
    const look = async (written: readonly string[], context: AfterToolContext): Promise<CheckFindings> => {
      const commands = new Set(written.flatMap((file) => commandFor(file) ?? []));
      const found: string[] = [];
      for (const command of [...commands].slice(0, maxCommandsOfStep)) {
        const findings = await findingsBy(command, context);
        if (findings === undefined) continue;
        found.push(...newFindings(findings, known.get(command) ?? new Map()));
        remember(command, findings);
      }
      return found;
    };

    return {
      name: 'check-after-write',
      // Other gates run first: a denied call writes nothing, so it needs no earlier check.
      priority: -50,
      timeoutMs: {
        beforeTool: timeoutMs + reserveMs,
        afterTool: (timeoutMs + reserveMs) * maxCommandsOfStep + debounceMs,
      },
      failure: { beforeTool: 'open', afterTool: 'open' },
      beforeTool: (context) => {
        const file = fileOf(context.call);
        if (file === undefined) return undefined;
        batch.expect(context.step, context.call.id);
        return begin(file, context);
      },
      afterTool: async (context) => {
        const file = fileOf(context.call);
        if (file === undefined) return undefined;
        const written = await batch.arrive(
          context.call.id,
          context.outcome.status === 'ok' || context.outcome.status === 'stored' ? file : undefined,
          context.signal,
        );
        if (written.length === 0) return undefined;
        const found = await look(written, context);
        return found.length === 0 ? undefined : { context: reportOf(found, { maxFindings, maxChars }) };
      },
    };
  };
};

const writing = /write|edit|create|patch|replace|insert|save|append/i;
const pathKeys = ['path', 'file_path', 'filePath', 'filename', 'file', 'target_file', 'notebook_path'];

/** Returns the file that a call of a common write tool changes. */
const writtenPath = ({ name, input, effect }: ToolCall): string | undefined => {
  if (effect === 'read-only' || !writing.test(name) || typeof input !== 'object' || input === null) return undefined;
  const values = input as Readonly<Record<string, unknown>>;
  return pathKeys.map((key) => values[key]).find((value) => typeof value === 'string' && value !== '') as
    | string
    | undefined;
};

const reportOf = (
  found: CheckFindings,
  { maxFindings, maxChars }: { readonly maxFindings: number; readonly maxChars: number },
): string => {
  const lines: string[] = [];
  let chars = 0;
  for (const finding of found.slice(0, maxFindings)) {
    const room = maxChars - chars;
    if (room <= 0) break;
    lines.push(finding.slice(0, room).toWellFormed());
    chars += finding.length + 1;
  }
  const rest = found.length - lines.length;
  return ['The check after this change has new findings:', ...lines, ...(rest > 0 ? [`… and ${rest} more.`] : [])].join(
    '\n',
  );
};
