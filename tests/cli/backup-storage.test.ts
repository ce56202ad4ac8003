import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { objectStorage } from '../../src/cli/doctor/object-storage.ts'
import { createObjectStorage } from '../../src/platform/object-storage/index.ts'
import { masterKeyFile } from '../../src/platform/sealing/key-file.ts'
import { createHome, keyIn, tenantsIn } from '../platform/backup/fixture.ts'
import { cli } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'
import { startS3Server } from '../support/s3-server.ts'

const stack = new DisposableStack()
afterAll(() => stack.dispose())

const FOLDER = 's3://bucket/gatehouse'
const ARCHIVE = /s3:\/\/bucket\/gatehouse\/gatehouse-\S+\.tar\.gz(\.age)?/

/** A data directory with a tenant, and object storage to which its backups go. */
function setUp() {
  const home = stack.use(createHome())
  home.addTenant('before')
  const s3 = stack.use(startS3Server())
  const run = cli(home.path, { env: { ...s3.env, GATEHOUSE_BACKUP_TO: FOLDER } })
  return { ...home, s3, run }
}

test('A backup in object storage is listed, checked and restored by its URL, and leaves out the master key', async () => {
  const { run, s3, dataDir, path } = setUp()
  const made = (await run('backup', '--json')).json()
  expect(made.file).toMatch(ARCHIVE)
  expect(made.master_key).toBe(false)
  const others = ['other.txt', 'second/gatehouse-2030-01-01T00-00-00Z.tar.gz']
  for (const name of others)
    s3.objects.set(`gatehouse/${name}`, { body: new Uint8Array(3), modifiedAt: new Date() })

  const { file, bytes } = made
  expect((await run('backup', 'list', '--json')).json()).toEqual([
    { file, bytes, modified_at: expect.any(String) },
  ])
  expect((await run('backup', 'check', `${FOLDER}/`)).out).toContain('intact')
  const elsewhere = join(path, 'b')
  const restore = ['restore', file, '--data-dir', elsewhere]
  expect((await run(...restore)).err).toContain('no master key')
  mkdirSync(elsewhere)
  copyFileSync(masterKeyFile(dataDir), masterKeyFile(elsewhere))
  expect(await run(...restore)).toMatchObject({ code: 0 })
  expect(tenantsIn(elsewhere)).toContain('before')
})

test('An encrypted one has the master key, and only its private key opens it', async () => {
  const { run, dataDir, path } = setUp()
  const keys = (await run('backup', 'keygen', '--json')).json()
  const others = (await run('backup', 'keygen', '--json')).json()
  const fileOf = ({ private_key }: { private_key: string }, name: string) => {
    writeFileSync(join(path, name), `# a comment\n${private_key}\n`)
    return ['--identity', name]
  }
  const encrypt = ['--backup-encrypt-to', `${others.public_key},${keys.public_key}`]
  const made = (await run('backup', '--json', ...encrypt)).json()
  expect(made.file).toMatch(/\.tar\.gz\.age$/)
  expect(made.master_key).toBe(true)

  const newest = `${FOLDER}/`
  const there = ['--data-dir', join(path, 'b')]
  for (const [options, problem] of [
    [[], 'the backup is encrypted. Name a file with the private key with --identity'],
    [fileOf((await run('backup', 'keygen', '--json')).json(), 'wrong'), 'encrypted to another key'],
    [['--identity', 'data/master.key'], 'has no private key of age'],
    [
      fileOf({ private_key: keys.private_key.slice(0, -1) }, 'cut'),
      'a private key in the file of --identity is incomplete or was changed\n',
    ],
  ] as const)
    expect(await run('restore', newest, ...options, ...there)).toMatchObject({
      code: 1,
      err: expect.stringContaining(problem),
    })
  const restored = await run('restore', newest, ...fileOf(keys, 'right'), ...there)
  expect(restored).toMatchObject({ code: 0, err: expect.stringContaining(`Using ${made.file}`) })
  expect(tenantsIn(join(path, 'b'))).toContain('before')
  expect(keyIn(join(path, 'b'))).toBe(keyIn(dataDir))

  const local = await run('backup', '--to', 'a.tar.gz.age', ...encrypt)
  expect(local.out).toContain('It contains the master key, encrypted.')
  const checked = await run('backup', 'check', 'a.tar.gz.age', ...fileOf(others, 'other'))
  expect(checked).toMatchObject({ code: 0 })
  const broken = await run('backup', '--to', 'b', '--backup-encrypt-to', `${keys.public_key}q`)
  expect(broken.err).toContain('is not a public key of age')
})

