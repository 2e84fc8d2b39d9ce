/** The course of one of the numbers of an outcome: how it has moved since the first outcome of the same shape. */
export interface Course {
  /** `undefined` before it moved, `0` once it turned around. */
  readonly direction: 1 | -1 | 0 | undefined;
  /** By how much it moved last. */
  readonly step: number;
}

/** Whether two steps are equal, apart from what is lost in the calculation. */
export const isEqualStep = (one: number, other: number): boolean => Math.abs(one - other) < 1e-9;

/** Returns the courses of the numbers after another outcome; `undefined` if their number differs. */
export const coursesOf = (
  before: readonly number[] | undefined,
  numbers: readonly number[] | undefined,
  courses: readonly Course[] | undefined,
): readonly Course[] | undefined => {
  if (before === undefined || before.length !== numbers?.length) return undefined;
  return numbers.map((number, index) => {
    const step = number - (before[index] ?? 0);
    const direction = courses?.[index]?.direction;
    const next = step > 0 ? 1 : step < 0 ? -1 : direction;
    return { direction: direction === undefined || direction === next ? next : 0, step };
  });
};

/**
 * Whether a number has moved in one direction all the time, as the loss of a training does beside its speed, which goes up
 * and down. A number that moves by equal steps may count the calls.
 */
export const hasCourse = (courses: readonly Course[] | undefined, before: readonly Course[] | undefined): boolean =>
  courses !== undefined &&
  before !== undefined &&
  courses.some(({ direction, step }, index) => {
    const last = before[index]?.step;
    return Math.abs(direction ?? 0) === 1 && step !== 0 && last !== undefined && !isEqualStep(step, last);
  });
