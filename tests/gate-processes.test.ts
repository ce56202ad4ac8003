import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import {
  GATE_ARGS,
  type GateClient,
  gateClient,
  newGateKey,
  signIn,
} from './engines/gate/processes.ts'
import { compileBinary, type Server, startServer, until } from './support/binary.ts'
import { temporaryFolder } from './support/folder.ts'
import { freePort } from './support/port.ts'
import { type ReceivedRequest, startTarget } from './support/target.ts'

beforeAll(compileBinary, 120_000)

const PEOPLE = 1500
const KILLS = 8
const PRODUCERS = 16
/** What one process may have under way at one webhook: first attempts and further ones. */
const MAX_IN_FLIGHT = 16 + 4

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const emailOf = (n: number) => `person-${n}@example.com`

const eventIn = ({ body }: ReceivedRequest) => JSON.parse(body)
const identityIn = (request: ReceivedRequest): string => eventIn(request).data.identity_id
const idOf = ({ headers }: ReceivedRequest): string => headers.get('webhook-id') as string

/** The contract's scheme, apart from our own code. */
function isSigned({ headers, body }: ReceivedRequest, secret: string): boolean {
  const [timestamp = '', signature] = (headers.get('x-service-signature') ?? '').split(',')
  const hmac = createHmac('sha256', secret).update(`${timestamp.slice(2)}.${body}`)
  return signature === `v1=${hmac.digest('hex')}`
}

/** Takes each event once it is sent; every 20th is refused when it comes for the first time. */
function startReceiver() {
  const arrivals = new Map<string, number>()
  const refused = new Set<string>()
  const target = startTarget((request) => {
    const id = idOf(request)
    const n = Number(/\d+/.exec(eventIn(request).data.payload.email)?.[0])
    if (n % 20 === 0 && !refused.has(id)) {
      refused.add(id)
      return new Response('not now', { status: 503 })
    }
    arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
    return new Response('ok')
  })
  return { target, arrivals, refused }
}

/** Producers that ask for each person until they are told that there is one. */
function startProducers(api: GateClient, url: string) {
  const made = new Map<string, string>()
  let begun = 0
  let ended = 0
  let cutOff = 0

  /** A broken connection says nothing: the person may be there, and then the address is taken. */
  async function createOne(email: string) {
    for (;;) {
      try {
        const { status, body } = await api.tryCreate(url, email)
        if (status === 201) return void made.set(email, body.id)
        if (status === 409) return
        throw new Error(`${status}: ${JSON.stringify(body)}`)
      } catch (error) {
        if (!isBroken(error)) throw error
        cutOff++
        await Bun.sleep(10)
      }
    }
  }

  async function produce() {
    while (begun < PEOPLE) {
      await createOne(emailOf(begun++))
      ended++
    }
  }

  const done = Promise.all(Array.from({ length: PRODUCERS }, produce))
  return { made, done, ended: () => ended, cutOff: () => cutOff }
}

const isBroken = (error: unknown) => error instanceof Error && 'code' in error