test('Nothing is overwritten, and what is refused says what to do', async () => {
  const { run, s3, path } = setUp()
  const taken = `${FOLDER}/a.tar.gz`
  s3.objects.set('gatehouse/a.tar.gz', { body: new Uint8Array(1), modifiedAt: new Date() })
  const wrongKey = ['--s3-access-key-id', 'other']
  for (const [options, problem] of [
    [['--to', taken], `${taken} already exists and is not overwritten`],
    [['--to', 's3://elsewhere/'], `there is no bucket elsewhere at ${s3.endpoint}`],
    [wrongKey, 'refuses the credentials'],
    [['--s3-endpoint', 'http://127.0.0.1:1'], 'http://127.0.0.1:1 cannot be reached'],
    [['--backup-directory', '/tmp'], 'set either to or directory'],
    [['--s3-access-key-id', ''], 'also set access_key_id'],
    [['--to', 's3://B'], ' is not a location in object storage'],
    [['--to', 's3://bucket/../other/a.tar.gz'], ' is not a location in object storage'],
    [['--to', 's3://bucket/a\nb.tar.gz'], ' is not a location in object storage'],
    [['--backup-to', 's3://bucket/../other'], 'must be the URL of a bucket'],
    [
      ['--backup-directory', join(path, 'none'), '--backup-to', '', '--to', FOLDER],
      'Mount or create it',
    ],
    [['--while-running', '99999999'], 'the process that asked for the backup has ended'],
  ] as const)
    expect(await run('backup', ...options)).toMatchObject({ err: expect.stringContaining(problem) })
  expect((await run('restore', 's3://bucket/empty/')).err).toContain('there is no backup in')
  expect((await run('restore', `${FOLDER}/none.tar.gz`)).err).toContain(
    'none.tar.gz does not exist',
  )
  expect([...s3.objects.keys()]).toEqual(['gatehouse/a.tar.gz'])
  expect(s3.uploads.size).toBe(0)

  const { s3: settings, backup } = testConfig({}, { ...s3.env, GATEHOUSE_BACKUP_TO: FOLDER })
  const levels = async (more = {}) =>
    (await objectStorage({ s3: { ...settings, ...more }, backup })).map(({ result }) => result)
  expect(await levels()).toEqual(['ok', 'warning'])
  expect(await levels({ accessKeyId: 'other' })).toEqual(['problem', 'warning'])
})

test('A large object is uploaded in parts; if that fails or is given up, nothing is kept of it', async () => {
  let refused = 0
  let isJoined = true
  const intercept = ({ url, method }: Request) => {
    if (refused > 0 && url.includes('partNumber=2') && refused-- > 0)
      return new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 })
    // As S3 does: it answers before it has joined the parts.
    if (!isJoined && method === 'POST' && url.includes('uploadId='))
      return new Response('<Error><Code>InternalError</Code></Error>')
  }
  using s3 = startS3Server({ intercept })
  const storage = createObjectStorage(s3.settings)
  const megabyte = (n: number) => Buffer.alloc(1024 * 1024, n)
  async function upload(url: string, megabytes: number, end = () => {}) {
    const sink = storage.upload(url, end)
    const closed = new Promise((resolve) => sink.once('close', resolve))
    let failure: Error | undefined
    sink.once('error', (error) => {
      failure = error
    })
    for (let n = 0; n < megabytes && !failure; n++)
      await new Promise<void>((resolve) => sink.write(megabyte(n), () => resolve()))
    if (!failure) sink.end()
    await closed
    return failure
  }
  // A part that is refused once is sent again.
  refused = 1
  expect(await upload('s3://bucket/large', 40)).toBeUndefined()
  const { body } = s3.objects.get('large') ?? {}
  expect(body?.length).toBe(40 * 1024 * 1024)
  expect(body?.filter((byte, at) => byte !== Math.floor(at / 1024 / 1024)).length).toBe(0)

  const unwanted = () => {
    throw new Error('not wanted')
  }
  expect(await upload('s3://bucket/unwanted', 20, unwanted)).toBeDefined()
  isJoined = false
  expect((await upload('s3://bucket/apart', 20))?.message).toContain(
    '0 of 20971520 bytes were stored',
  )
  await expect(storage.remove('s3://bucket/none')).resolves.toBeUndefined()
  expect([...s3.objects.keys()]).toEqual(['large'])
  expect(s3.uploads.size).toBe(0)
})

test('A list that never ends is given up', async () => {
  const page = Array.from({ length: 1000 }, () => '<Contents><Key>a/b</Key></Contents>').join('')
  const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken>'
  const intercept = () => new Response(`<ListBucketResult>${more}${page}</ListBucketResult>`)
  using s3 = startS3Server({ intercept })
  const listed = createObjectStorage(s3.settings).list('s3://bucket/a')
  await expect(listed).rejects.toThrow('s3://bucket/a has too many objects')
})
