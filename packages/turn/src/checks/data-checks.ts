import { anyObject, checkValue, oneOf, type OptionCheck, type OptionFault, type PartFault } from '@h/options';
import { InvalidInputError } from '../contract/errors.js';
import { isJSONObject, isJSONValue } from '../contract/json.js';

type Checks = Readonly<Record<string, OptionCheck>>;

export const jsonValue: OptionCheck = { expected: 'a JSON value', accepts: (value) => isJSONValue(value) };

export const jsonObject: OptionCheck = { expected: 'a JSON object', accepts: isJSONObject };

/** Accepts objects with these members. Other members are allowed, unlike in `objectOf`. */
export const shapeOf = (members: Checks, optional: Checks = {}): OptionCheck => {
  const checks = Object.entries({ ...members, ...optional, ...members }).map(([name, check]) => ({
    name,
    check,
    isOptional: !(name in members),
  }));
  const faultIn = (value: unknown): PartFault | undefined => {
    if (!anyObject.accepts(value)) return undefined;
    const given = value as Readonly<Record<string, unknown>>;
    for (const { name, check, isOptional } of checks) {
      const item = given[name];
      if ((isOptional && item === undefined) || check.accepts(item)) continue;
      if (item === undefined) return { is: 'missing', path: `.${name}`, value: item, expected: check.expected };
      return faultAt(`.${name}`, item, check);
    }
    return undefined;
  };
  const accepts = (value: unknown): boolean => anyObject.accepts(value) && faultIn(value) === undefined;
  return { expected: `an object with the members ${Object.keys(members).join(', ')}`, accepts, faultIn };
};

/** Accepts objects whose member `key` names a variant, if the check of that variant passes. */
export const variantOf = (key: string, variants: Checks): OptionCheck => {
  const names = oneOf(...Object.keys(variants));
  const variantFor = (value: unknown): OptionCheck | undefined => {
    const name = anyObject.accepts(value) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
    return typeof name === 'string' && Object.hasOwn(variants, name) ? variants[name] : undefined;
  };
  return {
    expected: `an object whose ${key} is ${names.expected}`,
    accepts: (value) => variantFor(value)?.accepts(value) ?? false,
    faultIn: (value) => {
      if (!anyObject.accepts(value)) return undefined;
      const variant = variantFor(value);
      if (variant) return variant.faultIn?.(value);
      return faultAt(`.${key}`, (value as Readonly<Record<string, unknown>>)[key], names);
    },
  };
};

const faultAt = (path: string, value: unknown, check: OptionCheck): PartFault => {
  const inner = check.faultIn?.(value);
  return inner === undefined
    ? { is: 'wrong', path, value, expected: check.expected, isSecret: false }
    : { ...inner, path: path + inner.path };
};

/**
 * Checks a value from outside and returns it unchanged.
 *
 * @param owner - where the value comes from, as the beginning of the message
 * @throws InvalidInputError that names the owner, the path, the value found there and what was expected
 */
export const checked = <Value>(check: OptionCheck, value: Value, owner: string, name: string): Value => {
  checkValue(owner, name, value, check, toInputError);
  return value;
};

/** Explains why a value fails a check, in the words of {@link checked}; returns nothing if it passes. */
export const problemWithValue = (
  value: unknown,
  check: OptionCheck,
  owner: string,
  name: string,
): string | undefined => {
  try {
    checked(check, value, owner, name);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message.replace(/\.$/, '');
    throw error;
  }
};

export const toInputError = ({ message }: OptionFault): InvalidInputError => new InvalidInputError(message);
