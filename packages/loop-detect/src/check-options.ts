import { TurnError } from '@h/turn';
import type { ChantingOptions } from './chanting.js';
import type { LoopDetectOptions, LoopOptions, ToolLoopOptions } from './options.js';
import { defaultThresholds } from './thresholds.js';

interface Check {
  readonly accepts: (value: unknown, path: string, owner: string) => boolean | void;
  readonly takes: string;
}

type Table<Options> = Readonly<Record<keyof Required<Options>, Check>>;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

const countFrom = (least: number): Check => ({
  accepts: (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= least),
  takes: `a whole number from ${least} or Infinity`,
});
const aFunction: Check = { accepts: (value) => typeof value === 'function', takes: 'a function' };
const aBoolean: Check = { accepts: (value) => typeof value === 'boolean', takes: 'true or false' };
const effect: Check = {
  accepts: (value) => ['read-only', 'local-write', 'network', 'destructive'].includes(value as string),
  takes: '"read-only", "local-write", "network" or "destructive"',
};

const objectOf = (table: Readonly<Record<string, Check>>): Check => ({
  accepts: (value, path, owner) => isObject(value) && checkTable(owner, path, value, table),
  takes: `an object with ${Object.keys(table).join(', ')}`,
});

const orFalse = ({ accepts, takes }: Check): Check => ({
  accepts: (value, path, owner) => value === false || accepts(value, path, owner),
  takes: `false or ${takes}`,
});

const thresholds: Check = objectOf(
  Object.fromEntries(
    Object.entries(defaultThresholds).map(([detector, own]) => [detector, orFalse(objectOf(Object.fromEntries(Object.keys(own).map((level) => [level, countFrom(1)]))))]),
  ),
);

const tool: Table<ToolLoopOptions> = { detectors: thresholds, poll: aBoolean, effect, inputOf: aFunction, outcomeOf: aFunction };

const toolTable: Check = {
  accepts: (value, path, owner) =>
    isObject(value) && Object.entries(value).every(([name, own]) => own === false || objectOf(tool).accepts(own, `${path}.${name}`, owner) !== false),
  takes: `an object that has for names of tools false or an object with ${Object.keys(tool).join(', ')}`,
};

const loopTable: Table<LoopOptions> = { detectors: thresholds, tools: toolTable, doomLoopThreshold: countFrom(2), forgiveAfter: countFrom(0) };

const chanting: Table<ChantingOptions> = { rounds: countFrom(2), minChars: countFrom(1), sentences: countFrom(2) };

const operatorTable: Table<LoopDetectOptions> = {
  ...loopTable,
  maxRepeatedSteps: countFrom(2),
  chanting: orFalse(objectOf(chanting)),
  warnEvery: countFrom(1),
  summary: aBoolean,
};

/** Refuses what is no option, at any depth, and values that an option does not take. */
const checkTable = (owner: string, path: string, options: object, table: Readonly<Record<string, Check>>): true => {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    const full = path === '' ? name : `${path}.${name}`;
    const check = Object.hasOwn(table, name) ? table[name] : undefined;
    if (check === undefined) throw invalid(`${owner}() has no option ${show(full)}, which was ${show(value)}; ${path === '' ? 'it' : show(path)} knows ${Object.keys(table).join(', ')}.`);
    if (value !== undefined && check.accepts(value, full, owner) === false) throw invalid(`${owner}() takes ${check.takes} as ${show(full)}; it was given ${show(value)}.`);
  }
  return true;
};

const checkWith = (owner: string, options: unknown, table: Readonly<Record<string, Check>>): void => {
  if (!isObject(options)) throw invalid(`${owner}() takes an object of options; it was given ${show(options)}.`);
  checkTable(owner, '', options, table);
};

export const checkLoopOptions = (owner: string, options: LoopOptions): void => checkWith(owner, options, loopTable);
export const checkOperatorOptions = (options: LoopDetectOptions): void => checkWith('loopDetect', options, operatorTable);
export const checkChantingOptions = (options: ChantingOptions): void => checkWith('createChantingDetector', options, chanting);

const invalid = (message: string): TurnError => new TurnError('invalid-option', message);

const show = (value: unknown): string => {
  if (typeof value === 'number' || typeof value === 'bigint' || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    return 'something that is no JSON';
  }
};
