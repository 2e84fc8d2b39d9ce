/**
 * The work that every loop is given: a step streams 20 deltas and calls one tool, whose result has 400 characters. The model
 * and the tool answer at once, so what is measured is the loop. No two steps are alike: loop detection would end the turn.
 */

/** Deltas of a step. */
export const deltasPerStep = 20;
/** What the model reports for each call. */
export const usage = { input: 1000, output: 60 };
/** The only tool. */
export const tool = {
  name: 'read',
  description: 'Reads a file.',
  schema: {
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
};

/** Numbers from 0 to below `limit`, the same in every process. */
const randomNumbers = (seed) => {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
};

const random = randomNumbers(1);
const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'le', 'mi', 'no', 'pu', 'ra', 'se', 'ti', 'vo', 'wu', 'za'];
const word = () => Array.from({ length: 2 + random(3) }, () => syllables[random(syllables.length)]).join('');
const words = Array.from({ length: 4099 }, () => `${word()} `);
const sentence = () => Array.from({ length: 12 }, () => words[random(words.length)]).join('');
const results = Array.from({ length: 1024 }, () =>
  Array.from({ length: 12 }, sentence).join('\n').slice(0, 400).padEnd(400, '.'),
);

/** The delta at this place of this step. */
export const deltaAt = (step, index) => words[(step * deltasPerStep + index) % words.length];
/** The input of the call of a step. */
export const inputOf = (step) => ({ path: `src/file-${step}.ts` });
/** The id of the call of a step. */
export const callIdOf = (step) => `call-${step}`;
/** The result of the call of a step. */
export const resultOf = (step) => `${step}`.padStart(5, '0') + (results[step % results.length] ?? '').slice(5);
/** The step that an input belongs to. */
export const stepOf = ({ path }) => Number(path.slice('src/file-'.length, -'.ts'.length));
