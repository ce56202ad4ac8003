import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { serve } from '../../../src/http/serve.ts'
import { createLog } from '../../../src/platform/log.ts'
import { until } from '../../support/binary.ts'
import { ACTOR, bootMetered, CREATING, type Metered, NEXT_MONTH } from './fixture.ts'

const MESSAGES = '/v1/relay/messages'
const SPENT = { 'metering-free-requests': '0' }
const event = { event_type: 'order.paid', payload: {} }

const statusOf = async (name: string, fixture: Metered, n = 0) =>
  (await CREATING[name]?.send(fixture.clients, n))?.status

const noticesOf = ({ db }: Metered) =>
  db.client
    .query<{ detail: string }, []>(
      "SELECT detail FROM audit_log WHERE action = 'usage.threshold' ORDER BY seq",
    )
    .all()
    .map(({ detail }) => JSON.parse(detail).percent)

describe('that nothing is left is told behind', () => {
  const wrongBodies = {
    413: { body: 'x'.repeat(2_000_000), type: 'application/json' },
    415: { body: '{}', type: 'text/plain' },
    400: { body: '[]', type: 'application/json' },
  }
  const routes = [
    ['relay', MESSAGES],
    ['passepartout', '/v1/passepartout/login/start'],
    ['gate', '/v1/gate/identities'],
    ['clockwork', '/v1/clockwork/jobs'],
    ['clockwork', '/v1/clockwork/delayed'],
  ] as const

  test('what is wrong with a body, on every route that makes something new', async () => {
    await using fixture = await bootMetered('free', SPENT)
    for (const [engine, path] of routes) {
      for (const [status, { body, type }] of Object.entries(wrongBodies)) {
        const headers = {
          authorization: `Bearer ${fixture.clients[engine].key}`,
          'content-type': type,
        }
        const answer = await fixture.raw(path, { method: 'POST', headers, body })
        expect([path, answer.status]).toEqual([path, Number(status)])
      }
    }
  })

  for (const schedule of ['nonsense', '0 0 30 2 *'])
    test(`a schedule that is none: ${schedule}`, async () => {
      await using fixture = await bootMetered('free', SPENT)
      const job = { name: 'tick', url: 'http://127.0.0.1:9/', schedule }
      expect((await fixture.clients.clockwork.post('/v1/clockwork/jobs', job)).status).toBe(400)
    })

  test('a subject that may have no access token', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '2' })
    const { gate } = fixture.clients
    const { body } = await gate.post('/v1/gate/identities', {
      schema_id: 'user',
      traits: { email: 'ada@example.com' },
      state: 'inactive',
    })
    await gate.get('/v1/gate/identities')
    const tokenFor = async (subject: string) =>
      (await gate.post('/v1/gate/tokens', { api_key: gate.key, subject })).status

    expect(await tokenFor(body.id)).toBe(403)
    expect(await tokenFor('someone')).toBe(429)
  })
})

test('a mail of verification that is asked for by key is refused like what makes something new', async () => {
  await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
  const person = await CREATING['an identity']?.send(fixture.clients, 0)
  const path = `/v1/gate/identities/${person?.body.id}/resend-verification`

  expect((await fixture.clients.gate.post(path)).status).toBe(429)
  await fixture.platform.tenants.suspend(ACTOR, fixture.acme.id, 'billing')
  expect((await fixture.clients.gate.post(path)).status).toBe(402)
})

test('a page that a tenant in arrears cannot have names no time to try again', async () => {
  await using fixture = await bootMetered('unlimited')
  const flow = await CREATING['a login flow']?.send(fixture.clients, 0)
  await fixture.platform.tenants.suspend(ACTOR, fixture.acme.id, 'billing')

  const refused = await fixture.raw(`/auth/self-service/registration?from=${flow?.body.id}`, {
    headers: { accept: 'text/html' },
  })

  expect(refused.status).toBe(402)
  expect(refused.headers.get('retry-after')).toBeNull()
})

