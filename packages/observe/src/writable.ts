/**
 * What others only read, for the one who writes it. It has plain members instead of accessors, because an object
 * literal with an accessor keeps all that it refers to, a whole turn, until the next full garbage collection.
 */
export type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
