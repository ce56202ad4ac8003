import { expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/webhooks'
const BOTH = ['identity.created', 'identity.deleted']
const UNREACHABLE = 'http://127.0.0.1:9/hook'

const app = await useConsole()

/** The fields of a form: a pair for each selected event. */
const form = (url: string, events: string[]) => [
  ['url', url],
  ...events.map((type) => ['events[]', type]),
]

async function newTenant() {
  const acme = await app.newTenant()
  const webhook = async (url = acme.target.url): Promise<string> =>
    (await acme.gate.post('/v1/gate/settings/webhooks', { url })).body.id
  const signUp = async () => {
    const traits = { email: 'ada@example.com' }
    await acme.gate.post('/v1/gate/identities', { schema_id: 'user', traits })
    await app.clock.settled()
  }
  const stored = async () => (await acme.gate.get('/v1/gate/settings/webhooks')).body.webhooks
  return { ...acme, member: await acme.as('member'), webhook, signUp, stored }
}

test('The list has states and the last deliveries', async () => {
  const { owner, webhook, signUp, target } = await newTenant()
  const active = await webhook()
  await signUp()
  const page = await owner.sees(PAGE, target.url.replace('http://', ''), '1 active, no failures')
  page.says('Delivered', '100% of 1 attempt delivered in the last 24 hours')
  const paused = await webhook('https://b.example/hook')
  await owner.send(`${PAGE}/${paused}/pause`)
  expect((await owner.open(`${PAGE}?state=active`)).rows).toEqual([active])
  expect((await owner.open(`${PAGE}?state=paused`)).rows).toEqual([paused])
})

test('A webhook shows its secret once, when it is new and when it gets another', async () => {
  const { member, stored } = await newTenant()
  const url = 'https://a.example/hook'
  const created = (await member.send(`${PAGE}/new`, form(url, BOTH))).says('whsec_')
  const [{ id, ...webhook }] = await stored()
  expect([created.status, webhook]).toMatchObject([200, { url, events: BOTH }])
  expect(member.audited('endpoint.created')).toEqual([`endpoint:${id}`])
  const path = `${PAGE}/${id}`
  ;(await member.press(path, 'Rotate secret', { grace: 'day' })).says('whsec_')
  ;(await member.open(path)).omits('whsec_')
  expect((await member.send(`${path}/rotate`, { grace: 'ever' })).status).toBe(400)
  expect(member.audited('endpoint.secret_rotated')).toEqual([`endpoint:${id}`])
})

test('A webhook is changed, paused and resumed by members, and deleted by owners', async () => {
  const { owner, member, webhook, stored } = await newTenant()
  const id = await webhook()
  const path = `${PAGE}/${id}`
  const url = 'https://b.example/hook'
  const changed = await member.send(path, form(url, ['identity.login']))
  expect(changed.location).toEndWith(`${path}?done=webhooks`)
  expect(await stored()).toMatchObject([{ url, events: ['identity.login'] }])
  expect(member.audited('endpoint.updated')).toHaveLength(1)
  const refused = await member.send(path, form('nonsense', BOTH))
  expect(refused.html.match(/name="events\[\]" value="[\w.]+" checked/g)).toHaveLength(2)
  const paused = await member.press(path, 'Pause webhook')
  paused.says('Paused. Deliveries are held.')
  await member.press(path, 'Resume webhook', { held: 'drain' })
  await member.sees(path, 'no deliveries yet')
  await owner.press(path, 'Delete webhook')
  expect((await owner.open(path)).status).toBe(404)
  expect(owner.audited('endpoint.deleted')).toEqual([`endpoint:${id}`])
})

test('Deliveries that a paused webhook held are discarded on request', async () => {
  const { member, webhook, signUp, target } = await newTenant()
  const path = `${PAGE}/${await webhook()}`
  await member.send(`${path}/pause`)
  await signUp()
  expect((await member.send(`${path}/resume`, { held: 'all' })).status).toBe(400)
  ;(await member.press(path, 'Resume webhook', { held: 'discard' })).says('were discarded')
  await app.clock.settled()
  expect(target.requests).toEqual([])
})

test('A webhook is tested, and shows the response as text', async () => {
  const { member, webhook, target } = await newTenant()
  const path = `${PAGE}/${await webhook()}/test`
  const script = '<script>alert(1)</script>'
  const headers = { 'x-a': '<script>' }
  target.answers(() => new Response(script + 'x'.repeat(10_000), { headers }))
  const page = (await member.send(path)).says('Delivered: status 200', 'x'.repeat(10_000))
  page.omits('<script>alert', '"<script>"')
  await member.send(path, { event_type: 'identity.deleted' })
  const sent = target.requests.map(({ body }) => /identity\.\w+/.exec(body)?.[0] ?? '')
  expect(sent).toEqual(BOTH)
  ;(await member.send(`${PAGE}/${await webhook(UNREACHABLE)}/test`)).says('Not delivered')
})

test('The log of a webhook leads to deliveries, which members retry', async () => {
  const { owner, member, as, webhook, signUp, target } = await newTenant()
  const id = await webhook(`${target.url}?of=[1-3]`)
  const failing = await webhook(UNREACHABLE)
  await signUp()
  const viewer = await as('viewer')
  const { links } = await viewer.open(`${PAGE}/${id}`)
  const path = links.find((link) => link.startsWith(`${PAGE}/${id}/deliveries/`)) ?? ''
  const detail = await member.sees(path, 'Delivered', 'Request', 'Response', 'ada@example.com')
  expect(detail.html).toMatch(/curl -g [\s\S]+-signature: v1,/)
  await member.press(path, 'Retry')
  await app.clock.settled()
  expect(target.requests).toHaveLength(2)
  expect(member.audited('delivery.resent')).toHaveLength(1)
  const elsewhere = path.replace(id, failing)
  expect((await owner.open(elsewhere)).status).toBe(404)
  expect((await owner.send(`${elsewhere}/resend`)).status).toBe(404)
  const seen = await viewer.sees(path, '-signature: ********')
  for (const part of ['v1,', 'v1=', 'curl ', 'Retry']) expect(seen.html).not.toContain(part)
  await owner.sees(`${PAGE}/${failing}`, 'retrying')
  await owner.sees(`${PAGE}/${failing}?status=failed`, 'No matching deliveries')
  expect((await owner.sees(PAGE, '1 active, 1 failing')).rows).toEqual([failing, id])
})
