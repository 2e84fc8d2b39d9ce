import { inFolder } from './folders.js';

/** Returns the processes that are running, without zombies. */
export const alive = async (processes: readonly number[]): Promise<readonly number[]> => {
  const states = await Promise.all(processes.map((pid) => inFolder('/', 'ps', '-o', 'stat=', '-p', String(pid))));
  return processes.filter((_, index) => {
    const state = states[index]?.output.trim() ?? '';
    return state !== '' && !state.startsWith('Z');
  });
};
