import { describe, expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/console/webhooks'
const BOTH = ['identity.created', 'identity.deleted']

const app = await useConsole()

/** The fields of a form: a pair for each selected event. */
const form = (url: string, events: string[]) => [
  ['url', url],
  ...events.map((type) => ['events[]', type]),
]

async function newTenant() {
  const acme = await app.newTenant()
  const webhook = async (url = acme.target.url) => {
    const { status, body } = await acme.gate.post('/v1/gate/settings/webhooks', { url })
    expect(status).toBe(201)
    return body.id as string
  }
  const signUp = async () => {
    const traits = { email: 'ada@example.com' }
    await acme.gate.post('/v1/gate/identities', { schema_id: 'user', traits })
    await app.clock.settled()
  }
  const stored = async () => (await acme.gate.get('/v1/gate/settings/webhooks')).body.webhooks
  return { ...acme, member: await acme.as('member'), webhook, signUp, stored }
}

const UNREACHABLE = 'http://127.0.0.1:9/hook'

describe('The list of webhooks', () => {
  test('has states and the last deliveries', async () => {
    const { owner, webhook, signUp, target } = await newTenant()
    expect((await owner.open(PAGE)).text).toContain('No webhooks yet')
    await webhook()
    await signUp()
    const { html } = await owner.open(PAGE)
    for (const words of [
      target.url.replace('http://', ''),
      '1 active, no failures',
      'Delivered',
      '100% of 1 attempt delivered in the last 24 hours',
    ])
      expect(html).toContain(words)
  })

  test('has 25 on a page and filters by state', async () => {
    const { owner, webhook } = await newTenant()
    const ids: string[] = []
    for (let n = 0; n < 27; n++) ids.unshift(await webhook(`https://h${n}.example/hook`))
    const first = await owner.open(PAGE)
    const second = await owner.open(first.next)
    expect([first.rows, second.rows]).toEqual([ids.slice(0, 25), ids.slice(25)])
    expect((await owner.open(second.prev)).rows).toEqual(first.rows)
    await owner.send(`${PAGE}/${ids[0]}/pause`)
    expect((await owner.open(`${PAGE}?state=active`)).rows).toEqual(ids.slice(1, 26))
    expect((await owner.open(`${PAGE}?state=paused`)).rows).toEqual(ids.slice(0, 1))
  })
})

test('A new webhook shows its secret once', async () => {
  const { member, stored } = await newTenant()
  const url = 'https://a.example/hook'
  const { status, html } = await member.send(PAGE, form(url, BOTH))
  const [secret = ''] = /whsec_[\w+/]+=*/.exec(html) ?? []
  expect([status, secret.length > 20]).toEqual([200, true])
  const [{ id, ...webhook }] = await stored()
  expect(webhook).toMatchObject({ url, events: BOTH })
  expect((await member.open(`${PAGE}/${id}`)).html).not.toContain(secret)
  expect(member.audited('endpoint.created')).toEqual([`endpoint:${id}`])
})

test.each([
  ['url', 'nonsense', BOTH],
  ['url', '', BOTH],
  ['url', `https://a.example/${'x'.repeat(10_000)}`, BOTH],
  ['events', 'https://a.example/hook', []],
  ['events', 'https://a.example/hook', ['<script>alert(1)</script>']],
])('A new webhook is refused with an error beside %s', async (name, url, events) => {
  const { member, stored } = await newTenant()
  const { status, wrong, html } = await member.send(PAGE, form(url, events))
  expect([status, wrong]).toEqual([422, [name]])
  expect(html).toContain(url.slice(-100))
  const selected = html.match(/name="events\[\]" value="[\w.]+" checked/g) ?? []
  expect(selected).toHaveLength(name === 'url' ? 2 : 0)
  expect(await stored()).toEqual([])
})

describe('A webhook', () => {
  test('is changed', async () => {
    const { member, webhook, stored } = await newTenant()
    const path = `${PAGE}/${await webhook()}`
    const url = 'https://b.example/hook'
    const changed = await member.send(path, form(url, ['identity.login']))
    expect(changed.location).toBe(`${path}?done=changed`)
    expect(await stored()).toMatchObject([{ url, events: ['identity.login'] }])
    expect(member.audited('endpoint.updated')).toHaveLength(1)
    const refused = await member.send(path, form('nonsense', ['identity.login']))
    expect([refused.status, refused.wrong]).toEqual([422, ['url']])
  })

  test('is paused and resumed by members, and deleted by owners', async () => {
    const { owner, member, as, webhook } = await newTenant()
    const id = await webhook()
    const path = `${PAGE}/${id}`
    expect((await (await as('viewer')).open(path)).text).not.toContain('Danger zone')
    await member.send(`${path}/pause`)
    expect((await member.open(path)).text).toContain('Paused. Events are held until you resume it.')
    await member.send(`${path}/resume`)
    expect((await member.open(path)).text).toContain('no deliveries yet')
    expect((await owner.send(`${path}/delete`)).location).toBe(`${PAGE}?done=deleted`)
    expect((await owner.open(path)).status).toBe(404)
    expect(owner.audited('endpoint.deleted')).toEqual([`endpoint:${id}`])
  })

  test('gets a new secret, shown once', async () => {
    const { member, webhook } = await newTenant()
    const id = await webhook()
    const path = `${PAGE}/${id}`
    const { status, html } = await member.send(`${path}/rotate`, { grace: 'day' })
    expect([status, html]).toEqual([200, expect.stringContaining('whsec_')])
    expect((await member.open(path)).html).not.toContain('whsec_')
    expect((await member.send(`${path}/rotate`, { grace: 'ever' })).status).toBe(400)
    expect(member.audited('endpoint.secret_rotated')).toEqual([`endpoint:${id}`])
  })

  test('is tested, and shows the response as text', async () => {
    const { member, webhook, target } = await newTenant()
    const path = `${PAGE}/${await webhook()}/test`
    const script = '<script>alert(1)</script>'
    const headers = { 'x-a': '<script>' }
    target.answers(() => new Response(script + 'x'.repeat(10_000), { headers }))
    const { status, text, html } = await member.send(path)
    expect([status, text]).toEqual([200, expect.stringContaining('Delivered in')])
    expect(html).not.toContain('<script>alert')
    expect(html).not.toContain('"<script>"')
    expect(html).toContain('x'.repeat(10_000))
    await member.send(path, { event_type: 'identity.deleted' })
    const sent = target.requests.map(({ body }) => /identity\.\w+/.exec(body)?.[0] ?? '')
    expect(sent).toEqual(BOTH)
    const failed = await member.send(`${PAGE}/${await webhook(UNREACHABLE)}/test`)
    expect(failed.text).toContain('Not delivered: ')
  })
})

describe('The log of a webhook', () => {
  test('leads to deliveries, which members retry', async () => {
    const { owner, member, as, webhook, signUp, target } = await newTenant()
    const id = await webhook(`${target.url}?of=[1-3]`)
    const failing = await webhook(UNREACHABLE)
    await signUp()
    const viewer = await as('viewer')
    const { html } = await viewer.open(`${PAGE}/${id}`)
    const [path = ''] = new RegExp(`${PAGE}/${id}/deliveries/[\\w-]+`).exec(html) ?? []
    const detail = await member.open(path)
    for (const words of ['Delivered', 'Request', 'Response', 'ada@example.com'])
      expect(detail.text).toContain(words)
    expect(detail.html).toMatch(/curl -g [\s\S]+-signature: v1,/)
    expect((await member.send(`${path}/resend`)).location).toBe(`${path}?done=resent`)
    await app.clock.settled()
    expect(target.requests).toHaveLength(2)
    expect(member.audited('delivery.resent')).toHaveLength(1)

    const elsewhere = path.replace(id, failing)
    expect((await owner.open(elsewhere)).status).toBe(404)
    expect((await owner.send(`${elsewhere}/resend`)).status).toBe(404)
    const seen = await viewer.open(path)
    expect(seen.text).toContain('-signature: ********')
    for (const part of ['v1,', 'v1=', 'curl ', 'Retry']) expect(seen.html).not.toContain(part)
  })

  test('says when a delivery failed', async () => {
    const { owner, webhook, signUp } = await newTenant()
    const path = `${PAGE}/${await webhook(UNREACHABLE)}`
    await signUp()
    expect((await owner.open(path)).text).toContain('failed, retrying')
    expect((await owner.open(`${path}?status=failed`)).text).toContain('No failed deliveries')
    expect((await owner.open(PAGE)).text).toContain('last delivery of 1 failed')
  })
})
