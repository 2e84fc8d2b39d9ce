/**
 * The mutable form of a read-only type. Its owner writes plain members instead of accessors, because an object literal
 * with an accessor retains everything that it references until the next full garbage collection.
 */
export type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
