import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { compileBinary, until } from '../support/binary.ts'
import { JOBS, MESSAGES, message, storageErrors } from '../support/resilience/api.ts'
import { startLoad } from '../support/resilience/load.ts'
import { messagesAt, openRelay } from '../support/resilience/relay.ts'
import { startTarget } from '../support/target.ts'

beforeAll(compileBinary, 120_000)

const WITHIN_MS = 5000

interface Place {
  dataDir: string
  database: string
}

/** A copy in the place of the original: the same bytes, another file. */
function replace(path: string) {
  cpSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
}

const moveAway = ({ dataDir }: Place) => renameSync(dataDir, `${dataDir}.away`)

const missing = (name: string) => `${name} was moved or deleted while the server is running`
const replaced = (name: string) => `${name} was replaced while the server is running`

/** `keeps` says whether a stop and a start find all that was acknowledged. */
const LOSSES: [string, { lose: (place: Place) => void; sentence: string; keeps?: boolean }][] = [
  [
    'the directory is deleted',
    {
      lose: ({ dataDir }) => rmSync(dataDir, { recursive: true }),
      sentence: missing('gatehouse.db'),
    },
  ],
  ['the directory is moved away', { lose: moveAway, sentence: missing('gatehouse.db') }],
  [
    'another directory is put in its place',
    {
      lose: (place) => {
        moveAway(place)
        cpSync(`${place.dataDir}.away`, place.dataDir, { recursive: true })
      },
      sentence: replaced('gatehouse.db'),
    },
  ],
  [
    'the database file alone is deleted',
    { lose: ({ database }) => rmSync(database), sentence: missing('gatehouse.db') },
  ],
  [
    'the database file is replaced by a copy',
    { lose: ({ database }) => replace(database), sentence: replaced('gatehouse.db') },
  ],
  [
    'the log is deleted',
    {
      lose: ({ database }) => rmSync(`${database}-wal`),
      sentence: missing('gatehouse.db-wal'),
      keeps: true,
    },
  ],
  [
    'the log is replaced by a copy',
    {
      lose: ({ database }) => replace(`${database}-wal`),
      sentence: replaced('gatehouse.db-wal'),
      keeps: true,
    },
  ],
  [
    'the index of the log is deleted',
    { lose: ({ database }) => rmSync(`${database}-shm`), sentence: missing('gatehouse.db-shm') },
  ],
]

/** Everything at level `error` that the server has logged. */
const errorsIn = (out: string): string[] =>
  out
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .map((line) => JSON.parse(line).message)

describe('a server whose database files are lost under load is not ready, acknowledges nothing and starts no job', () => {
  test.each(LOSSES)(
    '%s',
    async (_, { lose, sentence, keeps }) => {
      await using stack = new AsyncDisposableStack()
      const target = stack.use(startTarget())
      const { installation, server, tenant, relay } = await openRelay(stack)
      const clockwork = await installation.newClient(tenant, 'clockwork')
      const runAt = Date.now() + 3000
      const job = { name: 'late', url: target.url, run_at: new Date(runAt).toISOString() }
      await clockwork.make(server, 'POST', JOBS, job)
      const load = startLoad(4, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
      await until(() => load.calls.length > 50)
      lose(installation)
      const lostAt = performance.now()
      await until(() => load.refused().length > 20, server.out, WITHIN_MS)
      const ready = await fetch(`${server.url}/readyz`)
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { status: `database ${sentence.includes('replaced') ? 'replaced' : 'missing'}` },
      ])
      await load.stop()

      const { relay: body } = storageErrors(sentence)
      expect(load.refused().at(-1)?.answer).toMatchObject({ status: 503, body })
      const late = load.calls.filter(({ askedAt }) => askedAt > lostAt)
      expect(late.filter(({ answer }) => answer.status !== 503)).toEqual([])
      const port = ['--server-port', new URL(server.url).port]
      expect(await installation.run('healthcheck', ...port)).toMatchObject({ code: 1 })
      expect((await installation.run('doctor', ...port)).out).toContain('has lost its database')
      await until(() => errorsIn(server.out()).length > 0, server.out, WITHIN_MS)
      await until(() => Date.now() > runAt + 1000)
      expect(errorsIn(server.out())).toEqual(['the database is lost: requests answer 503'])
      expect(target.requests).toEqual([])

      if (!keeps) return
      await server.terminate()
      const again = await installation.serve()
      const found = new Set(await messagesAt(again, relay))
      expect(load.ids().filter((id) => !found.has(id))).toEqual([])
    },
    120_000,
  )
})

test('a data directory that is moved away and back is served again without a restart, with all that was acknowledged and no error but one', async () => {
  await using stack = new AsyncDisposableStack()
  const { installation, server, relay } = await openRelay(stack)
  const load = startLoad(4, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
  await until(() => load.calls.length > 50)
  moveAway(installation)
  mkdirSync(installation.dataDir)
  await until(() => errorsIn(server.out()).length > 0, server.out, WITHIN_MS)
  rmSync(installation.dataDir, { recursive: true })
  renameSync(`${installation.dataDir}.away`, installation.dataDir)
  const before = load.ids().length
  await until(() => load.ids().length > before + 50, server.out, WITHIN_MS)
  await load.stop()

  expect(load.broken).toEqual([])
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect(errorsIn(server.out())).toEqual(['the database is lost: requests answer 503'])
  expect(await server.terminate()).toBe(0)
  const again = await installation.serve()
  const found = new Set(await messagesAt(again, relay))
  expect(load.ids().filter((id) => !found.has(id))).toEqual([])
}, 120_000)