test('1,500 people while the process is killed with -9 eight times: each who was answered is there and was told of, and nobody who is not', async () => {
  using folder = temporaryFolder()
  const { target, arrivals, refused } = startReceiver()
  await using _ = target
  const samePort = ['--server-port', `${freePort()}`]
  const launch = { cwd: folder.path, args: [...GATE_ARGS, ...samePort] }
  await using stack = new AsyncDisposableStack()
  let server = await startServer(launch)
  stack.defer(() => server[Symbol.asyncDispose]())
  const { url } = server
  const { tenantId, key } = await newGateKey(folder.path)
  const api = gateClient(key)
  const { secret } = await api.createWebhook(url, { url: target.url })

  const { made, done, ended, cutOff } = startProducers(api, url)
  const progress = () => ended() + arrivals.size
  for (const kill of numbers(KILLS)) {
    const moment = ((kill + 0.7) / KILLS) * 1.9 * PEOPLE
    await until(() => progress() >= moment, server.out)
    await server.kill()
    server = await startServer(launch)
  }
  await done
  await until(() => arrivals.size >= PEOPLE, server.out)
  const isOpen = ({ status }: { status: string }) => status !== 'succeeded'
  await until(async () => !(await api.deliveries(url)).some(isOpen), server.out)

  const people = await api.identities(url)
  const byEmail = new Map(people.map(({ id, traits }) => [traits.email, id]))
  expect(people).toHaveLength(PEOPLE)
  expect(new Set(byEmail.keys())).toEqual(new Set(numbers(PEOPLE).map(emailOf)))
  expect(cutOff()).toBeGreaterThan(0)
  expect(made.size).toBeGreaterThanOrEqual(PEOPLE - KILLS * PRODUCERS)
  for (const [email, id] of made) expect(byEmail.get(email)).toBe(id)

  const events = new Map<string, string>()
  for (const request of target.requests) {
    const event = eventIn(request)
    expect(isSigned(request, secret)).toBe(true)
    expect(event).toMatchObject({ event_type: 'identity.created', tenant_id: tenantId })
    expect(event.event_id).toBe(idOf(request))
    expect(event.data.identity_id).toBe(byEmail.get(event.data.payload.email))
    expect(events.get(event.data.identity_id) ?? event.event_id).toBe(event.event_id)
    events.set(event.data.identity_id, event.event_id)
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
    const first = stack.use(await startServer(launch))
    const { tenantId, key } = await newGateKey(folder.path)
    const second = stack.use(await startServer(launch))
    const api = gateClient(key)

    /** In turns through both. */
    async function createAll(count: number): Promise<string[]> {
      const rest = numbers(count).values()
      const ids: string[] = []
      const servers = [first, second] as const
      async function produce() {
        for (const n of rest)
          ids.push((await api.create((servers[n % 2] as Server).url, emailOf(n))).id)
      }
      await Promise.all(Array.from({ length: PRODUCERS }, produce))
      return ids
    }

    const dispose = () => stack.disposeAsync()
    const dataDir = join(folder.path, 'data')
    return { first, second, api, tenantId, dataDir, createAll, [Symbol.asyncDispose]: dispose }
  }

  test('tell a webhook of each of 400 people once, and try again only what was refused', async () => {
    await using two = await startTwo()
    const { first, second, api, createAll } = two
    const { target, arrivals, refused } = startReceiver()
    await using _ = target
    const { secret } = await api.createWebhook(second.url, { url: target.url })

    const ids = await createAll(400)
    await until(() => arrivals.size === 400, first.out)
    const isOpen = ({ status }: { status: string }) => status !== 'succeeded'
    await until(async () => !(await api.deliveries(first.url)).some(isOpen), first.out)

    expect(refused.size).toBe(20)
    const taken = Map.groupBy(target.requests, identityIn)
    expect([...taken.keys()].toSorted()).toEqual(ids.toSorted())
    for (const requests of taken.values()) {
      const [{ body }] = requests as [ReceivedRequest]
      expect(requests).toHaveLength(refused.has(idOf(requests[0] as ReceivedRequest)) ? 2 : 1)
      for (const request of requests) {
        expect(request.body).toBe(body)
        expect(isSigned(request, secret)).toBe(true)
      }
    }
    for (const { url } of [first, second]) {
      expect((await api.identities(url)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
      expect(await api.deliveries(url)).toHaveLength(400)
    }
  }, 300_000)

  test('both know at once who was deactivated or deleted through one of them', async () => {
    await using two = await startTwo()
    const { first, second, api, dataDir, createAll } = two
    const ids = await createAll(24)
    const sessions = await signIn(dataDir, ids)

    for (const [n, id] of ids.entries()) {
      const person = { id }
      const session = sessions[n] as string
      const [here, there] = n % 2 === 0 ? [first.url, second.url] : [second.url, first.url]
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
