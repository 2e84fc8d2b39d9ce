/**
 * Trains the weights of `src/scan/wording.ts` and writes `src/scan/wording-weights.ts`.
 *
 * Usage: node training/train.mjs FOLDER...
 *
 * Requests are sampled from the frames in `requests.txt`, ordinary passages come from the Markdown files in the folders.
 * Prints the thresholds at which a share of these files has a finding, by cross-validation in two parts.
 */
import { build } from 'esbuild';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampler } from './sample.mjs';

const samples = 14_000;
const rounds = 10;
const rate = 0.3;
const decay = 1e-5;
/** Number of weights that are kept. */
const kept = 20_000;
const levels = 7;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const root = new URL('..', import.meta.url).pathname;
const load = async (entry) => {
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
const { featuresOf, featureBits, passagesOf, fold, sentencesOf } = await load(
  `export { featuresOf, featureBits } from './wording.js'; export { passagesOf } from './passages.js'; export { fold } from './fold.js'; export { sentencesOf } from './sentences.js';`,
);
const size = 1 << featureBits;

const features = (passage) => {
  const found = new Set();
  featuresOf(passage, (one) => found.add(one));
  return Int32Array.from(found);
};
const passagesIn = (text) => {
  const folded = fold(text);
  return passagesOf(folded, sentencesOf(text, folded)).map(({ start, end }) => folded.text.slice(start, end));
};
const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((one) => one.isFile() && /\.mdc?$|^README/i.test(one.name))
    .map((one) => join(one.parentPath, one.name));

/** Logistic regression by AdaGrad; the weights are averaged over the second half of the rounds. */
const fit = (requests, ordinaryOfFiles) => {
  const ordinary = [...hard, ...hard, ...ordinaryOfFiles];
  const { mean } = descend(requests, ordinary);
  const counts = new Float64Array(size);
  for (const one of requests) for (const feature of one) counts[feature] += 1;
  for (const one of ordinary) for (const feature of one) counts[feature] += 1;
  const order = Array.from(mean, (weight, feature) => [Math.abs(weight) * counts[feature] ** 0.25, feature]).toSorted(
    (one, other) => other[0] - one[0],
  );
  const isKept = new Uint8Array(size);
  for (const [, feature] of order.slice(0, kept)) isKept[feature] = 1;
  const { mean: weights, bias } = descend(requests, ordinary, isKept);
  return quantizedOf(weights, bias);
};

const descend = (requests, ordinary, isKept) => {
  const weights = new Float64Array(size);
  const squares = new Float64Array(size).fill(1e-8);
  const sums = new Float64Array(size);
  let [bias, biases, averaged, state] = [-3, 0, 0, 7];
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const all = [...requests.map((one) => [one, 1]), ...ordinary.map((one) => [one, 0])];
  for (let round = 0; round < rounds; round += 1) {
    for (let index = all.length - 1; index > 0; index -= 1) {
      const other = Math.floor(random() * (index + 1));
      [all[index], all[other]] = [all[other], all[index]];
    }
    for (const [one, label] of all) {
      const norm = 1 / Math.sqrt(one.length + 60);
      let score = bias;
      for (const feature of one) score += weights[feature] * norm;
      const error = 1 / (1 + Math.exp(-score)) - label;
      if (Math.abs(error) < 1e-3) continue;
      bias -= 0.01 * error;
      for (const feature of one) {
        if (isKept !== undefined && isKept[feature] === 0) continue;
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
const quantizedOf = (weights, bias) => {
  const sizes = Array.from(weights, Math.abs).toSorted((one, other) => other - one);
  const scale = sizes[Math.floor(kept / 200)] / levels;
  return {
    bias,
    scale,
    quantized: Int8Array.from(weights, (one) => Math.max(-levels, Math.min(levels, Math.round(one / scale)))),
  };
};
const scored = ({ bias, scale, quantized }, one) => {
  let sum = 0;
  for (const feature of one) sum += quantized[feature];
  return bias + (sum * scale) / Math.sqrt(one.length + 60);
};

const texts = sampler(readFileSync(join(root, 'training/requests.txt'), 'utf8'), 5);
const examples = readFileSync(join(root, 'training/examples.txt'), 'utf8')
  .split('\n')
  .filter((one) => one !== '' && !one.startsWith('# '));
const written = [...new Set(texts.texts(samples)), ...examples].map((one) => fold(one).text);
const list = process.argv.slice(2).flatMap(filesIn);
const files = [...new Set(list.map((path) => readFileSync(path, 'utf8')))]
  .filter((text) => text.length < 300_000)
  .map((text) => {
    const p = passagesIn(text);
    return { p, f: p.map(features) };
  });
const requests = written.map(features);
// Requests next to ordinary text, as in a message or a page.
const ordinary = files.flatMap(({ p }) => p.filter((one) => one.length < 160));
for (const [index, one] of written.entries()) {
  if (index % 4 !== 0) continue;
  const other = ordinary[(Math.imul(index + 1, 40_503) >>> 0) % ordinary.length] ?? '';
  requests.push(features(index % 8 === 0 ? `${other} ${one}` : `${one} ${other}`));
}
const hard = [...new Set(sampler(readFileSync(join(root, 'training/ordinary.txt'), 'utf8'), 3).texts(samples))].map(
  (one) => features(fold(one).text),
);
const best = [];
for (const part of [0, 1]) {
  const model = fit(
    requests,
    files.filter((_, index) => index % 2 !== part).flatMap(({ f }) => f),
  );
  files.forEach(({ p, f }, index) => {
    if (index % 2 === part) {
      best[index] = f
        .map((one, i) => [scored(model, one), p[i]])
        .reduce((one, other) => (other[0] > one[0] ? other : one), [-99, '']);
    }
  });
}
const sorted = best.toSorted((one, other) => other[0] - one[0]);
for (const share of [0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.02]) {
  const th = sorted[Math.floor(share * sorted.length)][0];
  console.log(`${share * 100} % of ${files.length} files: ${th.toFixed(2)}`);
}
const model = fit(
  requests,
  files.flatMap(({ f }) => f),
);
const table = Array.from(model.quantized, (one) => alphabet[one + levels]).join('');
writeFileSync(
  join(root, 'src/scan/wording-weights.ts'),
  `/* Written by \`training/train.mjs\`. */\n\n/** The score of a passage without features. */\nexport const bias = ${model.bias.toFixed(4)};\n\nconst scale = ${model.scale.toFixed(5)};\nconst alphabet = '${alphabet}';\n// prettier-ignore\nconst table =\n  '${table}';\n\n/** The weights of the features. */\nexport const weights: Float32Array = Float32Array.from(table, (one) => (alphabet.indexOf(one) - ${levels}) * scale);\n`,
);
