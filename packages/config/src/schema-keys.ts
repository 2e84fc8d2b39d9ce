import * as z from 'zod';

/** A key of a schema that has no keys below it. */
export interface SchemaKey {
  /** Such as `server.port`; `*` stands for any key and `[]` for any item. */
  readonly key: string;
  /** What it accepts: `string`, `integer`, `"host" | "docker"`, `string[]`. */
  readonly type: string;
  /** The default as JSON; `undefined` if it has none. */
  readonly defaultValue: string | undefined;
  readonly isRequired: boolean;
  readonly description: string;
}

interface Node {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
}

const nodeOf = (schema: z.ZodType): Node =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Node;

/** The keys that a schema knows at a path. */
export const keysAt = (schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] => {
  let nodes: readonly Node[] = [nodeOf(schema)];
  for (const part of path) nodes = nodes.flatMap(branches).flatMap((node) => childOf(node, part));
  return [...new Set(nodes.flatMap(branches).flatMap(({ properties = {} }) => Object.keys(properties)))];
};

const branches = (node: Node): readonly Node[] => (node.anyOf ?? node.oneOf)?.flatMap(branches) ?? [node];

const childOf = ({ properties = {}, additionalProperties, items }: Node, part: PropertyKey): readonly Node[] => {
  const name = String(part);
  if (Object.hasOwn(properties, name)) return [properties[name] ?? {}];
  if (items !== undefined) return [items];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
};

/** Lists the keys of a schema with their types, defaults and descriptions, in the order of the schema. */
export const keysOf = (schema: z.ZodType): readonly SchemaKey[] => leaves(nodeOf(schema), '', true, undefined);

const leaves = (node: Node, key: string, isRequired: boolean, inherited: unknown): readonly SchemaKey[] => {
  const defaultValue = node.default ?? inherited;
  const objects = branches(node).filter(isObject);
  const below = (name: string): string => (key === '' ? name : `${key}.${name}`);
  if (objects.length > 0) {
    const found = objects.flatMap(({ properties = {}, required = [], additionalProperties }) => [
      ...Object.entries(properties).flatMap(([name, child]) =>
        leaves(child, below(name), required.includes(name), memberOf(defaultValue, name)),
      ),
      ...(typeof additionalProperties === 'object' ? leaves(additionalProperties, below('*'), false, undefined) : []),
    ]);
    // The branches of a union share keys.
    return [...new Map(found.toReversed().map((one) => [one.key, one])).values()].toReversed();
  }
  if (node.items !== undefined && isObject(node.items)) return leaves(node.items, `${key}[]`, isRequired, undefined);
  return [
    {
      key,
      type: typeOf(node),
      defaultValue: defaultValue === undefined ? undefined : JSON.stringify(defaultValue),
      isRequired,
      description: node.description ?? '',
    },
  ];
};

const isObject = ({ properties, additionalProperties }: Node): boolean =>
  properties !== undefined ||
  (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0);

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;

const typeOf = (node: Node): string => {
  const union = node.anyOf ?? node.oneOf;
  if (union !== undefined) return union.map(typeOf).join(' | ');
  if (node.enum !== undefined) return node.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (node.const !== undefined) return JSON.stringify(node.const);
  if (node.items !== undefined) return `${typeOf(node.items)}[]`;
  return typeof node.type === 'string' ? node.type : 'any';
};
