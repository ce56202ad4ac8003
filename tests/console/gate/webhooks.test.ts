import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { audited } from '../console-fixture.ts'
import { CHANGERS, type GateFixture, gateFixture, HOSTILE, READERS, wayOn } from './gate-fixture.ts'

const PATH = '/console/webhooks'
/** As a form sends it: a name for each box that is ticked. */
const form = (url: string, ...events: string[]) => [
  ['url', url],
  ...events.map((type) => ['events[]', type]),
]
const BOTH = ['identity.created', 'identity.deleted']

async function webhook(api: GateFixture['apiOfAcme'], url = 'http://127.0.0.1:9/hook') {
  const { status, body } = await api.post('/v1/gate/settings/webhooks', { url })
  expect(status).toBe(201)
  return body as { id: string; url: string }
}

async function signUp(api: GateFixture['apiOfAcme'], email = 'ada@example.com') {
  await api.post('/v1/gate/identities', { schema_id: 'user', traits: { email } })
}

const objects = (fixture: GateFixture, action: string) =>
  audited(fixture, action).map(({ actor_kind: kind, actor_id: id, object }) => [kind, id, object])

describe('the list of webhooks', () => {
  test('is for all who belong to the tenant', async () => {
    await using fixture = await gateFixture()
    expect(await fixture.statuses(PATH)).toEqual(READERS)
    expect(await fixture.statuses(`${PATH}/new`)).toEqual(CHANGERS)
    expect((await (await fixture.operator('owner')).open(PATH)).body).toContain('No webhooks yet')
  })

  test('shows the tenant’s own, and what became of the last delivery', async () => {
    await using fixture = await gateFixture()
    await using target = startTarget()
    await webhook(fixture.apiOfAcme, target.url)
    await webhook(fixture.apiOfOther, 'https://other.example/hook')
    await signUp(fixture.apiOfAcme)
    await fixture.clock.settled()
    const { body } = await (await fixture.operator('viewer')).open(PATH)
    expect(body).toContain(target.url.replace('http://', ''))
    expect(body).toContain('1 active, no failures')
    expect(body).toContain('Delivered')
    expect(body).toContain('100% of 1 attempt delivered in the last 24 hours')
    expect(body).not.toContain('other.example')
  })
})

describe('a long list of webhooks', () => {
  test('goes on page by page, and back, and is filtered', async () => {
    await using fixture = await gateFixture()
    for (let number = 10; number < 37; number++)
      await webhook(fixture.apiOfAcme, `https://h${number}.example/hook`)
    const { open, send } = await fixture.operator('member')
    const linkIn = (body: string, rel: string) =>
      (new RegExp(`rel="${rel}" href="([^"]+)"`).exec(body)?.[1] ?? '').replaceAll('&amp;', '&')
    const first = (await open(PATH)).body as string
    const second = (await open(linkIn(first, 'next'))).body as string
    expect([first.includes('h36.example'), first.includes('h11.example')]).toEqual([true, false])
    expect([second.includes('h11.example'), second.includes('h12.example')]).toEqual([true, false])
    expect((await open(linkIn(second, 'prev'))).body).toContain('h36.example')

    const [, id = ''] = /webhooks\/([\w-]{36})/.exec(first) ?? []
    await send(`${PATH}/${id}/pause`)
    expect((await open(`${PATH}?state=active`)).body).not.toContain('h36.example')
    const paused = (await open(`${PATH}?state=paused`)).body
    expect([paused.includes('h36.example'), paused.includes('h35.example')]).toEqual([true, false])
  }, 20_000)
})

describe('a new webhook', () => {
  test('shows its secret once', async () => {
    await using fixture = await gateFixture()
    const member = await fixture.operator('member')
    const { status, body } = await member.send(PATH, form('https://a.example/hook', ...BOTH))
    const [secret = ''] = /whsec_[\w+/]+=*/.exec(body) ?? []
    expect([status, secret.length > 20]).toEqual([200, true])
    const { webhooks } = (await fixture.apiOfAcme.get('/v1/gate/settings/webhooks')).body
    expect(webhooks).toMatchObject([
      { url: 'https://a.example/hook', events: ['identity.created', 'identity.deleted'] },
    ])
    expect((await member.open(`${PATH}/${webhooks[0].id}`)).body).not.toContain(secret)
    expect(objects(fixture, 'endpoint.created')).toEqual([
      ['operator', member.id, `endpoint:${webhooks[0].id}`],
    ])
  })

  test.each([
    ['url', 'nonsense', BOTH],
    ['url', '', BOTH],
    ['url', `https://a.example/${HOSTILE}`, BOTH],
    ['events', 'https://a.example/hook', []],
    ['events', 'https://a.example/hook', ['<script>alert(1)</script>']],
  ])('says beside %s what is wrong, and keeps what was typed', async (name, url, events) => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('member')
    const { status, body } = await send(PATH, form(url, ...events))
    expect([status, body]).toEqual([422, expect.stringContaining(`id="field-${name}-error"`)])
    expect(body).toContain(url.slice(-100))
    const ticked = body.match(/name="events\[\]" value="[\w.]+" checked/g) ?? []
    expect(ticked).toHaveLength(name === 'url' ? BOTH.length : 0)
    expect(body).not.toContain('<script>alert')
    expect((await fixture.apiOfAcme.get('/v1/gate/settings/webhooks')).body.webhooks).toEqual([])
  })
})