/** An event whose body comes to an end when the test says so. */
function slowly(fixture: Metered) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const text = new TextEncoder()
  const answer = fixture.raw(MESSAGES, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${fixture.clients.relay.key}`,
      'content-type': 'application/json',
    },
    body: readable,
  })
  const begun = writer.write(text.encode('{"event_type":"order.paid",'))
  const end = async () => {
    await writer.write(text.encode('"payload":{}}'))
    await writer.close()
    return answer
  }
  return { begun, end }
}

describe('a request whose body takes its time', () => {
  const meanwhile: Record<string, [number, (fixture: Metered) => Promise<unknown>]> = {
    'is suspended is refused': [
      402,
      ({ platform, acme }) => platform.tenants.suspend(ACTOR, acme.id, 'billing'),
    ],
    'goes back to a plan that is spent is refused': [
      429,
      ({ platform, acme }) => platform.tenants.change(ACTOR, acme.id, { plan: 'free' }),
    ],
    'is left in peace is accepted': [202, async () => {}],
  }
  for (const [name, [status, happens]] of Object.entries(meanwhile))
    test(`and whose tenant ${name}`, async () => {
      await using fixture = await bootMetered('unlimited', SPENT)
      const { begun, end } = slowly(fixture)
      await begun
      await fixture.clock.advance(1500)
      await happens(fixture)

      expect((await end()).status).toBe(status)
    })

  test('is held to what its key is good for when it has come, over a real connection', async () => {
    await using fixture = await bootMetered('unlimited')
    const { keys, tenants, log } = fixture.platform
    const listener = serve(fixture.app, { host: '127.0.0.1', port: 0 }, log)
    const body = JSON.stringify(event)
    async function send(meanwhile: (id: string) => Promise<unknown>) {
      const { id, key } = await fixture.acme.key('relay')
      const socket = connect(listener.port, '127.0.0.1')
      let answer = ''
      socket.on('data', (piece) => {
        answer += piece
      })
      socket.write(
        `POST ${MESSAGES} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
      )
      const isKnown = () =>
        keys.list(fixture.acme.id).some((one) => one.id === id && one.last_used_at)
      await until(isKnown)
      await fixture.clock.advance(1500)
      await meanwhile(id)
      socket.write(body.slice(5))
      await until(() => answer.includes('\r\n\r\n'))
      socket.destroy()
      return answer.split(' ')[1]
    }

    expect(await send(async () => {})).toBe('202')
    expect(await send((id) => keys.revoke(ACTOR, id))).toBe('401')
    expect(await send(() => tenants.suspend(ACTOR, fixture.acme.id, 'billing'))).toBe('402')
    await listener.stop()
  })

  test('and whose tenant is resumed is accepted', async () => {
    await using fixture = await bootMetered('unlimited')
    await fixture.platform.tenants.suspend(ACTOR, fixture.acme.id, 'renewal')
    const { begun, end } = slowly(fixture)
    await begun
    await fixture.clock.advance(1500)
    await fixture.platform.tenants.resume(ACTOR, fixture.acme.id)

    expect((await end()).status).toBe(202)
  })

  test('and whose plan has become a metered one is billed by it', async () => {
    await using fixture = await bootMetered('free', SPENT)
    const { begun, end } = slowly(fixture)
    await begun
    await fixture.clock.advance(1500)
    await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { plan: 'metered' })

    expect((await end()).status).toBe(202)
    expect(await fixture.usage()).toMatchObject({ requests: 1, billed_requests: 1 })
  })
})

describe('a request that is under way when a month ends', () => {
  test('has what the new one holds, where nothing was left of the old', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
    await fixture.clients.relay.get(MESSAGES)
    await fixture.clock.advanceTo(NEXT_MONTH - 1)
    const { begun, end } = slowly(fixture)
    await begun
    await fixture.clock.advance(5000)

    expect((await end()).status).toBe(202)
  })

  test('counts for the month in which its work was let in', async () => {
    await using fixture = await bootMetered('unlimited')
    await fixture.clock.advanceTo(NEXT_MONTH - 1)
    const { begun, end } = slowly(fixture)
    await begun
    await fixture.clock.advance(5000)

    expect((await end()).status).toBe(202)

    expect(await fixture.usage()).toMatchObject({ month: '2026-04', requests: 1 })
  })
})

