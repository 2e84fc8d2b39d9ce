/**
 * Makes a value when it is first needed. For the tables of a language: they take milliseconds to build, and most
 * processes never read text in it.
 */
export const once = <Value extends object>(make: () => Value): (() => Value) => {
  let value: Value | undefined;
  return () => (value ??= make());
};
