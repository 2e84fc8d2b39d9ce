import { canonicalJson } from '@h/json';
import { schemaValidator } from '@h/json/schema';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { InvalidOptionError, showValue } from '@h/options';
import { toErrorInfo, type JSONObject, type MaybePromise } from '@h/turn';
import { nullPrototypeCopy, TooDeepError, withoutPrototypeKeys } from './json-copy.js';
import { jsonSchemaValidator, type InputCheck } from './json-schema.js';

/**
 * Schema of a tool's input: a Standard Schema that converts to JSON Schema (zod from 4.2 on), the result of
 * {@link withJsonSchema}, or a JSON Schema.
 */
export type ToolInput = StandardSchemaV1 | JSONObject;

/** Input type of `run`. */
export type InferToolInput<Input extends ToolInput> = Input extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Input>
  : JSONObject;

/** Checks inputs and holds their JSON Schema. */
export interface InputChecker {
  readonly jsonSchema: JSONObject;
  check(input: unknown): MaybePromise<InputCheck>;
}

/**
 * Attaches a JSON Schema to a schema that cannot convert itself.
 *
 * @example
 * ```ts
 * defineTool({ name: 'add', input: withJsonSchema(schema, { type: 'object', properties: { … } }), … });
 * ```
 */
export const withJsonSchema = <Schema extends StandardSchemaV1>(schema: Schema, jsonSchema: JSONObject): Schema => {
  const convert = (): JSONObject => jsonSchema;
  return {
    '~standard': { ...schema['~standard'], jsonSchema: { input: convert, output: convert } },
  } as unknown as Schema;
};

/**
 * Creates the checker of a tool's input. The root of the schema must be an object, because providers accept nothing
 * else.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const inputChecker = (tool: string, input: ToolInput): InputChecker => {
  const checker = isStandardSchema(input) ? standardChecker(tool, input) : jsonSchemaChecker(tool, input);
  if (checker.jsonSchema['type'] !== 'object') {
    throw invalidInputOption(tool, 'must be an object at its root (JSON Schema "type": "object"); wrap it in one');
  }
  return checker;
};

const invalidInputOption = (tool: string, problem: string): InvalidOptionError => {
  const owner = `defineTool(${JSON.stringify(tool)})`;
  return new InvalidOptionError({ owner, option: 'input', message: `${owner}: "input" ${problem}.` });
};

const isStandardSchema = (input: ToolInput): input is StandardSchemaV1 =>
  (typeof input === 'object' || typeof input === 'function') && input !== null && '~standard' in input;

const jsonSchemaChecker = (tool: string, schema: JSONObject): InputChecker => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw invalidInputOption(tool, `must be a schema; received ${showValue(schema)}`);
  }
  if ('_def' in schema) {
    throw invalidInputOption(tool, 'is a schema of zod before 3.24; use zod 4.2 or later, or pass a JSON Schema');
  }
  if ('jsonSchema' in schema && 'validate' in schema) {
    throw invalidInputOption(tool, 'is a schema of the AI SDK; pass its "jsonSchema"');
  }
  // A class instance or a function in a JSON Schema cannot be sent to a provider.
  if (canonicalJson(schema) === undefined) {
    throw invalidInputOption(tool, 'must be a schema; received an object that is not JSON');
  }
  const validator = schemaValidator(schema);
  if (validator.problems.length > 0) {
    throw invalidInputOption(tool, `must be a valid JSON Schema: ${validator.problems.slice(0, 3).join('; ')}`);
  }
  const validate = jsonSchemaValidator(schema, validator);
  return { jsonSchema: schema, check: (input) => guarded(() => validate(input)) };
};

const standardChecker = (tool: string, schema: StandardSchemaV1): InputChecker => {
  const standard = schema['~standard'];
  return {
    jsonSchema: writtenOut(tool, standard),
    check: (input) =>
      guarded(() => {
        const result = standard.validate(withoutPrototypeKeys(input));
        return result instanceof Promise
          ? result.then((settled) => guarded(() => concluded(settled)))
          : concluded(result);
      }),
  };
};

const writtenOut = (tool: string, standard: StandardSchemaV1.Props): JSONObject => {
  const converter = (standard as Partial<StandardJSONSchemaV1.Props>).jsonSchema;
  if (converter === undefined) {
    const upgrade = standard.vendor === 'zod' ? 'use zod 4.2 or later, or ' : '';
    throw invalidInputOption(
      tool,
      `is a ${standard.vendor} schema that cannot be converted to JSON Schema; ${upgrade}pass withJsonSchema(schema, jsonSchema)`,
    );
  }
  try {
    const { $schema: _, ...jsonSchema } = converter.input({ target: 'draft-2020-12' });
    return jsonSchema as JSONObject;
  } catch (error) {
    throw invalidInputOption(
      tool,
      `cannot be converted to JSON Schema: ${toErrorInfo(error).message}. Use types of JSON, or pass withJsonSchema(schema, jsonSchema)`,
    );
  }
};

const concluded = (result: StandardSchemaV1.Result<unknown>): InputCheck =>
  result.issues === undefined
    ? { ok: true, value: nullPrototypeCopy(result.value) }
    : { ok: false, issues: result.issues.map(described) };

const described = ({ message, path }: StandardSchemaV1.Issue): string => {
  if (path === undefined || path.length === 0) return message;
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  return `${keys.map(String).join('.')}: ${message}`;
};

const guarded = <Result>(check: () => Result): Result | InputCheck => {
  try {
    return check();
  } catch (error) {
    if (error instanceof TooDeepError) return { ok: false, issues: [`The input is ${error.message}.`] };
    throw error;
  }
};
