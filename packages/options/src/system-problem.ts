const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | undefined)?.code;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`);

/** Returns a sentence about a file that could not be read, from the error of the system. */
export const readProblem = (error: unknown, file: string): string => {
  switch (codeOf(error)) {
    case 'ENOENT':
      return `${file} does not exist.`;
    case 'EISDIR':
      return `${file} is a folder.`;
    case 'ENOTDIR':
      return `${file} cannot be read: a folder of its path is a file.`;
    case 'EACCES':
      return `${file} cannot be read: permission denied.`;
    default:
      return sentence(`${file} cannot be read: ${messageOf(error)}`);
  }
};

/** Returns a sentence about an address at which a server could not listen, from the error of the system. */
export const listenProblem = (
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): string => {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `Port ${port} of ${host} is in use by another program.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine.`;
    case 'EACCES':
      return `Port ${port} of ${host} requires more permissions.`;
    default:
      return sentence(`${host}, port ${port}: ${messageOf(error)}`);
  }
};
