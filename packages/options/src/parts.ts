import { faultOf, wrong, type OptionCheck, type PartFault } from './option-check.js';
import { anyArray, anyRecord } from './values.js';

/** Accepts arrays whose items all pass. */
export const arrayOf = (item: OptionCheck): OptionCheck =>
  withParts(`an array in which each item is ${item.expected}`, anyArray, (list) => {
    const items = list as readonly unknown[];
    for (let index = 0; index < items.length; index += 1) {
      const fault = faultOf(items[index], item);
      if (fault !== undefined) return within(`[${index}]`, fault);
    }
    return undefined;
  });

/** Accepts objects with these keys only, if their values pass. */
export const objectOf = (checks: Readonly<Record<string, OptionCheck>>): OptionCheck =>
  withParts(`an object with the keys ${Object.keys(checks).join(', ')}`, anyRecord, (object) =>
    faultAmong(object, checks),
  );

/** Accepts objects with any keys, if all values pass. */
export const recordOf = (item: OptionCheck): OptionCheck =>
  withParts(`an object in which each value is ${item.expected}`, anyRecord, (object) => {
    for (const [name, value] of Object.entries(object) as [string, unknown][]) {
      const fault = value === undefined ? undefined : faultOf(value, item);
      if (fault !== undefined) return within(member(name), fault);
    }
    return undefined;
  });

/** Accepts a value if at least one check does. A fault inside the value is reported by the check that found it. */
export const anyOf = (...checks: readonly OptionCheck[]): OptionCheck => ({
  expected: checks.map(({ expected }) => expected).join(' or '),
  accepts: (value) => checks.some(({ accepts }) => accepts(value)),
  faultIn: (value) =>
    checks.map((check) => faultOf(value, check)).find((fault) => fault !== undefined && !isWhole(fault)),
  isSecret: checks.some(({ isSecret }) => isSecret),
});

/** Returns the first member that is unknown, missing or invalid. */
export const faultAmong = (object: object, checks: Readonly<Record<string, OptionCheck>>): PartFault | undefined => {
  const given = object as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(object)) {
    const value = given[name];
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined) return { is: 'unknown', path: member(name), value, name, known: Object.keys(checks) };
    const fault = value === undefined ? undefined : faultOf(value, check);
    if (fault !== undefined) return within(member(name), fault);
  }
  for (const name in checks) {
    const check = checks[name];
    if (check?.isRequired === true && given[name] === undefined) {
      return { is: 'missing', path: member(name), value: undefined, expected: check.expected };
    }
  }
  return undefined;
};

const withParts = (
  expected: string,
  whole: OptionCheck,
  faultAmongParts: (value: object) => PartFault | undefined,
): OptionCheck => {
  const faultIn = (value: unknown): PartFault | undefined =>
    whole.accepts(value) ? faultAmongParts(value as object) : wrong(value, { ...whole, expected });
  return { expected, accepts: (value) => faultIn(value) === undefined, faultIn };
};

const within = (path: string, fault: PartFault): PartFault => ({ ...fault, path: path + fault.path });

const isWhole = ({ is, path }: PartFault): boolean => is === 'wrong' && path === '';

const maxNameLength = 100;

const member = (name: string): string => {
  if (name.length > maxNameLength) return `['${name.slice(0, maxNameLength).toWellFormed()}…']`;
  return /^[\w$-]+$/u.test(name) ? `.${name}` : `['${name}']`;
};
