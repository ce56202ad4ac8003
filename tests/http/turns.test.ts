import { expect, test } from 'bun:test'
import { createTurns } from '../../src/http/turns.ts'
import { type TestApp, useApp } from '../support/app.ts'
import { newOperator } from '../support/operator.ts'

const app = await useApp()

const JOBS = '/v1/clockwork/jobs'
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

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

/** A tenant with a list of many jobs. */
async function busyTenant() {
  const busy = await app.tenant('Busy')
  const job = { name: 'Nightly', url: 'http://127.0.0.1:9/', schedule: '0 0 * * *' }
  await busy.api.post(JOBS, job)
  addCopies(app, busy.id, 400)
  return busy
}

/** Uses up a turn of the event loop, as a slow request does that is the first of it. */
async function useUpTurn() {
  const { api } = await app.tenant()
  await api.get(JOBS)
  await nextTurn()
  void api.get(JOBS)
  for (let n = 0; n < 50; n++) await null
  busyFor(12)
}

/** Stores the only job of a tenant once more, `count` times, each with an id of its own. */
function addCopies({ db: { client } }: TestApp, tenantId: string, count: number) {
  const names = client
    .query<{ name: string }, []>(
      "SELECT name FROM pragma_table_info('cron_jobs') WHERE name <> 'seq'",
    )
    .all()
    .map(({ name }) => `"${name}"`)
  const values = names.map((name) => (name === '"id"' ? "id || '-' || n" : name))
  client.run(
    `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     INSERT INTO cron_jobs (${names}) SELECT ${values} FROM cron_jobs, numbers WHERE tenant_id = ?`,
    [tenantId],
  )
}

test('Requests that fit into one turn of the event loop do not wait', () => {
  const turns = createTurns(60_000)
  expect(['a', 'a', 'b'].map((lane) => turns.take(lane))).toEqual([undefined, undefined, undefined])
})

test('With no time in a turn, one request starts per turn of the event loop', async () => {
  const turns = createTurns(0)
  const started: string[] = []
  const all = ['a', 'a', 'b'].map((lane) => turns.take(lane)?.then(() => started.push(lane)))
  const seen: number[] = []
  while (started.length < all.length) {
    await nextTurn()
    seen.push(started.length)
  }
  expect(new Set(seen)).toEqual(new Set([1, 2, 3]))
})

test('A lane of many slow requests lets another in after one of them, and the event loop go on', async () => {
  const turns = exhaustedTurns()
  const handled: string[] = []
  async function handle(lane: string, ms: number) {
    await turns.take(lane)
    // As many microtasks as the framework takes from its hooks to a handler.
    for (let n = 0; n < 16; n++) await null
    busyFor(ms)
    handled.push(lane)
  }
  const all = Array.from({ length: 10 }, () => handle('slow', 6))
  all.push(handle('other', 0))
  let loops = 0
  while (handled.length < all.length) {
    await nextTurn()
    loops++
  }
  expect(handled.indexOf('other')).toBe(1)
  expect(loops).toBeGreaterThanOrEqual(5)
})

test('Within a lane the oldest request goes first', async () => {
  const turns = exhaustedTurns()
  const seen: number[] = []
  await Promise.all([1, 2, 3].map((n) => turns.take('a')?.then(() => seen.push(n))))
  expect(seen).toEqual([1, 2, 3])
})

test('A tenant that asks for a long list again and again keeps no other tenant waiting', async () => {
  const [busy, other] = [await busyTenant(), await app.tenant('Other')]
  let answered = 0
  await useUpTurn()
  const all = Array.from({ length: 20 }, async () => {
    const { body } = await busy.api.get(JOBS)
    answered++
    return body.length
  })
  const { status } = await other.api.get(JOBS)
  const before = answered
  expect(status).toBe(200)
  expect(before).toBeLessThan(10)
  expect(new Set(await Promise.all(all))).toEqual(new Set([401]))
})

test('A request whose key is revoked while it waits for its turn is refused', async () => {
  const { id, key } = await (await busyTenant()).key('clockwork')
  const { get } = app.client(key)
  await useUpTurn()
  const all = Array.from({ length: 20 }, async () => (await get(JOBS)).status)
  await app.platform.keys.revoke({ kind: 'cli', source: 'test' }, id)
  expect((await Promise.all(all)).at(-1)).toBe(401)
})

test('An operator who opens a long page again and again keeps no tenant waiting', async () => {
  const [busy, other] = [await busyTenant(), await app.tenant('Other')]
  const operator = await newOperator(app, { roles: { [busy.id]: 'viewer' } })
  const { headers } = await operator.signIn()
  let answered = 0
  await useUpTurn()
  const all = Array.from({ length: 8 }, async () => {
    const { status } = await app.raw(`/console/${busy.id}/jobs`, { headers })
    answered++
    return status
  })
  const { status } = await other.api.get(JOBS)
  const before = answered
  expect(status).toBe(200)
  expect(before).toBeLessThan(4)
  expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
})
