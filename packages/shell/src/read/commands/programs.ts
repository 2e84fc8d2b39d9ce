/**
 * The option syntax of a program: options whose next word is their value, and whether long options have a single dash.
 */
export interface Grammar {
  readonly values?: string;
  readonly singleDash?: true;
}

const containers: Grammar = {
  values:
    '-H --host --context --config --log-level --file --project-name --project-directory --profile --env-file --timeout --name --filter --format --namespace',
};
const kubernetes: Grammar = {
  values:
    '-n --namespace --context --cluster --user --kubeconfig -l --selector -f --filename -o --output --token --server -s --as --field-selector --grace-period --timeout --replicas --set -c --container',
};
const terraform: Grammar = { singleDash: true };
const clouds: Grammar = {
  values:
    '--profile --region --output --query --endpoint-url --project --account --configuration --format --filter --zone --subscription -g --resource-group --name --app --ids --config --token',
};
const packages: Grammar = {
  values:
    '--registry --tag --access --otp -w --workspace --prefix -C --dir --cwd --filter --loglevel --token --index --repository --username --password --manifest-path --features --target',
};
const sql: Grammar = {
  values:
    '-h --host -p --port -U --username -u --user -d --dbname -D --database -f --file -c --command -e --execute -v --set -o --output -P --pset -F -Q -q --query -S -i --init-command --connect-timeout',
};

/** Programs with known options. */
export const grammars: Readonly<Record<string, Grammar>> = {
  ...Object.fromEntries(
    ['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose'].map((name) => [name, containers]),
  ),
  ...Object.fromEntries(['kubectl', 'oc', 'helm', 'k3s', 'argocd', 'flux'].map((name) => [name, kubernetes])),
  ...Object.fromEntries(['terraform', 'tofu', 'terragrunt', 'packer'].map((name) => [name, terraform])),
  ...Object.fromEntries(
    [
      'aws',
      'gcloud',
      'az',
      'doctl',
      'fly',
      'flyctl',
      'heroku',
      'vercel',
      'netlify',
      'wrangler',
      'firebase',
      'supabase',
      'railway',
      'hcloud',
      'linode-cli',
      'pulumi',
      'cdk',
      'sls',
      'serverless',
      'sam',
      'eksctl',
      'gsutil',
      'bq',
    ].map((name) => [name, clouds]),
  ),
  ...Object.fromEntries(
    ['npm', 'pnpm', 'yarn', 'bun', 'cargo', 'twine', 'poetry', 'uv', 'gem', 'lerna'].map((name) => [name, packages]),
  ),
  ...Object.fromEntries(
    ['psql', 'sqlcmd', 'cockroach', 'clickhouse-client', 'clickhouse', 'mongosh', 'mongo', 'dropdb'].map((name) => [
      name,
      sql,
    ]),
  ),
  ...Object.fromEntries(
    ['redis-cli', 'valkey-cli', 'keydb-cli'].map((name) => [
      name,
      {
        values:
          '-h -p -t -s -a -u -r -i -n -d -D -X --user --pass --sni --cacert --cacertdir --cert --key --tls-ciphers --tls-ciphersuites --pattern --count --rdb --eval',
      },
    ]),
  ),
  // With `-p`, a client of MySQL asks for the password: the next word is not its value.
  ...Object.fromEntries(
    ['mysql', 'mariadb', 'mysqldump'].map((name) => [name, { values: sql.values?.replace(' -p ', ' ') }]),
  ),
  mysqladmin: { values: '-h --host -P --port -u --user -S' },
  git: {
    values:
      '-C -c --git-dir --work-tree --namespace --exec-path --config-env -m --message -F --author --date -o --push-option --repo -b -B --since --until --format --pretty --onto --reuse-message',
  },
  ...Object.fromEntries(
    ['gh', 'glab'].map((name) => [
      name,
      {
        values:
          '-R --repo -t --title -b --body -F --body-file -B --base -H --head -l --label -a --assignee -r --reviewer -X --method -f --field --raw-field --jq -q --json -L --limit',
      },
    ]),
  ),
  ...Object.fromEntries(
    ['pip', 'pip3'].map((name) => [
      name,
      { values: '-i --index-url --extra-index-url -f --find-links -r --requirement -c --constraint -t --target' },
    ]),
  ),
  sudo: { values: '-u --user -g --group -h --host -p --prompt -C -D --chdir -R --chroot -T -U -r -t' },
  doas: { values: '-u -C' },
  find: { singleDash: true },
  go: { singleDash: true },
  rm: {},
  chmod: {},
  chown: { values: '--reference --from' },
  kill: { values: '-s --signal -n' },
  pkill: { values: '-u --euid -U --uid -P --parent -g --pgroup -G -t --terminal -s --session --signal' },
  killall: { values: '-s --signal -u --user' },
  truncate: { values: '-s --size -r --reference -o' },
  shred: { values: '-n --iterations -s --size' },
  sed: { values: '-e --expression -f --file' },
  rsync: {
    values: '-e --rsh --exclude --include --filter -f --exclude-from --files-from --rsync-path --bwlimit --port',
  },
  curl: {
    values:
      '-H --header -d --data --data-raw --data-binary -X --request -o --output -u --user -A --user-agent -b --cookie -F --form -T --upload-file -m --max-time --retry -w --write-out -e --referer -x --proxy --cacert -K --config',
  },
  systemctl: { values: '-t --type -n --lines -H --host -M --machine' },
  crontab: { values: '-u' },
  ansible: { values: '-i -m -a -u -e' },
};