describe('what was counted', () => {
  test('is on disk once metering has stopped, also what was on its way there', async () => {
    await using fixture = await bootMetered('unlimited')
    const { metering } = fixture.platform
    await fixture.clients.relay.get(MESSAGES)

    const flushing = metering.flush()
    await metering.stop(0)
    const stored = metering.months(fixture.acme.id)

    await flushing
    expect(stored).toMatchObject([{ requests: 1 }])
  })

  test('is in the usage that is shown, also what is on its way to the disk', async () => {
    await using fixture = await bootMetered('unlimited')
    await fixture.clients.relay.get(MESSAGES)

    const flushing = fixture.platform.metering.flush()
    const { requests } = await fixture.usage()

    await flushing
    expect(requests).toBe(1)
  })

  test('for nothing stays so, however soon the plan becomes a metered one', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
    for (let n = 0; n < 5; n++) await fixture.clients.relay.get(MESSAGES)

    await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { plan: 'metered' })

    expect(await fixture.usage()).toMatchObject({ requests: 5, billed_requests: 0 })
  })

  test('for nothing past a spend cap stays so, however soon the cap is raised', async () => {
    await using fixture = await bootMetered('metered', {
      ...SPENT,
      'metering-overage-price-cents': '10',
      'metering-overage-per': '1',
      'metering-default-spend-cap-cents': '20',
    })
    for (let n = 0; n < 5; n++) await fixture.clients.relay.get(MESSAGES)

    await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { spendCapCents: 1000 })

    expect(await fixture.usage()).toMatchObject({ requests: 5, billed_requests: 2, cost_cents: 20 })
  })

  test('is counted once, also where telling of it has undone the transaction', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '2' })
    fixture.db.client.run(
      "CREATE TRIGGER full BEFORE INSERT ON relay_event_types BEGIN SELECT raise(rollback, 'disk'); END",
    )
    await fixture.clients.clockwork.get('/v1/clockwork/jobs')
    await fixture.usage()
    fixture.db.client.run('DROP TRIGGER full')

    expect(await fixture.usage()).toMatchObject({ requests: 1, days: [{ requests: 1 }] })
  })
})

describe('a place that is taken', () => {
  test('is free again where the disk did not take what it was for', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
    fixture.db.client.run('PRAGMA query_only = ON')
    for (let n = 0; n < 3; n++) expect(await statusOf('an event', fixture)).toBe(503)
    fixture.db.client.run('PRAGMA query_only = OFF')

    expect(await statusOf('an event', fixture)).toBe(202)
    expect(await statusOf('an event', fixture)).toBe(429)
  })

  test('is not taken by equal idempotency keys at once, but for the first', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
    const send = () => fixture.clients.relay.post(MESSAGES, { ...event, idempotency_key: 'one' })

    const answers = await Promise.all(Array.from({ length: 10 }, send))

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })
})

describe('a tenant is told', () => {
  test('all or nothing: no event where half of what belongs to it is stored', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '2' })
    fixture.db.client.run(
      "CREATE TRIGGER full BEFORE INSERT ON relay_event_types BEGIN SELECT raise(abort, 'no'); END",
    )
    await fixture.clients.clockwork.get('/v1/clockwork/jobs')
    await fixture.usage()

    expect((await fixture.clients.relay.get(MESSAGES)).body.data).toEqual([])
  })

  test('once, whichever process has counted what passed a share', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '10' })
    const { metering } = fixture.platform
    const neighbour = fixture.neighbour({ 'metering-free-requests': '10' })
    const { key } = fixture.clients.relay

    for (let n = 0; n < 10; n++) {
      for (const each of [metering, neighbour.metering]) each.answered(neighbour.callerOf(key), 200)
      await Promise.all([metering.flush(), neighbour.metering.flush()])
    }

    expect(noticesOf(fixture)).toEqual([50, 80, 100])
    expect((await fixture.usage()).requests).toBe(20)
  })
})

describe('an answer', () => {
  test('does not hang on whether it can be told how much is left', async () => {
    await using fixture = await bootMetered('free')
    fixture.db.client.run('ALTER TABLE usage_months RENAME TO broken')

    const answer = await fixture.clients.relay.get(MESSAGES).catch(String)

    expect(answer).toMatchObject({ status: 200, body: { data: [] } })
    fixture.db.client.run('ALTER TABLE broken RENAME TO usage_months')
  })

  test('that nobody has thought of tells strangers nothing of the inside', async () => {
    const broken = new Elysia()
      .onError(() => {
        throw new Error('a secret of the inside')
      })
      .get('/', () => {
        throw new Error('first')
      })
    const lines: string[] = []
    const write = (line: string) => lines.push(line)
    const log = createLog({ level: 'error', format: 'json', now: Date.now, write })
    const listener = serve(broken, { host: '127.0.0.1', port: 0 }, log)

    const answer = await fetch(listener.url)
    const text = await answer.text()

    await listener.stop()
    expect(answer.status).toBe(500)
    expect(answer.headers.get('content-type')).not.toContain('html')
    expect(text).not.toContain('a secret of the inside')
    expect(lines.join()).toContain('a secret of the inside')
  })
})
