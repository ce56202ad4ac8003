import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { serve } from '../../../src/http/serve.ts'
import { createLog } from '../../../src/platform/log.ts'
import { until } from '../../support/binary.ts'
import {
  ACTOR,
  bootMetered,
  EVENT,
  MESSAGES,
  type Metered,
  NEXT_MONTH,
  type Tenant,
  useMetered,
} from './fixture.ts'

const shared = await useMetered({})

/** An event whose body has begun and ends when the test says so. */
async function slowly({ raw }: Pick<Metered, 'raw'>, { relay }: Tenant) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const text = new TextEncoder()
  const headers = { authorization: `Bearer ${relay.key}`, 'content-type': 'application/json' }
  const answer = raw(MESSAGES, { method: 'POST', headers, body: readable })
  await writer.write(text.encode('{"event_type":"order.paid",'))
  return async () => {
    await writer.write(text.encode('"payload":{}}'))
    await writer.close()
    return (await answer).status
  }
}

test('A slow request counts by the state and plan that its tenant has at its end', async () => {
  await using own = await bootMetered({ cents: 1, cap: 10 })
  const tenants = {
    suspended: await own.newTenant('unlimited'),
    spent: await own.newTenant('unlimited'),
    same: await own.newTenant('unlimited'),
    resumed: await own.newTenant('unlimited'),
    paying: await own.newTenant('free'),
  }
  const { suspended, spent, resumed, paying } = tenants
  await resumed.suspend('renewal')
  const ends = await Promise.all(Object.values(tenants).map((tenant) => slowly(own, tenant)))
  await own.clock.advance(1500)
  await suspended.suspend()
  await spent.change({ plan: 'free' })
  await resumed.resume()
  await paying.change({ plan: 'metered' })
  const statuses = await Promise.all(ends.map((end) => end()))
  expect(statuses).toEqual([402, 429, 202, 202, 202])
  expect(await paying.usage()).toMatchObject({ requests: 1, billed_requests: 1 })
})

test('A slow request is held to what its key may do then, over a real connection', async () => {
  const { id: tenantId, newKey, suspend } = await shared.newTenant('unlimited')
  const { keys, log } = shared.platform
  const listener = serve(shared.app, { host: '127.0.0.1', port: 0 }, log)
  const body = JSON.stringify(EVENT)
  async function send(meanwhile: (id: string) => Promise<unknown>) {
    const { id, key } = await newKey('relay')
    const socket = connect(listener.port, '127.0.0.1')
    let answer = ''
    socket.on('data', (piece) => {
      answer += piece
    })
    socket.write(
      `POST ${MESSAGES} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    )
    await until(() => keys.list(tenantId).some((one) => one.id === id && one.last_used_at))
    await shared.clock.advance(1500)
    await meanwhile(id)
    socket.write(body.slice(5))
    await until(() => answer.includes('\r\n\r\n'))
    socket.destroy()
    return answer.split(' ')[1]
  }
  expect(await send(async () => {})).toBe('202')
  expect(await send((id) => keys.revoke(ACTOR, id))).toBe('401')
  expect(await send(() => suspend())).toBe('402')
  await listener.stop()
})

test('A slow request that ends in the next month has what that holds, and counts for it', async () => {
  await using own = await bootMetered({ free: 1 })
  const [free, unlimited] = [await own.newTenant('free'), await own.newTenant('unlimited')]
  await free.read()
  await own.clock.advanceTo(NEXT_MONTH - 1)
  const ends = [await slowly(own, free), await slowly(own, unlimited)]
  await own.clock.advance(5000)
  for (const end of ends) expect(await end()).toBe(202)
  for (const { usage } of [free, unlimited])
    expect(await usage()).toMatchObject({ month: '2026-04', requests: 1 })
})

test('An unforeseen error tells a client nothing of the inside', async () => {
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
