import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { compileBinary, until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { JOBS, MESSAGES, message, storageErrors } from './support/api.ts'
import { startLoad } from './support/load.ts'
import { messagesAt, openRelay } from './support/relay.ts'

beforeAll(compileBinary, 120_000)

const WITHIN_MS = 5000

type Lose = (place: { dataDir: string; database: string }) => void

const moveAway: Lose = ({ dataDir }) => renameSync(dataDir, `${dataDir}.away`)
const removeAll: Lose = ({ dataDir }) => rmSync(dataDir, { recursive: true })
const replaceAll: Lose = (place) => {
  moveAway(place)
  cpSync(`${place.dataDir}.away`, place.dataDir, { recursive: true })
}
const remove =
  (end: string): Lose =>
  ({ database }) =>
    rmSync(database + end)
/** The same bytes in another file. */
const replace =
  (end: string): Lose =>
  ({ database }) => {
    cpSync(database + end, `${database}.copy`)
    renameSync(`${database}.copy`, database + end)
  }

const missing = (end = '') => `gatehouse.db${end} was moved or deleted while the server is running`
const replaced = (end = '') => `gatehouse.db${end} was replaced while the server is running`

/** `keeps` tells whether the next start finds everything that was acknowledged. */
const LOSSES: [title: string, lose: Lose, sentence: string, keeps: boolean][] = [
  ['the directory is deleted', removeAll, missing(), false],
  ['the directory is moved away', moveAway, missing(), false],
  ['another directory takes its place', replaceAll, replaced(), false],
  ['the database file is deleted', remove(''), missing(), false],
  ['the database file is replaced', replace(''), replaced(), false],
  ['the log is deleted', remove('-wal'), missing('-wal'), true],
  ['the log is replaced', replace('-wal'), replaced('-wal'), true],
  ['the index of the log is deleted', remove('-shm'), missing('-shm'), false],
]

/** The messages that the server logged as errors. */
const errorsIn = (out: string): string[] =>
  out
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .map((line) => JSON.parse(line).message)

describe('A server that loses its database files is not ready, acknowledges nothing and starts no job', () => {
  test.each(LOSSES)(
    '%s',
    async (_, lose, sentence, keeps) => {
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

test('A data directory that is moved away and back is served without a restart, with everything acknowledged', async () => {
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
