import { inFolder } from './folders.js';

/** Those of the processes that run. One that has ended and was not buried by its parent does not. */
export const alive = async (processes: readonly number[]): Promise<readonly number[]> => {
  const states = await Promise.all(processes.map((pid) => inFolder('/', 'ps', '-o', 'stat=', '-p', String(pid))));
  return processes.filter((_, index) => {
    const state = states[index]?.output.trim() ?? '';
    return state !== '' && !state.startsWith('Z');
  });
};
