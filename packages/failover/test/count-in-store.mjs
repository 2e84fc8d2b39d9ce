// Increments a count in a shared file TIMES times: node count-in-store.mjs BUNDLE FILE TIMES
const [bundle, path, times] = process.argv.slice(2);
const { filePoolStore } = await import(bundle);
const store = filePoolStore({ path });
for (let time = 0; time < Number(times); time += 1) {
  await store.update(({ windows }) => {
    const level = (windows.count?.level ?? 0) + 1;
    return { version: 1, windows: { ...windows, count: { reason: 'rate-limit', since: 0, until: 9e12, level } } };
  });
}
