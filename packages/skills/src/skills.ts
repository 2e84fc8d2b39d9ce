import {
  intercept,
  notice,
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
    /** Something is wrong with a skill, or with the index of all. */
    'skills.problem': SkillProblem;
  }
}

/** Options of {@link skills}. */
export interface SkillsOptions extends SkillIndexOptions {
  readonly library: SkillLibrary;
  /**
   * How long finding the skills may hold a request, in milliseconds. The turn then goes on without the index.
   *
   * @defaultValue `2000`
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
 * Puts the index of skills at the end of the system prompt: for pipelines without `prompt()`, which takes
 * {@link skillsIndex} into its session tier instead.
 *
 * The index is made once a turn. The cache mark of the last system block moves on to it, so that it is cached with what
 * stands before it. What is wrong with skills is told as `skills.problem`; nothing of it ends a turn. A request that has its
 * index is left as it is.
 *
 * @throws InvalidOptionError `invalid-option`
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
              message: `Finding the skills took longer than ${deadlineMs} ms; there is no index in this turn.`,
            }),
          ]);
        });
        signal.addEventListener('abort', leave, { once: true });
        found().then(finish, (error: unknown) => {
          text ??= '';
          finish([
            notice('skills.problem', {
              code: 'failed',
              message: `Finding the skills failed: ${error instanceof Error ? error.message : String(error)}`,
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

/** The blocks with one more, to which the cache mark of the last one has moved. */
const moved = (system: readonly SystemBlock[], text: string): readonly SystemBlock[] => {
  const last = system.at(-1);
  if (last?.cache === undefined) return [...system, { text }];
  return [...system.slice(0, -1), { text: last.text }, { text, cache: last.cache }];
};