describe('the page of a webhook', () => {
  test('is for all who belong to the tenant, and of its own', async () => {
    await using fixture = await gateFixture()
    const { id } = await webhook(fixture.apiOfAcme)
    const foreign = await webhook(fixture.apiOfOther)
    expect(await fixture.statuses(`${PATH}/${id}`)).toEqual(READERS)
    const { open, send } = await fixture.operator('owner')
    expect((await open(`${PATH}/${foreign.id}`)).status).toBe(404)
    expect((await open(`${PATH}/${foreign.id}/deliveries/any`)).status).toBe(404)
    for (const verb of ['', '/pause', '/resume', '/test', '/rotate', '/delete'])
      expect((await send(`${PATH}/${foreign.id}${verb}`)).status).toBe(404)
    const viewer = await fixture.operator('viewer')
    for (const verb of ['', '/pause', '/resume', '/test', '/rotate', '/delete'])
      expect((await viewer.send(`${PATH}/${id}${verb}`)).status).toBe(403)
    expect((await viewer.open(`${PATH}/${id}`)).body).not.toContain('Danger zone')
  })

  test('changes where it is and what it is told', async () => {
    await using fixture = await gateFixture()
    const { id } = await webhook(fixture.apiOfAcme)
    const member = await fixture.operator('member')
    const url = 'https://b.example/hook'
    const answer = await member.send(`${PATH}/${id}`, form(url, 'identity.login'))
    expect(wayOn(answer)).toEqual([303, `${PATH}/${id}?done=changed`])
    const { webhooks } = (await fixture.apiOfAcme.get('/v1/gate/settings/webhooks')).body
    expect(webhooks).toMatchObject([{ url, events: ['identity.login'] }])
    expect(objects(fixture, 'endpoint.updated')).toEqual([
      ['operator', member.id, `endpoint:${id}`],
    ])
    const wrong = await member.send(`${PATH}/${id}`, form('nonsense', 'identity.login'))
    expect([wrong.status, wrong.body]).toEqual([422, expect.stringContaining('field-url-error')])
  })

  test('pauses, resumes, and deletes for owners alone', async () => {
    await using fixture = await gateFixture()
    const { id } = await webhook(fixture.apiOfAcme)
    const [owner, member] = [await fixture.operator('owner'), await fixture.operator('member')]
    await member.send(`${PATH}/${id}/pause`)
    expect((await member.open(`${PATH}/${id}`)).body).toContain(
      'Paused. Events are held until you resume it.',
    )
    await member.send(`${PATH}/${id}/resume`)
    expect((await member.open(`${PATH}/${id}`)).body).toContain('no deliveries yet')
    expect((await member.send(`${PATH}/${id}/delete`)).status).toBe(403)
    const answer = await owner.send(`${PATH}/${id}/delete`)
    expect(wayOn(answer)).toEqual([303, `${PATH}?done=deleted`])
    expect((await owner.open(`${PATH}/${id}`)).status).toBe(404)
    expect(objects(fixture, 'endpoint.deleted')).toEqual([['operator', owner.id, `endpoint:${id}`]])
  })

  test('replaces the secret, and shows the new one once', async () => {
    await using fixture = await gateFixture()
    const { id } = await webhook(fixture.apiOfAcme)
    const member = await fixture.operator('member')
    const { status, body } = await member.send(`${PATH}/${id}/rotate`, { grace: 'day' })
    expect([status, body]).toEqual([200, expect.stringContaining('whsec_')])
    expect((await member.open(`${PATH}/${id}`)).body).not.toContain('whsec_')
    expect((await member.send(`${PATH}/${id}/rotate`, { grace: 'ever' })).status).toBe(400)
    expect(objects(fixture, 'endpoint.secret_rotated')).toEqual([
      ['operator', member.id, `endpoint:${id}`],
    ])
  })

  test('shows what came of a test', async () => {
    await using fixture = await gateFixture()
    await using target = startTarget()
    const { id } = await webhook(fixture.apiOfAcme, target.url)
    const { send } = await fixture.operator('member')
    const { status, body } = await send(`${PATH}/${id}/test`)
    expect([status, body]).toEqual([200, expect.stringContaining('Delivered in')])
    expect(target.requests[0]?.body).toContain('identity.created')
    await send(`${PATH}/${id}/test`, { event_type: 'identity.deleted' })
    expect(target.requests[1]?.body).toContain('identity.deleted')
    const silent = await webhook(fixture.apiOfAcme)
    expect((await send(`${PATH}/${silent.id}/test`)).body).toContain('Not delivered: ')
  })
})

