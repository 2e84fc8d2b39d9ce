import { Validator } from '@cfworker/json-schema';
import { toErrorInfo, type JSONObject, type ToolDefinition } from '@h/turn';

/** Says what is wrong with an input of a tool; nothing when it fits, or when nobody knows the tool. */
export type InputCheck = (tool: string, input: unknown) => string | undefined;

/** Validates inputs by the JSON Schemas of the tools that were offered last. A schema that cannot be read fits nothing. */
export const inputCheck = (): {
  readonly offered: (tools: readonly ToolDefinition[]) => void;
  readonly check: InputCheck;
} => {
  let tools: readonly ToolDefinition[] = [];
  const validators = new WeakMap<JSONObject, Validator>();
  const validatorOf = (schema: JSONObject): Validator => {
    const known = validators.get(schema);
    if (known) return known;
    // The library writes into the schema that it is given.
    const made = new Validator(structuredClone(schema), draftOf(schema), true);
    validators.set(schema, made);
    return made;
  };
  return {
    offered: (offered) => {
      tools = offered;
    },
    check: (name, input) => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool === undefined) return undefined;
      try {
        const { valid, errors } = validatorOf(tool.inputSchema).validate(input);
        return valid ? undefined : (errors.at(-1)?.error ?? 'it does not fit the schema');
      } catch (error) {
        return toErrorInfo(error).message;
      }
    },
  };
};

const draftOf = ({ $schema }: JSONObject): '4' | '7' | '2019-09' | '2020-12' => {
  const uri = typeof $schema === 'string' ? $schema : '';
  if (uri.includes('draft-04')) return '4';
  if (uri.includes('draft-06') || uri.includes('draft-07')) return '7';
  return uri.includes('2019-09') ? '2019-09' : '2020-12';
};
