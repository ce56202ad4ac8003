import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { openDatabase } from '../../../src/db/open.ts'
import { createHome, PROCESS, tenantsIn } from '../../platform/backup/fixture.ts'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { ENDPOINTS, eventId, IDENTITIES, MESSAGES, message, person } from './support/api.ts'
import { type Call, isDone, startLoad } from './support/load.ts'
import { messagesAt, openRelay } from './support/relay.ts'

test('A lock of another program delays writes, and refuses them with 503 after 5 s; reads go on and nothing is lost', async () => {
  await using stack = new AsyncDisposableStack()
  const settings = { GATEHOUSE_METRICS_ENABLED: 'true' }
  const { installation, server, tenant, relay } = await openRelay(stack, { settings })
  const target = stack.use(startTarget())
  const gate = installation.newClient(tenant, 'gate')
  await relay.make(server, 'POST', ENDPOINTS, { url: target.url })
  const messages = startLoad(4, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
  const people = startLoad(2, (n) => gate.ask(server, 'POST', IDENTITIES, person(n)))
  const loads = [messages, people]
  await until(() => loads.every(({ calls }) => calls.length > 20))
  using locker = new Database(installation.database)
  locker.run('PRAGMA busy_timeout = 5000')
  locker.run('BEGIN IMMEDIATE')
  const begunAt = performance.now()
  await until(() => loads.some((load) => load.refused().length > 0))
  expect(performance.now() - begunAt).toBeGreaterThan(4500)
  const askedAt = performance.now()
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  expect(performance.now() - askedAt).toBeLessThan(1500)
  expect((await relay.walk(server, MESSAGES)).length).toBeGreaterThan(0)
  locker.run('COMMIT')
  const endedAt = performance.now()
  const isDelayed = (call: Call) =>
    call.askedAt < endedAt && call.answeredAt > endedAt && isDone(call)
  await until(() => loads.every(({ calls }) => calls.some(isDelayed)))
  await Promise.all(loads.map((load) => load.stop()))

  for (const { answer } of loads.flatMap((load) => load.refused())) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    const sentence = 'storage: another process holds the database lock'
    expect(JSON.stringify(answer.body)).toContain(sentence)
  }
  expect(loads.flatMap(({ broken }) => broken)).toEqual([])
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  expect(Number(/^gatehouse_storage_failures_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0)
  const found = (await gate.walk(server, IDENTITIES)).map(({ id }) => id)
  expect(found.toSorted()).toEqual(people.ids().toSorted())
  expect((await messagesAt(server, relay)).toSorted()).toEqual(messages.ids().toSorted())
  await until(() => target.requests.length >= messages.ids().length, server.out)
  expect(target.requests.map(eventId).toSorted()).toEqual(messages.ids().toSorted())
}, 300_000)

test('A restore is refused beside a command that has the database open, whose writes stay', async () => {
  using home = createHome()
  const { file } = await home.backUp('a.tar.gz')
  home.db.close()
  // Such as `import` or `tenant create`, which write no heartbeat.
  const command = openDatabase({ dataDir: home.dataDir, synchronous: 'full' })
  // This process has the database open too, so that only the lock can tell.
  const restored = home.restore(file, { process: { ...PROCESS, pid: process.pid } })
  await expect(restored).rejects.toThrow('has the database in')
  command.client.run(`INSERT INTO tenants (id, name, plan, status, created_at, updated_at)
        VALUES ('t', 't', 'free', 'active', 0, 0)`)
  command.close()
  expect(tenantsIn(home.dataDir)).toEqual(['t'])
  expect(readdirSync(home.dataDir).filter((name) => name.includes('restore'))).toEqual([])
})
