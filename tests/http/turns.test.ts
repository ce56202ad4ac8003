import { expect, test } from 'bun:test'
import { createTurns } from '../../src/http/turns.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { newOperator } from '../support/operator.ts'

function busyFor(ms: number) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Turns of which the present one is used up. */
function exhaustedTurns() {
  const turns = createTurns()
  turns.take('first')
  busyFor(12)
  return turns
}

test('requests that fit into one turn of the event loop do not wait', () => {
  const turns = createTurns(60_000)

  expect(['a', 'a', 'b'].map((lane) => turns.take(lane))).toEqual([undefined, undefined, undefined])
})

test('a lane of many slow requests lets another in after one of them, and the event loop go on', async () => {
  const turns = exhaustedTurns()
  const handled: string[] = []

  async function handle(lane: string, ms: number) {
    await turns.take(lane)
    // As many microtasks as the framework takes from its hooks to a handler.
    for (let n = 0; n < 16; n++) await null
    busyFor(ms)
    handled.push(lane)
  }

  const all = Array.from({ length: 20 }, () => handle('slow', 6))
  all.push(handle('other', 0))
  let loops = 0
  while (handled.length < all.length) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    loops++
  }

  expect(handled.indexOf('other')).toBe(1)
  expect(loops).toBeGreaterThanOrEqual(10)
})

test('within a lane the oldest request goes first', async () => {
  const turns = exhaustedTurns()
  const seen: number[] = []
  await Promise.all([1, 2, 3].map((n) => turns.take('a')?.then(() => seen.push(n))))

  expect(seen).toEqual([1, 2, 3])
})

test('a tenant that asks for a long list a hundred times keeps no other tenant waiting', async () => {
  await using app = await bootTestApp()
  const [busy, other] = [await app.tenant('Busy'), await app.tenant('Other')]
  await busy.api.post('/v1/clockwork/jobs', JOB)
  addCopies(app, 'cron_jobs', 2000)
  let answered = 0
  const all = Array.from({ length: 100 }, async () => {
    const { body } = await busy.api.get('/v1/clockwork/jobs')
    answered++
    return body.length
  })
  await new Promise<void>((resolve) => setImmediate(resolve))
  const { status } = await other.api.get('/v1/clockwork/jobs')
  const before = answered

  expect(status).toBe(200)
  expect(before).toBeLessThan(50)
  expect(new Set(await Promise.all(all))).toEqual(new Set([2001]))
})

test('a request whose key is revoked while it waits for its turn is refused', async () => {
  await using app = await bootTestApp()
  const busy = await app.tenant('Busy')
  const { id, key } = await busy.key('clockwork')
  const { get, post } = app.client(key)
  await post('/v1/clockwork/jobs', JOB)
  addCopies(app, 'cron_jobs', 2000)
  const all = Array.from({ length: 60 }, async () => (await get('/v1/clockwork/jobs')).status)
  await new Promise<void>((resolve) => setImmediate(resolve))
  await app.platform.keys.revoke({ kind: 'cli', source: 'test' }, id)

  expect((await Promise.all(all)).at(-1)).toBe(401)
})

test('an operator who opens a long page again and again keeps no tenant waiting', async () => {
  await using app = await bootTestApp()
  const [busy, other] = [await app.tenant('Busy'), await app.tenant('Other')]
  await busy.api.post('/v1/clockwork/jobs', JOB)
  addCopies(app, 'cron_jobs', 2000)
  const operator = await newOperator(app, { roles: { [busy.id]: 'viewer' } })
  const { headers } = await operator.signIn()
  let answered = 0
  const open = async () => {
    const { status } = await app.raw('/console/jobs', { headers })
    answered++
    return status
  }
  const all: Promise<number>[] = []
  for (let n = 0; n < 60; n++) {
    all.push(open())
    // As on sockets, where a request is handled before the next one is read.
    for (let m = 0; m < 20; m++) await null
  }
  await new Promise<void>((resolve) => setImmediate(resolve))
  const { status } = await other.api.get('/v1/clockwork/jobs')
  const before = answered

  expect(status).toBe(200)
  expect(before).toBeLessThan(30)
  expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
})

const JOB = { name: 'Nightly', url: 'http://127.0.0.1:9/', schedule: '0 0 * * *' }

/** Stores the only row of a table once more, `count` times, each with an id of its own. */
function addCopies({ db: { client } }: TestApp, table: string, count: number) {
  const names = client
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?) WHERE name <> 'seq'")
    .all(table)
    .map(({ name }) => `"${name}"`)
  const values = names.map((name) => (name === '"id"' ? "id || '-' || n" : name))
  client.run(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     INSERT INTO ${table} (${names}) SELECT ${values} FROM ${table}, numbers`,
  )
}

test('with no time in a turn, one request starts per turn of the event loop', async () => {
  const turns = createTurns(0)
  const started: string[] = []
  const all = ['a', 'a', 'b'].map((lane) => turns.take(lane)?.then(() => started.push(lane)))
  const seen: number[] = []
  while (started.length < all.length) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    seen.push(started.length)
  }

  expect(new Set(seen)).toEqual(new Set([1, 2, 3]))
})
