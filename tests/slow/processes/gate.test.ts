import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { type Server, until } from '../../support/binary.ts'
import type { ReceivedRequest } from '../../support/target.ts'
import { eventId, IDENTITIES, numbers } from '../resilience/support/api.ts'
import { openInstallation } from '../resilience/support/installation.ts'
import { startProducers, startReceiver } from './receiver.ts'

const WEBHOOKS = '/v1/gate/settings/webhooks'
const [PEOPLE, KILLS] = [300, 2]
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

test('A kill -9 of one of two processes loses no user and no event of a user, and repeats only what was in flight', async () => {
  await using stack = new AsyncDisposableStack()
  const settings = { GATEHOUSE_GATE_WEBHOOK_DELAYS: '0s,1s,1s,1s' }
  const { newClient, newTenant, running, count } = openInstallation(stack, { settings })
  const tenantId = newTenant()
  const gate = newClient(tenantId, 'gate')
  const { target, arrivals, refused } = stack.use(startReceiver(numberIn))
  let servers = await running(2)
  const { secret } = await gate.make(servers[0] as Server, 'POST', WEBHOOKS, { url: target.url })

  const made = new Map<string, string>()
  const producers = startProducers(PEOPLE, async (n) => {
    const person = { schema_id: 'user', traits: { email: emailOf(n) } }
    const server = servers[n % servers.length] as Server
    const { status, body } = await gate.ask(server, 'POST', IDENTITIES, person)
    if (status === 201) made.set(emailOf(n), body.id)
    // After a broken connection, the user may exist.
    else if (status !== 409) throw new Error(`${status}: ${JSON.stringify(body)}`)
  })
  for (const kill of numbers(KILLS)) {
    const moment = ((kill + 0.7) / KILLS) * 1.9 * PEOPLE
    await until(() => producers.ended() + arrivals.size >= moment, servers[0]?.out)
    await servers[0]?.kill()
    servers = await running(2)
  }
  await producers.done
  const isOver = () => count("deliveries WHERE state <> 'succeeded'") === 0
  await until(() => arrivals.size >= PEOPLE && isOver(), servers[0]?.out)
  expect(producers.cutOff()).toBeGreaterThan(0)
  expect(refused.size).toBe(PEOPLE / 20)
  const repeated = target.requests.length - PEOPLE - refused.size
  expect(repeated).toBeLessThanOrEqual(KILLS * MAX_IN_FLIGHT)

  for (const server of servers) {
    const people = await gate.walk(server, IDENTITIES)
    const byEmail = new Map(people.map(({ id, traits }) => [traits.email, id]))
    expect([people.length, byEmail.size]).toEqual([PEOPLE, PEOPLE])
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
    expect(await gate.walk(server, `${WEBHOOKS}/deliveries`)).toHaveLength(PEOPLE)
  }
}, 300_000)
