import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './binary.ts'
import { installLitestream } from './fake-litestream.ts'
import { temporaryFolder } from './folder.ts'
import { S3_KEY, startS3Server } from './s3-server.ts'

/** Litestream, a database and a bucket. */
function createFixture() {
  const stack = new DisposableStack()
  const [folder, s3] = [stack.use(temporaryFolder()).path, stack.use(startS3Server())]
  const litestream = installLitestream(folder)
  const [path, socket] = [join(folder, 'gatehouse.db'), join(folder, 'litestream.sock')]
  const db = stack.adopt(new Database(path), (open) => open.close())
  db.run('PRAGMA journal_mode = WAL')
  db.run('CREATE TABLE t (n INTEGER)')

  async function start(replica: string, ...args: string[]) {
    const config = join(folder, `${replica}.yml`)
    await Bun.write(config, configOf({ path, socket, replica, endpoint: s3.endpoint }))
    const [command = '', ...rest] = args
    return spawn([litestream, command, '-config', config, ...rest])
  }

  function spawn(command: string[]) {
    const child = Bun.spawn(command, {
      env: {
        LITESTREAM_ACCESS_KEY_ID: S3_KEY.accessKeyId,
        LITESTREAM_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
      },
      stdout: 'pipe',
      stderr: 'ignore',
    })
    stack.defer(() => child.kill('SIGKILL'))
    return child
  }

  async function sync(of = path) {
    const body = JSON.stringify({ path: of, wait: true, timeout: 5 })
    const request = { unix: socket, method: 'POST', body }
    const response = await fetch('http://litestream/sync', request)
    return { code: response.status, ...(await response.json()) }
  }

  const answers = () =>
    sync()
      .then(({ code }) => code === 200)
      .catch(() => false)

  /** Starts replication and waits for the control socket. */
  async function replicate(replica: string) {
    const child = await start(replica, 'replicate')
    await until(answers)
    return child
  }

  const add = (n: number) => void db.run('INSERT INTO t VALUES (?)', [n])
  return {
    ...{ folder, s3, path, litestream, add, spawn, start, replicate, sync, answers },
    [Symbol.dispose]: () => stack.dispose(),
  }
}

const configOf = (at: Record<'path' | 'socket' | 'replica' | 'endpoint', string>) => `socket:
  enabled: true
  path: ${at.socket}
dbs:
  - path: ${at.path}
    monitor-interval: 1s
    replica:
      type: s3
      bucket: bucket
      path: ${at.replica}
      endpoint: ${at.endpoint}
      region: here
      force-path-style: true
`

/** What a restored file has: rows, and the journal mode. */
function contentOf(file: string) {
  using db = new Database(file)
  const rows = db.query<{ n: number }, []>('SELECT n FROM t').all()
  const mode = db.query<{ journal_mode: string }, []>('PRAGMA journal_mode').get()
  return { rows: rows.map(({ n }) => n), ...mode }
}

test('What is committed before a sync is in the bucket after it, also after one that failed', async () => {
  using fixture = createFixture()
  const { folder, s3, add, sync, start } = fixture
  const child = await fixture.replicate('one')
  add(1)
  expect(await sync()).toMatchObject({ code: 200, status: 'synced', path: fixture.path })
  expect(await sync()).toMatchObject({ code: 200, status: 'no_change' })
  expect((await sync('/other.db')).code).toBe(404)
  s3.intercept = ({ method }) =>
    method === 'PUT' ? new Response(null, { status: 403 }) : undefined
  add(2)
  expect((await sync()).code).toBe(500)
  s3.intercept = () => undefined
  add(3)
  const { txid, replicated_txid } = await sync()
  expect(replicated_txid).toBe(txid)
  add(4)
  child.kill()
  expect(await child.exited).toBe(0)

  const restore = async (name: string, ...args: string[]) => {
    const out = join(folder, name)
    return (await start('one', 'restore', ...args, '-o', out, fixture.path)).exited
  }
  const hex = (n: number) => n.toString(16).padStart(16, '0')
  expect(await restore('last')).toBe(0)
  expect(contentOf(join(folder, 'last'))).toEqual({ rows: [1, 2, 3, 4], journal_mode: 'wal' })
  expect(await restore('earlier', '-txid', hex(txid))).toBe(0)
  expect(contentOf(join(folder, 'earlier')).rows).toEqual([1, 2, 3])
  expect(await restore('never', '-txid', hex(txid + 9))).toBe(1)
})

/** For what the real Litestream refuses, or doesn't do. */
const testDouble = test.skipIf(process.env.TEST_LITESTREAM !== undefined)

testDouble(
  'A follower resumes on a path that continues the one before, which alone restores nothing',
  async () => {
    using fixture = createFixture()
    const { s3, path, folder, add, start } = fixture
    const out = join(folder, 'copy.db')
    const follow = (replica: string) =>
      start(replica, 'restore', '-f', '-follow-interval', '50ms', '-o', out, path)
    const has = async (rows: number[]) =>
      until(async () => existsSync(`${out}-txid`) && Bun.deepEquals(contentOf(out).rows, rows))
    const position = async () => Number(`0x${await Bun.file(`${out}-txid`).text()}`)

    const first = await fixture.replicate('one')
    const follower = await follow('one')
    add(1)
    await has([1])
    follower.kill()
    expect(await follower.exited).toBe(0)
    await until(async () => [...s3.objects.keys()].some((key) => key.startsWith('one/0009/')))
    first.kill()
    await first.exited

    const next = (await position()) + 1
    const name = next.toString(16).padStart(16, '0')
    const laid = Buffer.concat([Buffer.from('LTX1'), Buffer.alloc(127)])
    s3.objects.set(`two/0000/${name}-${name}.ltx`, { body: laid, modifiedAt: new Date() })
    const fresh = ['restore', '-o', join(folder, 'fresh.db'), path]
    expect(await (await start('two', ...fresh)).exited).toBe(1)
    await follow('two')
    await until(async () => (await position()) === next)
    expect(contentOf(out).rows).toEqual([1])
    add(2)
    await fixture.replicate('two')
    await has([1, 2])
    await until(async () => (await position()) > next)
  },
)

testDouble('Litestream ends with its parent', async () => {
  using fixture = createFixture()
  const { litestream, spawn, answers, folder } = fixture
  expect(await new Response(spawn([litestream, 'version']).stdout).text()).toBe('v0.5.18\n')
  const child = await fixture.replicate('one')
  child.kill()
  await child.exited
  const config = join(folder, 'one.yml')
  const parent = spawn(['sh', '-c', `${litestream} replicate -config ${config} & wait`])
  await until(answers)
  parent.kill('SIGKILL')
  await until(async () => !(await answers()))
})
