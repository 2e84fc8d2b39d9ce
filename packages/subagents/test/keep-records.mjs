// Keeps records, replaces and deletes them until it is killed, and says what was confirmed: node keep-records.mjs BUNDLE FOLDER
const [bundle, directory] = process.argv.slice(2);
const { fileChildStore } = await import(bundle);
const store = fileChildStore({ directory });
const record = (id, more) => ({
  v: 1,
  id,
  agent: 'worker',
  task: 'x'.repeat(5000),
  session: `subagent-${id}`,
  turn: `t-${id}`,
  parent: 'boss',
  root: 'boss',
  depth: 1,
  receiver: 'parent',
  spawnedAt: 1,
  ...more,
});
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);
for (let number = 0; ; number += 1) {
  const id = `${process.pid}-${number}`;
  await store.save(record(id));
  say('saved', id);
  if (number % 3 === 0) continue;
  await store.save(record(id, { takenBy: 'call' }));
  say('changed', id);
  if (number % 3 === 1) continue;
  say('deleting', id);
  await store.delete(id);
  say('deleted', id);
}
