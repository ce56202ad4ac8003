import { expect, test } from 'bun:test'
import { cpSync, renameSync, rmSync } from 'node:fs'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { JOBS, MESSAGES, message, numbers, storageErrors } from './support/api.ts'
import { startLoad } from './support/load.ts'
import { messagesAt, openRelay } from './support/relay.ts'

/** Takes a file or folder away; the result puts it back. */
function move(path: string) {
  renameSync(path, `${path}.away`)
  return () => renameSync(`${path}.away`, path)
}

/** Puts the same bytes in the place of a file or folder. */
function replace(path: string) {
  const putBack = move(path)
  cpSync(`${path}.away`, path, { recursive: true })
  return () => {
    rmSync(path, { recursive: true })
    putBack()
  }
}

const missing = (end = '') => `gatehouse.db${end} was moved or deleted while the server is running`
const replaced = (end = '') => `gatehouse.db${end} was replaced while the server is running`

/** The messages that the server logged as errors. */
const errorsIn = (out: string): string[] =>
  out
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
    .map((line) => JSON.parse(line).message)

test('A server that loses its database files is not ready, acknowledges nothing and starts no job; it goes on once they are back', async () => {
  await using stack = new AsyncDisposableStack()
  const target = stack.use(startTarget())
  const { installation, server, tenant, relay } = await openRelay(stack)
  const { dataDir, database } = installation
  const clockwork = installation.newClient(tenant, 'clockwork')
  const load = startLoad(4, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
  await until(() => load.calls.length > 50)
  const runAt = Date.now() + 3000
  const job = { name: 'late', url: target.url, run_at: new Date(runAt).toISOString() }
  await clockwork.make(server, 'POST', JOBS, job)

  let putBack = move(dataDir)
  const lostAt = performance.now()
  await until(() => load.refused().length > 5 && errorsIn(server.out()).length > 0, server.out)
  await load.stop()
  const late = load.calls.filter(({ askedAt }) => askedAt > lostAt)
  expect(late.filter(({ answer }) => answer.status !== 503)).toEqual([])
  expect(load.broken).toEqual([])
  const port = ['--server-port', new URL(server.url).port]
  expect(await installation.run('healthcheck', ...port)).toMatchObject({ code: 1 })
  expect((await installation.run('doctor', ...port)).out).toContain('has lost its database')
  await until(() => Date.now() > runAt + 300)
  expect(target.requests).toEqual([])
  putBack()

  const send = () => relay.ask(server, 'POST', MESSAGES, message(0))
  const ids = load.ids()
  const readiness = async () => {
    const answer = await fetch(`${server.url}/readyz`)
    return answer.ok ? 'ready' : `${answer.status} ${(await answer.json()).status}`
  }
  for (const [lose, path, sentence] of [
    [move, dataDir, missing()],
    [replace, dataDir, replaced()],
    [move, database, missing()],
    [replace, database, replaced()],
    [move, `${database}-wal`, missing('-wal')],
    [replace, `${database}-wal`, replaced('-wal')],
    [move, `${database}-shm`, missing('-shm')],
  ] as const) {
    const { status, body } = await send()
    expect([path, status, await readiness()]).toEqual([path, 202, 'ready'])
    ids.push(body.id)
    putBack = lose(path)
    for (const _ of numbers(3)) expect(await send()).toMatchObject(storageErrors(sentence).relay)
    expect(await readiness()).toBe(`503 database ${lose === move ? 'missing' : 'replaced'}`)
    putBack()
  }
  const jobs = () => clockwork.make(server, 'GET', JOBS)
  await until(async () => (await jobs())[0].status === 'success', server.out)
  expect(new Set(errorsIn(server.out()))).toEqual(
    new Set(['the database is lost: requests answer 503']),
  )
  const alerts = () =>
    installation.rows<{ kind: string; text: string }>('SELECT kind, text FROM alerts')
  await until(() => alerts().length > 0, server.out)
  const [alert] = alerts()
  expect(alert?.kind).toBe('database.damaged')
  expect(alert?.text).toContain('Requests were refused until it was back.')

  rmSync(`${database}-wal`)
  expect((await send()).status).toBe(503)
  await server.terminate()
  const again = await installation.serve()
  const found = new Set(await messagesAt(again, relay))
  expect(ids.filter((id) => !found.has(id))).toEqual([])
  expect(target.requests).toHaveLength(1)
}, 120_000)
