import * as z from 'zod';
import { problem } from './contract.js';
import type { Route } from './route.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Builds the OpenAPI 3.1 document of the routes from their schemas. */
export const openApiOf = (routes: readonly Route[], version: string): Json => {
  const schemas: Record<string, Json> = {};
  const paths: Record<string, Record<string, Json>> = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => hoisted(schema, io, schemas);
  schemas['Problem'] = schemaOf(problem, 'output');
  for (const route of routes) {
    const path = `/api/v1${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
    (paths[path] ??= {})[route.method] = operationOf(route, schemaOf);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Station', version, description: 'Sessions, messages, approvals and events of agents.' },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas,
    },
  };
};

const operationOf = (
  { method, path, summary, scope, query, body, status, response }: Route,
  schemaOf: (schema: z.ZodType, io: 'input' | 'output') => Json,
): Json => {
  const members = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    parameter(name, 'path', true, { type: 'string' }),
  );
  const queries = Object.entries(query instanceof z.ZodObject ? query.shape : {}).map(([name, schema]) =>
    parameter(
      name,
      'query',
      !(schema as z.ZodType).safeParse(undefined).success,
      schemaOf(schema as z.ZodType, 'output'),
    ),
  );
  const key = method === 'post' ? [parameter('Idempotency-Key', 'header', false, { type: 'string' })] : [];
  const content: Json | undefined =
    response === undefined
      ? undefined
      : typeof response === 'string'
        ? { [response]: { schema: { type: 'string' } } }
        : { 'application/json': { schema: schemaOf(response, 'output') } };
  return {
    summary,
    description: `Requires the scope \`${scope}\`.`,
    operationId: `${method}${path.replaceAll(/\W+(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
    parameters: [...members, ...queries, ...key],
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } },
    }),
    responses: {
      [String(status)]: { description: 'Success', ...(content !== undefined && { content }) },
      default: {
        description: 'The request was refused or has failed.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
};

const parameter = (name: string, place: string, required: boolean, schema: Json): Json => ({
  name,
  in: place,
  required,
  schema,
});

/** Converts a schema, and moves its definitions to the components of the document. */
const hoisted = (schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Json>): Json => {
  const {
    $schema: _schema,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as {
    readonly [name: string]: Json;
    readonly $defs?: Readonly<Record<string, Json>>;
  };
  const names = new Map<string, string>();
  for (const [name, definition] of Object.entries($defs)) {
    const text = JSON.stringify(definition);
    const known = Object.entries(schemas).find(([, other]) => JSON.stringify(other) === pointed(text, names));
    names.set(name, known?.[0] ?? `Shared${Object.keys(schemas).length}`);
  }
  for (const [name, definition] of Object.entries($defs)) {
    schemas[names.get(name) ?? name] = JSON.parse(pointed(JSON.stringify(definition), names)) as Json;
  }
  return JSON.parse(pointed(JSON.stringify(rest), names)) as Json;
};

const pointed = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replaceAll(
    /"#\/\$defs\/([^"]+)"/g,
    (_match, name: string) => `"#/components/schemas/${names.get(name) ?? name}"`,
  );
