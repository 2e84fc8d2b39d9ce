import type { Validator } from '@cfworker/json-schema';
import { schemaDraft } from '@h/json';
import { toErrorInfo, type JSONObject, type ToolDefinition } from '@h/turn';
import { chain, type Maybe } from './maybe.js';

/** Returns why the schema of a tool rejects an input; `undefined` for a valid input or an unknown tool. */
export type InputCheck = (tool: string, input: unknown) => Maybe<string | undefined>;

/**
 * Validates inputs against the JSON Schemas of the tools in the last model request. An invalid schema rejects every
 * input. The first check loads the validator, because most hooks never replace an input.
 */
export const inputCheck = (): {
  readonly offered: (tools: readonly ToolDefinition[]) => void;
  readonly check: InputCheck;
} => {
  let tools: readonly ToolDefinition[] = [];
  let validators: WeakMap<JSONObject, Validator> | undefined;
  let loaded: Maybe<typeof Validator> | undefined;
  const load = (): Maybe<typeof Validator> => {
    loaded ??= import('@cfworker/json-schema').then((library) => {
      loaded = library.Validator;
      return loaded;
    });
    return loaded;
  };
  const validatorOf = (schema: JSONObject, library: typeof Validator): Validator => {
    const known = validators?.get(schema);
    if (known) return known;
    // The library modifies the schema.
    const made = new library(structuredClone(schema), schemaDraft(schema), true);
    (validators ??= new WeakMap()).set(schema, made);
    return made;
  };
  return {
    offered: (offered) => {
      tools = offered;
    },
    check: (name, input) => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) return undefined;
      return chain(load(), (library) => {
        try {
          const { valid, errors } = validatorOf(tool.inputSchema, library).validate(input);
          return valid ? undefined : (errors.at(-1)?.error ?? 'it does not match the schema');
        } catch (error) {
          return toErrorInfo(error).message;
        }
      });
    },
  };
};
