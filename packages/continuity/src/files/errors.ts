/** Returns the code of a file system error. */
const fileErrorCode = (error: unknown): string | undefined => (error as { readonly code?: string } | null)?.code;

/** Returns the result of the work; `undefined` if a file does not exist. */
export const ifThere = async <Result>(work: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT' || fileErrorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
};
