import type { SchemaValidator } from '@h/json/schema';
import type { JSONObject, ToolDefinition } from '@h/turn';
import { chain, type Maybe } from './maybe.js';

/** Returns why the schema of a tool rejects an input; `undefined` for a valid input or an unknown tool. */
export type InputCheck = (tool: string, input: unknown) => Maybe<string | undefined>;

type Library = typeof import('@h/json/schema');

/**
 * Validates inputs against the JSON Schemas of the tools in the last model request. An invalid schema rejects every
 * input. Patterns are checked, because a definition does not reveal whether the tool would.
 *
 * The first check loads the validator, because most hooks never replace an input.
 */
export const inputCheck = (): {
  readonly offered: (tools: readonly ToolDefinition[]) => void;
  readonly check: InputCheck;
} => {
  let tools: readonly ToolDefinition[] = [];
  let validators: WeakMap<JSONObject, SchemaValidator> | undefined;
  let loaded: Maybe<Library> | undefined;
  const load = (): Maybe<Library> => {
    loaded ??= import('@h/json/schema').then((library) => {
      loaded = library;
      return library;
    });
    return loaded;
  };
  const validatorOf = (schema: JSONObject, { schemaValidator }: Library): SchemaValidator => {
    const known = validators?.get(schema) ?? schemaValidator(schema);
    (validators ??= new WeakMap()).set(schema, known);
    return known;
  };
  return {
    offered: (offered) => {
      tools = offered;
    },
    check: (name, input) => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) return undefined;
      return chain(load(), (library) => {
        const { problems, check } = validatorOf(tool.inputSchema, library);
        if (problems.length > 0) return problems[0];
        const [issue] = check(input);
        return issue === undefined ? undefined : [issue.path.join('.'), issue.message].filter(Boolean).join(': ');
      });
    },
  };
};
