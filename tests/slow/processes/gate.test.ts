import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { GATE_ARGS, gateClient, newGateKey, signIn } from '../../engines/gate/processes.ts'
import { compileBinary, startServer, until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { freePort } from '../../support/port.ts'
import type { ReceivedRequest } from '../../support/target.ts'
import { idOf, numbers, startProducers, startReceiver } from './receiver.ts'

beforeAll(compileBinary, 120_000)

const PEOPLE = 1500
const KILLS = 8
const PRODUCERS = 16
/** Most requests of one process to one webhook at a time: first attempts and retries. */
const MAX_IN_FLIGHT = 16 + 4

const emailOf = (n: number) => `person-${n}@example.com`
const eventIn = ({ body }: ReceivedRequest) => JSON.parse(body)
const numberIn = (request: ReceivedRequest) =>
  Number(/\d+/.exec(eventIn(request).data.payload.email)?.[0])
const isOpen = ({ status }: { status: string }) => status !== 'succeeded'

/** Checks the signature of the contract without our own code. */
function isSigned({ headers, body }: ReceivedRequest, secret: string): boolean {
  const [timestamp = '', signature] = (headers.get('x-service-signature') ?? '').split(',')
  const hmac = createHmac('sha256', secret).update(`${timestamp.slice(2)}.${body}`)
  return signature === `v1=${hmac.digest('hex')}`
}

test('8 times kill -9 lose none of 1,500 users, nor the event of any of them', async () => {
  using folder = temporaryFolder()
  await using receiver = startReceiver(numberIn)
  const { target, arrivals, refused } = receiver
  const args = [...GATE_ARGS, '--server-port', `${freePort()}`]
  const launch = { cwd: folder.path, args }
  await using stack = new AsyncDisposableStack()
  let server = await startServer(launch)
  stack.defer(() => server[Symbol.asyncDispose]())
  const { url } = server
  const { tenantId, key } = await newGateKey(folder.path)
  const api = gateClient(key)
  const { secret } = await api.createWebhook(url, { url: target.url })

  const made = new Map<string, string>()
  const producers = startProducers({ count: PEOPLE, producers: PRODUCERS }, async (n) => {
    const { status, body } = await api.tryCreate(url, emailOf(n))
    if (status === 201) made.set(emailOf(n), body.id)
    // After a broken connection, the user may exist.
    else if (status !== 409) throw new Error(`${status}: ${JSON.stringify(body)}`)
  })
  for (const kill of numbers(KILLS)) {
    const moment = ((kill + 0.7) / KILLS) * 1.9 * PEOPLE
    await until(() => producers.ended() + arrivals.size >= moment, server.out)
    await server.kill()
    server = await startServer(launch)
  }
  await producers.done
  await until(() => arrivals.size >= PEOPLE, server.out)
  await until(async () => !(await api.deliveries(url)).some(isOpen), server.out)

  const people = await api.identities(url)
  const byEmail = new Map(people.map(({ id, traits }) => [traits.email, id]))
  expect(people).toHaveLength(PEOPLE)
  expect(new Set(byEmail.keys())).toEqual(new Set(numbers(PEOPLE).map(emailOf)))
  expect(producers.cutOff()).toBeGreaterThan(0)
  expect(made.size).toBeGreaterThanOrEqual(PEOPLE - KILLS * PRODUCERS)
  for (const [email, id] of made) expect(byEmail.get(email)).toBe(id)

  const events = new Map<string, string>()
  for (const request of target.requests) {
    const event = eventIn(request)
    const { identity_id, payload } = event.data
    expect(isSigned(request, secret)).toBe(true)
    expect(event).toMatchObject({ event_type: 'identity.created', tenant_id: tenantId })
    expect([event.event_id, identity_id]).toEqual([idOf(request), byEmail.get(payload.email)])
    expect(events.get(identity_id) ?? event.event_id).toBe(event.event_id)
    events.set(identity_id, event.event_id)
  }
  expect(new Set(events.keys())).toEqual(new Set(byEmail.values()))
  expect(new Set(arrivals.keys())).toEqual(new Set(events.values()))
  expect(refused.size).toBe(PEOPLE / 20)
  expect(await api.deliveries(url)).toHaveLength(PEOPLE)
  const repeated = target.requests.length - PEOPLE - refused.size
  expect(repeated).toBeGreaterThan(0)
  expect(repeated).toBeLessThanOrEqual(KILLS * MAX_IN_FLIGHT)
}, 300_000)

describe('two processes on one data directory', () => {
  async function startTwo() {
    const stack = new AsyncDisposableStack()
    const folder = stack.use(temporaryFolder())
    const launch = { cwd: folder.path, args: GATE_ARGS }
    const { url: first } = stack.use(await startServer(launch))
    const { key } = await newGateKey(folder.path)
    const { url: second } = stack.use(await startServer(launch))
    const api = gateClient(key)

    /** Creates users through both in turn. */
    async function createAll(count: number): Promise<string[]> {
      const ids: string[] = []
      await startProducers({ count, producers: PRODUCERS }, async (n) => {
        ids.push((await api.create(n % 2 === 0 ? first : second, emailOf(n))).id)
      }).done
      return ids
    }

    const dataDir = join(folder.path, 'data')
    const dispose = () => stack.disposeAsync()
    return { first, second, api, dataDir, createAll, [Symbol.asyncDispose]: dispose }
  }

  test('deliver the event of each of 400 users once, and retry only what was refused', async () => {
    await using two = await startTwo()
    const { first, second, api, createAll } = two
    await using receiver = startReceiver(numberIn)
    const { target, arrivals, refused } = receiver
    const { secret } = await api.createWebhook(second, { url: target.url })
    const ids = await createAll(400)
    await until(() => arrivals.size === 400)
    await until(async () => !(await api.deliveries(first)).some(isOpen))

    expect(refused.size).toBe(20)
    const byPerson = Map.groupBy(target.requests, (one) => eventIn(one).data.identity_id)
    expect([...byPerson.keys()].toSorted()).toEqual(ids.toSorted())
    for (const requests of byPerson.values()) {
      const [request] = requests as [ReceivedRequest]
      expect(requests).toHaveLength(refused.has(idOf(request)) ? 2 : 1)
      expect(requests.map(({ body }) => body)).toEqual(requests.map(() => request.body))
      expect(requests.every((one) => isSigned(one, secret))).toBe(true)
    }
    for (const url of [first, second]) {
      expect((await api.identities(url)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
      expect(await api.deliveries(url)).toHaveLength(400)
    }
  }, 300_000)

  test('both know at once that a user was deactivated or deleted through one of them', async () => {
    await using two = await startTwo()
    const { first, second, api, dataDir, createAll } = two
    const ids = await createAll(24)
    const sessions = await signIn(dataDir, ids)
    for (const [n, id] of ids.entries()) {
      const person = { id }
      const session = sessions[n] as string
      const [here, there] = n % 2 === 0 ? [first, second] : [second, first]
      const { access_token: token } = (await api.mint(here, person)).body
      for (const url of [there, here]) {
        expect(await api.introspect(url, token)).toMatchObject({ active: true, subject: id })
        expect(await api.whoami(url, session)).toMatchObject({ status: 200 })
      }
      if (n % 3 === 0) await api.remove(here, person)
      else await api.setState(here, person, 'inactive')

      expect(await api.introspect(there, token)).toEqual({ active: false })
      expect(await api.whoami(there, session)).toMatchObject({ status: 401 })
      if (n % 3 === 0) {
        expect(await api.read(there, person)).toMatchObject({ status: 404 })
        continue
      }
      expect(await api.mint(there, person)).toMatchObject({ status: 403 })
      await api.setState(there, person, 'active')
      expect(await api.read(here, person)).toMatchObject({ body: { state: 'active' } })
      expect(await api.introspect(here, token)).toEqual({ active: false })
      expect(await api.whoami(here, session)).toMatchObject({ status: 401 })
      expect(await api.mint(here, person)).toMatchObject({ status: 200 })
    }
  }, 300_000)
})
