export const laneTables: readonly string[] = [];
