import { expect, test } from 'bun:test'
import type { OutboundRequest, OutboundResult } from '../../src/platform/outbound/index.ts'
import { useApp } from '../support/app.ts'

const DAY = 86_400_000
/** Every name resolves to this machine, which nobody may call. */
const app = await useApp({ allow: [], resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
const { testReceivers, outbound, retention } = app.platform

const request = (url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest => ({
  ...{ url, method: 'post', headers: {}, body: 'hello' },
  ...rest,
})
const statusOf = (result: OutboundResult) => (result.replied ? result.status : result.reason)
const send = async (url: string, rest?: Partial<OutboundRequest>) =>
  statusOf(await outbound.send(request(url, rest)))

async function newReceiver() {
  const { id } = await app.tenant()
  const received = (name = 'jobs') => testReceivers.requests(id, name)
  return { id, url: testReceivers.urlOf(id, 'jobs'), received }
}

test('A test receiver keeps what a job sends to it, for its tenant and name alone', async () => {
  const { id, api } = await app.tenant()
  const url = testReceivers.urlOf(id, 'jobs')
  const job = { name: 'Hello', schedule: '* * * * *', url, body: 'hello', headers: { 'X-A': 'b' } }
  const { status, body } = await api.post('/v1/clockwork/jobs', job)
  expect(status).toBe(201)
  await api.post(`/v1/clockwork/jobs/${body.id}/run`)
  await app.clock.settled()
  const [execution] = (await api.get(`/v1/clockwork/jobs/${body.id}/executions`)).body
  expect(execution).toMatchObject({ status: 'success', response_status: 200 })
  const [received, ...others] = testReceivers.requests(id, 'jobs')
  expect(others).toEqual([])
  expect(received).toMatchObject({ method: 'POST', body: 'hello', bodyBytes: 5 })
  expect(received?.headers).toMatchObject({ 'X-A': 'b' })
  expect(testReceivers.requests(id, 'webhooks')).toEqual([])
  expect(testReceivers.requests((await app.tenant()).id, 'jobs')).toEqual([])
})

test('Only the URL of a receiver is answered, and nothing else of this machine', async () => {
  const { id, url, received } = await newReceiver()
  const other = await newReceiver()
  expect(await send(url)).toBe(200)
  for (const wrong of [
    url.replace(id, other.id),
    url.replace('/jobs/', '/webhooks/'),
    url.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    `${url}/..`,
    new URL('/', url).href,
  ])
    expect([wrong, await send(wrong)]).toEqual([wrong, 404])
  for (const elsewhere of [
    url.replace('https:', 'http:'),
    url.replace('.test/', '.test:8420/'),
    url.replace('.test/', '.test./'),
    url.replace('receiver.', 'other.receiver.'),
    'http://127.0.0.1:8420/healthz',
  ])
    expect([elsewhere, await send(elsewhere)]).toEqual([elsewhere, 'refused'])
  expect([received().length, other.received().length]).toEqual([1, 0])
  app.db.client.query('DELETE FROM tenants WHERE id = ?').run(id)
  expect(await send(url)).toBe(404)
})

test('A receiver keeps 20 requests with 8 KB of body and headers, and refuses more than 60 a minute', async () => {
  const { url, received } = await newReceiver()
  const big = { body: 'é'.repeat(8000), headers: { 'X-Small': 'a', 'X-Big': 'b'.repeat(9000) } }
  expect(await send(url, big)).toBe(200)
  const [first] = received()
  expect(first?.bodyBytes).toBe(16_000)
  expect([first?.body, first?.headers]).toEqual(['é'.repeat(4096), { 'X-Small': 'a' }])
  for (let count = 2; count <= 60; count++) await send(url, { body: `${count}` })
  expect(received().map(({ body }) => body)).toEqual(
    Array.from({ length: 20 }, (_, index) => `${60 - index}`),
  )
  const refused = await outbound.send(request(url, { body: 'too many' }))
  expect(refused).toMatchObject({ status: 429, headers: expect.anything() })
  expect(received()[0]?.body).toBe('60')
  await app.clock.advance(2000)
  expect(await send(url)).toBe(200)
})

test('A receiver keeps no secret of a header, but signatures', async () => {
  const { url, received } = await newReceiver()
  const [base64, hex] = [`v1,${'aB+/'.repeat(10)}abc=`, `t=1,v1=${'0a'.repeat(32)}`]
  const kept = { 'webhook-signature': `${base64} ${base64}`, 'X-Service-Signature': hex }
  const hidden = {
    Authorization: 'Bearer hidden',
    'X-Signature': 'hidden',
    cookie: base64.slice(1),
  }
  await send(url, { headers: { ...kept, ...hidden } })
  const [{ headers = {} } = {}] = received()
  expect(headers).toMatchObject(kept)
  expect(Object.keys(hidden).map((name) => headers[name])).toEqual([
    '********',
    '********',
    '********',
  ])
})

test('What a receiver got is deleted after a day', async () => {
  const { url, received } = await newReceiver()
  await send(url)
  app.clock.jump(DAY)
  await retention.sweep()
  expect(received().length).toBe(1)
  app.clock.jump(1)
  await retention.sweep()
  expect(received()).toEqual([])
})