test('what a receiver answers is text, whatever it is', async () => {
  await using fixture = await gateFixture()
  await using target = startTarget(() => new Response(HOSTILE, { headers: { 'x-a': '<script>' } }))
  const { id } = await webhook(fixture.apiOfAcme, target.url)
  const { send } = await fixture.operator('member')
  const { body } = await send(`${PATH}/${id}/test`)
  expect(body).not.toContain('<script>alert')
  expect(body).not.toContain('"<script>"')
  expect(body).toContain('x'.repeat(10_000))
})

describe('the log of a webhook', () => {
  test('leads to each delivery, which can be sent again', async () => {
    await using fixture = await gateFixture()
    await using target = startTarget()
    const { id } = await webhook(fixture.apiOfAcme, target.url)
    const silent = await webhook(fixture.apiOfAcme)
    await signUp(fixture.apiOfAcme)
    await fixture.clock.settled()
    const member = await fixture.operator('member')
    const { body } = await member.open(`${PATH}/${id}`)
    const [, delivery = ''] = new RegExp(`${PATH}/${id}/deliveries/([\\w-]+)`).exec(body) ?? []
    const path = `${PATH}/${id}/deliveries/${delivery}`
    const detail = await member.open(path)
    for (const words of ['Delivered', 'Request', 'Response', 'ada@example.com'])
      expect(detail.body).toContain(words)
    expect(wayOn(await member.send(`${path}/resend`))).toEqual([303, `${path}?done=resent`])
    await fixture.clock.settled()
    expect(target.requests).toHaveLength(2)
    expect(audited(fixture, 'delivery.resent')).toMatchObject([
      { actor_kind: 'operator', actor_id: member.id },
    ])
    const astray = `${PATH}/${silent.id}/deliveries/${delivery}`
    expect((await member.open(astray)).status).toBe(404)
    expect((await member.send(`${astray}/resend`)).status).toBe(404)
    const viewer = await fixture.operator('viewer')
    expect((await viewer.open(path)).body).not.toContain('Retry')
    expect((await viewer.send(`${path}/resend`)).status).toBe(403)
  })

  test('has signatures for those alone who may send again', async () => {
    await using fixture = await gateFixture()
    await using target = startTarget()
    const { id } = await webhook(fixture.apiOfAcme, `${target.url}?of=[1-3]`)
    await signUp(fixture.apiOfAcme)
    await fixture.clock.settled()
    const [member, viewer] = [await fixture.operator('member'), await fixture.operator('viewer')]
    const { body } = await viewer.open(`${PATH}/${id}`)
    const [path = ''] = new RegExp(`${PATH}/${id}/deliveries/[\\w-]+`).exec(body) ?? []
    const command = (await member.open(path)).body
    expect(command).toMatch(/curl -g [\s\S]+-signature: v1,/)
    const scanned = (await viewer.open(path)).body
    expect(scanned).toContain('-signature: ********')
    for (const signed of ['v1,', 'v1=', 'curl ']) expect(scanned).not.toContain(signed)
  })

  test('says what is next where a delivery failed', async () => {
    await using fixture = await gateFixture()
    const { id } = await webhook(fixture.apiOfAcme)
    await signUp(fixture.apiOfAcme)
    await fixture.clock.settled()
    const { open } = await fixture.operator('viewer')
    expect((await open(`${PATH}/${id}`)).body).toContain('failed, retrying')
    expect((await open(`${PATH}/${id}?status=failed`)).body).toContain('No failed deliveries')
    expect((await open(PATH)).body).toContain('last delivery of 1 failed')
  })
})
