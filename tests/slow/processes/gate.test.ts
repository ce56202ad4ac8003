import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type Server, until } from '../../support/binary.ts'
import type { ReceivedRequest } from '../../support/target.ts'
import { eventId, IDENTITIES, numbers } from '../resilience/support/api.ts'
import { openInstallation } from '../resilience/support/installation.ts'
import { startProducers, startReceiver } from './receiver.ts'

const WEBHOOKS = '/v1/gate/settings/webhooks'
const KILLS = 2
/** The people that are created while a process is killed, and those that two create together. */
const [FIRST, ALL] = [300, 400]
/** The most requests of one process to one webhook at a time: first attempts and retries. */
const MAX_IN_FLIGHT = 16 + 4

const emailOf = (n: number) => `person-${n}@example.com`
const eventIn = ({ body }: ReceivedRequest) => JSON.parse(body)
const numberIn = (request: ReceivedRequest) =>
  Number(/\d+/.exec(eventIn(request).data.payload.email)?.[0])

/** Checks the signature of the contract without our own code. */
function isSigned({ headers, body }: ReceivedRequest, secret: string): boolean {
  const [timestamp = '', signature] = (headers.get('x-service-signature') ?? '').split(',')
  const hmac = createHmac('sha256', secret).update(`${timestamp.slice(2)}.${body}`)
  return signature === `v1=${hmac.digest('hex')}`
}

test('A kill -9 loses no user and no event of a user; two processes then deliver each event once, and retry only what was refused', async () => {
  await using stack = new AsyncDisposableStack()
  const settings = { GATEHOUSE_GATE_WEBHOOK_DELAYS: '0s,1s,1s,1s' }
  const { newClient, newTenant, running, count } = openInstallation(stack, { settings })
  const tenantId = newTenant()
  const gate = newClient(tenantId, 'gate')
  const { target, arrivals, refused } = stack.use(startReceiver(numberIn))
  let servers = await running(1)
  const { secret } = await gate.make(servers[0] as Server, 'POST', WEBHOOKS, { url: target.url })
  const isOver = () => count("deliveries WHERE state <> 'succeeded'") === 0

  const made = new Map<string, string>()
  async function create(n: number) {
    const person = { schema_id: 'user', traits: { email: emailOf(n) } }
    const server = servers[n % servers.length] as Server
    const { status, body } = await gate.ask(server, 'POST', IDENTITIES, person)
    if (status === 201) made.set(emailOf(n), body.id)
    // After a broken connection, the user may exist.
    else if (status !== 409) throw new Error(`${status}: ${JSON.stringify(body)}`)
  }
  const producers = startProducers(FIRST, create)
  for (const kill of numbers(KILLS)) {
    const moment = ((kill + 0.7) / KILLS) * 1.9 * FIRST
    await until(() => producers.ended() + arrivals.size >= moment, servers[0]?.out)
    await servers[0]?.kill()
    servers = await running(1)
  }
  await producers.done
  await until(() => arrivals.size >= FIRST && isOver(), servers[0]?.out)
  expect(producers.cutOff()).toBeGreaterThan(0)
  const repeated = target.requests.length - FIRST - refused.size
  expect(repeated).toBeGreaterThan(0)
  expect(repeated).toBeLessThanOrEqual(KILLS * MAX_IN_FLIGHT)

  servers = await running(2)
  const before = target.requests.length
  await startProducers(ALL - FIRST, (n) => create(FIRST + n)).done
  await until(() => arrivals.size >= ALL && isOver(), servers[0]?.out)
  const byEvent = Map.groupBy(target.requests.slice(before), eventId)
  expect(byEvent.size).toBe(ALL - FIRST)
  for (const [id, requests] of byEvent) expect(requests).toHaveLength(refused.has(id) ? 2 : 1)

  for (const server of servers) {
    const people = await gate.walk(server, IDENTITIES)
    const byEmail = new Map(people.map(({ id, traits }) => [traits.email, id]))
    expect([people.length, byEmail.size]).toEqual([ALL, ALL])
    for (const [email, id] of made) expect(byEmail.get(email)).toBe(id)
    const events = new Map<string, string>()
    for (const request of target.requests) {
      const event = eventIn(request)
      const { identity_id, payload } = event.data
      expect(isSigned(request, secret)).toBe(true)
      expect(event).toMatchObject({ event_type: 'identity.created', tenant_id: tenantId })
      expect([event.event_id, identity_id]).toEqual([eventId(request), byEmail.get(payload.email)])
      expect(events.get(identity_id) ?? event.event_id).toBe(event.event_id)
      events.set(identity_id, event.event_id)
    }
    expect(new Set(events.keys())).toEqual(new Set(byEmail.values()))
    expect(new Set(arrivals.keys())).toEqual(new Set(events.values()))
    expect(await gate.walk(server, `${WEBHOOKS}/deliveries`)).toHaveLength(ALL)
  }
  expect(refused.size).toBe(ALL / 20)
}, 300_000)
