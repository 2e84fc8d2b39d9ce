/** The sentences and the regression that `train-letters.mjs` and `collect-letters.mjs` share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { descend, load, quantizedOf, root } from './model.mjs';
import { sampler } from './sample.mjs';

const { letterFeatures, letterBits, WordingScorer, fold, sentencesOf, scoredLanguages } = await load(
  `export { letterFeatures, letterBits } from './wording/letters.js';
  export { WordingScorer } from './wording/wording.js';
  export { fold } from './text/fold.js';
  export { sentencesOf } from './text/sentences.js';
  export { scoredLanguages } from './wording/worded-passages.js';`,
);

const size = 1 << letterBits;
const samples = 40_000;
/** Number of times that a written sentence counts. The frames are more alike. */
const [requestWeight, ordinaryWeight] = [4, 5];
const maxSaid = 600;
/** Shortest sentence of a file, in characters. */
const minSaid = 12;

/** The features of sentences as one passage, and the score of their words, which the score of the letters is added to. */
const passageOf = (said) => {
  const scorer = new WordingScorer();
  const features = new Set();
  for (const one of said) letterFeatures(one, (feature) => features.add(feature));
  const score = Math.max(...said.map((one) => scorer.scoreOf(scorer.wordingOf(one))));
  return { features: Int32Array.from(features), score: Math.max(-6, Math.min(2, score)) + 5 };
};

/** Returns the sentences of a text in the languages that are scored. */
const saidIn = (text) => {
  const folded = fold(text);
  return sentencesOf(text, folded)
    .filter(({ second }) => (second & scoredLanguages) !== 0)
    .map(({ start, end }) => folded.text.slice(start, Math.min(end, start + maxSaid)));
};

/** Returns the sentences of a file. */
export const sentencesIn = (text) =>
  saidIn(text)
    .filter((one) => one.trim().length >= minSaid)
    .map((one) => passageOf([one]));

const read = (name) => readFileSync(join(root, 'training', name), 'utf8');
const linesOf = (name) => read(name).split('\n').slice(1).filter(Boolean);
const framed = (name, seed) => [...new Set(sampler(read(name), seed).texts(samples))];
const passagesOf = (texts) =>
  texts
    .map(saidIn)
    .filter((said) => said.length > 0)
    .map(passageOf);

/** Returns the requests and the ordinary sentences of this folder. */
export const written = () => {
  const repeated = (list, times) => Array.from({ length: times }, () => list).flat();
  const requests = passagesOf(linesOf('foreign-requests.txt').map((one) => one.replaceAll('\\n', '\n')));
  const ordinary = linesOf('foreign-ordinary.txt').flatMap((one) => sentencesIn(one.replaceAll('\\n', '\n')));
  return {
    requests: [
      ...repeated(requests, requestWeight),
      ...passagesOf(framed('requests.txt', 5)),
      ...passagesOf(linesOf('examples.txt')),
    ],
    ordinary: [...repeated(ordinary, ordinaryWeight), ...framed('ordinary.txt', 3).flatMap(sentencesIn)],
  };
};

/** Fits rounded weights to requests and other sentences. */
export const fit = ({ requests, ordinary }, clean) => {
  const labeled = (list, label) => list.map(({ features, score }) => [features, label, score]);
  const { mean, bias } = descend([...labeled(requests, 1), ...labeled([...ordinary, ...clean], 0)], size, -4);
  return quantizedOf(mean, bias);
};

/* `clean.mjs` stores lists of numbers: the score is one above the features. */
const step = 0.1;
export const numbersOf = ({ features, score }) => [...features, size + Math.round((score + 1) / step)];
export const passageOfNumbers = (numbers) => ({
  features: Int32Array.from(numbers).filter((one) => one < size),
  score: (numbers.find((one) => one >= size) - size) * step - 1,
});
