import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { compileBinary, until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { ENDPOINTS, IDENTITIES, MESSAGES, message, person } from './support/api.ts'
import { type Call, isDone, startLoad } from './support/load.ts'
import { eventId, messagesAt, openRelay } from './support/relay.ts'
import { wellUntil } from './support/waiting.ts'

beforeAll(compileBinary, 120_000)

// Both wait most of the time.
describe('A lock of another program', () => {
  for (const { ms, isRefused, rule } of [
    { ms: 3000, isRefused: false, rule: '3 s delays writes' },
    { ms: 7000, isRefused: true, rule: '7 s is a 503 after 5 s' },
  ])
    test.concurrent(`of ${rule}; reads go on and nothing is lost`, async () => {
      await using stack = new AsyncDisposableStack()
      const { installation, server, tenant, relay } = await openRelay(stack)
      const target = stack.use(startTarget())
      const gate = await installation.newClient(tenant, 'gate')
      await relay.make(server, 'POST', ENDPOINTS, { url: target.url })
      const messages = startLoad(8, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
      const people = startLoad(4, (n) => gate.ask(server, 'POST', IDENTITIES, person(n)))
      const loads = [messages, people]
      await until(() => loads.every(({ calls }) => calls.length > 20))
      using locker = new Database(installation.database)
      locker.run('PRAGMA busy_timeout = 5000')

      locker.run('BEGIN IMMEDIATE')
      const begunAt = performance.now()
      expect(await wellUntil(server, begunAt + ms)).toBeLessThan(1500)
      expect((await relay.walk(server, MESSAGES)).length).toBeGreaterThan(0)
      locker.run('COMMIT')
      const endedAt = performance.now()
      const isAfter = (call: Call) => call.askedAt > endedAt && isDone(call)
      await until(() => loads.every(({ calls }) => calls.some(isAfter)))
      await Promise.all(loads.map((load) => load.stop()))

      const refused = loads.flatMap((load) => load.refused())
      expect(refused.length > 0).toBe(isRefused)
      const sentence = 'storage: another process holds the database lock'
      for (const { answer } of refused) {
        expect(answer.status).toBe(503)
        expect(answer.headers.get('retry-after')).toBe('1')
        expect(JSON.stringify(answer.body)).toContain(sentence)
      }
      expect(loads.flatMap(({ broken }) => broken)).toEqual([])
      const found = (await gate.walk(server, IDENTITIES)).map(({ id }) => id)
      expect(found.toSorted()).toEqual(people.ids().toSorted())
      expect((await messagesAt(server, relay)).toSorted()).toEqual(messages.ids().toSorted())
      await until(() => target.requests.length >= messages.ids().length, server.out)
      expect(target.requests.map(eventId).toSorted()).toEqual(messages.ids().toSorted())
    }, 300_000)
})
