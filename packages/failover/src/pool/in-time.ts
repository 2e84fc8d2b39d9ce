/** Rejects with an error if the work does not settle in time; what it settles with afterwards is ignored. */
export const inTime = async <Result>(
  work: () => PromiseLike<Result> | Result,
  timeoutMs: number,
  timeoutError: () => Error,
): Promise<Result> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), timeoutMs);
  });
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
};
