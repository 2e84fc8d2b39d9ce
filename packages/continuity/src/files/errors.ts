/** The code of an error of the file system. */
export const fileErrorCode = (error: unknown): string | undefined => (error as { readonly code?: string } | null)?.code;

/** What the work gives; nothing where a file is not there. */
export const ifThere = async <Result>(work: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT' || fileErrorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
};
