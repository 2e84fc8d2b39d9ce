import { describe, expect, it } from 'vitest';
import { coursesOf, hasCourse, type Course } from './courses.js';

/** Returns after which outcomes a number was on a course. */
const onCourse = (outcomes: readonly (readonly number[])[]): readonly boolean[] => {
  let before: readonly Course[] | undefined;
  return outcomes.slice(1).map((numbers, index) => {
    const courses = coursesOf(outcomes[index], numbers, before);
    const found = hasCourse(courses, before);
    before = courses;
    return found;
  });
};

describe('hasCourse', () => {
  it('accepts a number that moves in one direction by different steps, from the third outcome on', () => {
    expect(
      onCourse([
        [9, 5],
        [7, 8],
        [4, 2],
        [3, 6],
        [1, 4],
      ]),
    ).toEqual([false, true, true, true]);
  });

  it.each([
    [
      'moves by equal steps, as a count of the calls does',
      [
        [1, 5],
        [2, 8],
        [3, 2],
        [4, 6],
      ],
    ],
    [
      'turned around',
      [
        [4, 5],
        [2, 5],
        [9, 5],
        [11, 5],
      ],
    ],
    [
      'has stopped',
      [
        [9, 5],
        [7, 5],
        [4, 5],
        [4, 5],
      ],
    ],
    [
      'does not move',
      [
        [3, 5],
        [3, 5],
        [3, 5],
      ],
    ],
  ])('refuses a number that %s', (_, outcomes) => {
    expect(onCourse(outcomes).at(-1)).toBe(false);
  });

  it('begins again when the number of numbers changes', () => {
    expect(onCourse([[9, 5], [7, 8], [4, 2], [4], [3], [1]])).toEqual([false, true, false, false, true]);
  });
});
