import * as z from 'zod';

/** What JSON can say. Everything that is journaled or persisted is made of it. */
export type JSONValue = null | string | number | boolean | JSONObject | readonly JSONValue[];

/** A JSON object; `undefined` members are left out when it is written. */
export type JSONObject = { readonly [key: string]: JSONValue | undefined };

export const jsonValueSchema: z.ZodType<JSONValue> = z.json();

export const jsonObjectSchema: z.ZodType<JSONObject> = z.record(z.string(), z.json());
