import { describe, it } from 'vitest';
import { expectHidden, expectPreserved } from '../../test/expect-hidden.js';

describe('the output of a command that names a secret', () => {
  it.each([
    '$ yarn config get npmAuthToken --no-redacted\n«6805a485-642f-4f01-9167-e1633ea17000»\n',
    '$ pulumi config get dbPassword\n«esxbauxfo23»\n',
    '$ snyk config get api\n«69a355cd-ece7-4ba1-90e1-62e28f555a73»\n',
    '$ op item get "Staging DB" --fields label=password --reveal\n«Zg?n~#3TB5SZHO9dU.p»\n',
    '$ lpass show --password mail\n«F^.REU#m!I~Vb=3»\n',
    '$ git config --get npm.authToken\n«e3d0e6aa48814ffd0b2c40157bc15cd9f7f2f430»\n',
    'deploy@web-1:~/app$ printenv JWT_SECRET\n«0cb52a6e-6a4c-4f3e-9b7d-0f4be2a7a1c3»\n',
    '[root@db1 ~]# cat /run/secrets/db_password\n«bkx61bfqkj»\n',
    "PS C:\\Users\\joe> [Environment]::GetEnvironmentVariable('NUGET_KEY','User')\n«oy2kxq7v3m5tz8w1n4b6c9d0f2g4h6j8k0l2p4r6s8t0v»\n",
    '$ aws ssm get-parameter \\\n    --name /prod/db/password \\\n    --query Parameter.Value --output text\n«esxbauxfo23»\n',
    '$ heroku auth:token\n › Warning: token will expire today\n«0cb52a6e-6a4c-4f3e-9b7d-0f4be2a7a1c3»\n',
    "$ grep -oP 'DB_PASS=\\K.*' .env\n«esxbauxfo23»\n",
    "$ sed -n 's/^DB_PASS=//p' .env\n«esxbauxfo23»\n",
    '$ vault kv get -field=db_pass kv/app\n«esxbauxfo23»\n',
    '$ aws secretsmanager get-random-password --query RandomPassword\n"«b6nm.QdN?f0=Hk»"\n',
  ])('is replaced in %j', expectHidden);
});

describe('the result of an expression that names a secret', () => {
  it.each([
    ">>> secrets.token_urlsafe(32)\n'«KY9Jhu5NAVCB-3lFAz6ruTPb2UITV9MphWD6L24lYjK»'\n",
    '> nonsensitive(var.master_password)\n"«sb=AEi8J#mfR»"\n',
    '> Sys.getenv("KAGGLE_KEY")\n[1] "«42102a61e1d4c0f81cb38c65e9f32c34»"\n',
    'ghci> lookupEnv "API_SECRET"\nJust "«af97daf2ffeae82f176cd99217122b37»"\n',
    'scala> sys.env("AWS_SECRET_ACCESS_KEY")\nval res0: String = «MjWldNfxQ3kMvOfV9rQYpPcTaGApf7u031aZGVu7»\n',
    '127.0.0.1:6379> CONFIG GET masterauth\n1) "masterauth"\n2) "«aGiWFSwFugoy2mLRUH»"\n',
  ])('is replaced in %j', expectHidden);
});

describe('the output of other commands', () => {
  it.each([
    '$ git log -S token --format=%H\n058c12d5032382dd460b894df4e41735ffaf2fc4\n',
    '$ sha256sum secret.txt | cut -c1-64\naf97daf2ffeae82f176cd99217122b3730e69b545f1241084d0e9891b14fb32f\n',
    '$ git config user.signingkey\n3AA5C34371567BD2\n',
    '$ npm config get registry\nhttps://registry.npmjs.org/\n',
    '$ gcloud config get project\nacme-staging-2024\n',
    '$ git config get core.hash\n058c12d5032382dd460b894df4e41735ffaf2fc4\n',
    '> token.type\n"identifier"\n',
    ">>> len(password)\n12345678\n>>> type(secret)\n<class 'str'>\n",
    '# Get the token\n\nhttps://example.org/settings/tokens\n',
    '> The token is below\nsee-the-documentation\n',
    'if (a.secret > b) {\n  rotateSecretOfUserA1();\n}\n',
    '<p> the password\n</p>\n',
  ])('is preserved: %j', expectPreserved);
});
