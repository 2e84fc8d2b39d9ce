/** Yields random texts of the frames in a file, from a seed. */
export const sampler = (source, seed = 1) => {
  const slots = new Map();
  const frames = [];
  let isFrames = false;
  for (const line of source.split('\n')) {
    if (line === '# Frames') {
      isFrames = true;
      continue;
    }
    if (line === '' || (line.startsWith('# ') && !line.includes('{'))) continue;
    const slot = /^(\w+) = (.*)$/.exec(line);
    if (slot !== null) {
      if (slots.has(slot[1])) throw new Error(`The slot ${slot[1]} is defined twice.`);
      slots.set(slot[1], slot[2].split('|'));
    } else if (isFrames) frames.push(line);
  }
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const pick = (list) => list[Math.floor(random() * list.length)];
  const fill = (text) => {
    let t = text.replace(/\[([^[\]]*)\]/g, (whole, part) =>
      whole.length === text.length || /^[A-Z]|^hidden/.test(part) ? whole : random() < 0.5 ? part : '',
    );
    for (let i = 0; i < 6 && /\{\w+\}/.test(t); i++) {
      t = t.replace(/\{(\w+)\}/g, (_, name) => {
        const list = slots.get(name);
        if (!list) throw new Error('no slot ' + name);
        return pick(list);
      });
    }
    return t
      .replaceAll('¦', '|')
      .replace(/(^|[.!?:] )([a-z])/g, (_, a, b) => a + (a === '' || /[.!?]/.test(a) ? b.toUpperCase() : b));
  };
  return {
    frames,
    *texts(n) {
      for (let i = 0; i < n; i++) {
        yield fill(frames[i % frames.length]);
      }
    },
  };
};
