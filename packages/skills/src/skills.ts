import {
  intercept,
  notice,
  toErrorInfo,
  type Handlers,
  type MaybePromise,
  type NewEvent,
  type OperatorContext,
  type SystemBlock,
  type TurnEventOf,
  type TurnOperator,
} from '@h/turn';
import { checkOptions, numberFrom, objectWithMethods, required, type OptionChecks } from '@h/options';
import { indexChecks, renderSkillIndex, type SkillIndexOptions } from './index-text.js';
import type { SkillLibrary } from './library.js';
import type { SkillProblem } from './problem.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A problem with a skill or with the index. */
    'skills.problem': SkillProblem;
  }
}

/** Options of {@link skills}. */
export interface SkillsOptions extends SkillIndexOptions {
  /** The skills to offer, from `skillLibrary()`. */
  readonly library: SkillLibrary;
  /**
   * Time limit for finding skills, in milliseconds. After it the turn continues without the index.
   *
   * @defaultValue `2000`, so that a slow disk delays a turn by two seconds at most
   */
  readonly deadlineMs?: number | undefined;
}

const annotationName = 'skills';

const checks: OptionChecks<SkillsOptions> = {
  ...indexChecks,
  library: required({ ...objectWithMethods('list'), expected: 'a library made by skillLibrary()' }),
  deadlineMs: numberFrom(0),
};

/**
 * Appends the skill index to the system prompt. For pipelines without `prompt()`; with it, add {@link skillsIndex} to
 * its session tier instead.
 *
 * The index is rendered once per turn. The cache mark of the last system block moves to the index, so that both are
 * cached. Problems with skills are emitted as `skills.problem` and never end a turn. A request with an index passes
 * unchanged.
 *
 * @throws InvalidOptionError if an option is unknown or has a wrong value
 *
 * @example
 * ```ts
 * harness({ model, tools: toolDriver([defineTool(skillTool(library))]) }).pipe(skills({ library }));
 * ```
 */
export const skills = (options: SkillsOptions): TurnOperator => {
  checkOptions('skills()', options, checks);
  const { library, deadlineMs = 2000, ...index } = options;
  const setup = (operator: OperatorContext): Handlers => {
    let text: string | undefined;

    const withIndex = (request: TurnEventOf<'model.request'>): NewEvent => {
      if (text === undefined || text === '') return request;
      const { system, annotations, ...rest } = request;
      return {
        system: moved(system, text),
        annotations: { ...annotations, [annotationName]: { chars: text.length } },
        ...rest,
      };
    };

    const found = async (): Promise<readonly NewEvent[]> => {
      const { skills: all, problems } = await library.list();
      text ??= renderSkillIndex(all, index);
      return problems.map((problem) => notice('skills.problem', problem));
    };

    const load = async (signal: AbortSignal): Promise<readonly NewEvent[]> =>
      new Promise((resolve) => {
        const finish = (events: readonly NewEvent[]): void => {
          cancel();
          signal.removeEventListener('abort', leave);
          resolve(events);
        };
        const leave = (): void => finish([]);
        const cancel = operator.after(deadlineMs, () => {
          text = '';
          finish([
            notice('skills.problem', {
              code: 'timed-out',
              message: `Finding skills took longer than ${deadlineMs} ms. This turn has no skill index.`,
            }),
          ]);
        });
        signal.addEventListener('abort', leave, { once: true });
        found().then(finish, (error: unknown) => {
          text ??= '';
          finish([
            notice('skills.problem', {
              code: 'failed',
              message: `Finding skills failed: ${toErrorInfo(error).message}`,
            }),
          ]);
        });
      });

    return {
      decide: {
        'model.request': (request, context): MaybePromise<NewEvent | readonly NewEvent[]> | undefined => {
          if (request.annotations?.[annotationName] !== undefined) return undefined;
          if (text !== undefined) return withIndex(request);
          return load(context.signal).then((notices) => [...notices, withIndex(request)]);
        },
      },
    };
  };
  return intercept('skills', setup, { after: ['failover', 'prompt'], before: ['compaction'] });
};

/** Appends a block and moves the cache mark of the last block to it. */
const moved = (system: readonly SystemBlock[], text: string): readonly SystemBlock[] => {
  const last = system.at(-1);
  if (last?.cache === undefined) return [...system, { text }];
  return [...system.slice(0, -1), { text: last.text }, { text, cache: last.cache }];
};
