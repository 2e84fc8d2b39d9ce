/** The features, the passages and the regression that `train.mjs` and `collect.mjs` share. */
import { build } from 'esbuild';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampler } from './sample.mjs';

const samples = 40_000;
/** Number of times that an example counts, since a frame has many samples. */
const exampleWeight = 20;
const rounds = 10;
const rate = 0.3;
const decay = 1e-5;
const damping = 60;
/** Maximum number of characters of a sentence. */
const maxSaid = 600;
/** Largest absolute value of a rounded weight. Few levels compress well, and cost less accuracy than fewer weights. */
export const levels = 3;
/** Share of the weights that are cut off at the largest value. */
const clipped = 0.005;

export const root = fileURLToPath(new URL('..', import.meta.url));

export const load = async (entry) => {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: join(root, 'src/scan'), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['@h/source'],
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
};
const { featuresOf, featureBits, passagesOf, fold, hiddenRegions, sentencesOf, wordedPassages } = await load(
  `export { featuresOf, featureBits } from './wording/wording.js';
  export { wordedPassages } from './wording/worded-passages.js';
  export { passagesOf } from './wording/passages.js';
  export { fold } from './text/fold.js';
  export { hiddenRegions } from './hiding/hiding.js';
  export { sentencesOf } from './text/sentences.js';`,
);
const size = 1 << featureBits;

/** Returns the features of each sentence of a text. */
const sentencesIn = (text) => {
  const folded = fold(text);
  const sentences = sentencesOf(text, folded);
  const said = sentences.map(({ start, end }) => {
    const found = new Set();
    featuresOf(folded.text.slice(start, Math.min(end, start + maxSaid)), (one) => found.add(one));
    return [...found];
  });
  return { said, sentences };
};

/** Returns the highest score of a text with the committed weights, less the additions for the rest of the text. */
export const scoreOf = (text) => {
  const folded = fold(text);
  const passages = wordedPassages(folded, sentencesOf(text, folded));
  return passages.reduce((most, { score, margin }) => Math.max(most, score - margin), -99);
};

const together = (said) => Int32Array.from(new Set(said.flat()));

/** Returns the features of a text as one passage, each once. */
export const features = (text) => together(sentencesIn(text).said);

const ownPassagesIn = (text) => {
  const { said, sentences } = sentencesIn(text);
  return passagesOf(sentences).flatMap(({ first, last }) => {
    const own = said.slice(first, last + 1);
    return last === first ? [together(own)] : [together(own), ...own.map((one) => Int32Array.from(one))];
  });
};

/** Returns the features of the passages of a text, of their sentences, and of the contents of comments and attributes. */
export const passagesIn = (text) => [
  ...ownPassagesIn(text),
  ...hiddenRegions(text).flatMap(({ said }) =>
    said === undefined ? [] : ownPassagesIn(text.slice(said.start, said.end)),
  ),
];

/** Returns the distinct texts of the Markdown files and READMEs in folders, and of the files that `.txt` lists name. */
export const textsIn = (places) => {
  const paths = places.flatMap((place) =>
    place.endsWith('.txt')
      ? readFileSync(place, 'utf8').split('\n').filter(Boolean)
      : readdirSync(place, { withFileTypes: true, recursive: true })
          .filter((one) => one.isFile() && /\.mdc?x?$|^README/i.test(one.name))
          .map((one) => join(one.parentPath, one.name)),
  );
  return [...new Set(paths.map((path) => readFileSync(path, 'utf8')))].filter((text) => text.length < 300_000);
};

const read = (name) => readFileSync(join(root, 'training', name), 'utf8');

/** Returns the features of the requests and of the ordinary passages that the frames produce. */
export const written = () => {
  const [, ...examples] = read('examples.txt').split('\n').filter(Boolean);
  const repeated = Array.from({ length: exampleWeight }, () => examples).flat();
  const texts = [...new Set(sampler(read('requests.txt'), 5).texts(samples)), ...repeated];
  const ordinary = [...sampler(read('ordinary.txt'), 3).texts(samples)];
  const requests = texts.map(features).filter(({ length }) => length > 0);
  // Requests next to ordinary text, as in a message or a page.
  for (const [index, one] of texts.entries()) {
    if (index % 4 !== 0) continue;
    const other = ordinary[(Math.imul(index + 1, 40_503) >>> 0) % ordinary.length] ?? '';
    requests.push(features(index % 8 === 0 ? `${other} ${one}` : `${one} ${other}`));
  }
  return { requests, ordinary: ordinary.flatMap(passagesIn) };
};

/** Fits rounded weights by logistic regression. */
export const fit = ({ requests, ordinary }, clean) => {
  const all = [...requests.map((one) => [one, 1]), ...[...ordinary, ...clean].map((one) => [one, 0])];
  const { mean, bias } = descend(all, size, -3);
  return quantizedOf(mean, bias);
};

/**
 * AdaGrad; the weights are averaged over the second half of the rounds.
 *
 * @param all - features, labels, and what is added to the score of the features
 */
export const descend = (all, size, firstBias) => {
  const weights = new Float64Array(size);
  const squares = new Float64Array(size).fill(1e-8);
  const sums = new Float64Array(size);
  let [bias, biases, averaged, state] = [firstBias, 0, 0, 7];
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let round = 0; round < rounds; round += 1) {
    for (let index = all.length - 1; index > 0; index -= 1) {
      const other = Math.floor(random() * (index + 1));
      [all[index], all[other]] = [all[other], all[index]];
    }
    for (const [one, label, offset = 0] of all) {
      const norm = 1 / Math.sqrt(one.length + damping);
      let score = bias + offset;
      for (const feature of one) score += weights[feature] * norm;
      const error = 1 / (1 + Math.exp(-score)) - label;
      if (Math.abs(error) < 1e-3) continue;
      bias -= 0.01 * error;
      for (const feature of one) {
        const step = error * norm + decay * weights[feature];
        squares[feature] += step * step;
        weights[feature] -= (rate * step) / Math.sqrt(squares[feature]);
      }
    }
    if (round < rounds / 2) continue;
    for (let feature = 0; feature < size; feature += 1) sums[feature] += weights[feature];
    biases += bias;
    averaged += 1;
  }
  return { mean: sums.map((one) => one / averaged), bias: biases / averaged };
};

/** Rounds the weights to few levels. The largest ones are cut off. */
export const quantizedOf = (weights, bias) => {
  const sizes = Array.from(weights, Math.abs).toSorted((one, other) => other - one);
  const scale = sizes[Math.floor(weights.length * clipped)] / levels;
  return {
    bias,
    scale,
    quantized: Int8Array.from(weights, (one) => Math.max(-levels, Math.min(levels, Math.round(one / scale)))),
  };
};

/** Scores the features of a passage. */
export const scored = ({ bias, scale, quantized }, one) => {
  let sum = 0;
  for (const feature of one) sum += quantized[feature];
  return bias + (sum * scale) / Math.sqrt(one.length + damping);
};
