export const storeTables: readonly string[] = [];
