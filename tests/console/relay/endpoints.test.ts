import { describe, expect, test } from 'bun:test'
import { bootRelayPages, HOSTILE, linkIn, NOBODYS, statusesOf, wordsOf } from './fixture.ts'

const PAGE = '/console/endpoints'
const HOUR = 3_600_000
const FIELDS = { url: 'https://hooks.shop.example/in', format: 'standard' }

describe('who may open and do what', () => {
  test('pages are for those of the tenant, changes for members, deletion for owners', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint()
    const { open, post } = fixture
    expect(await statusesOf((who) => open(PAGE, who))).toEqual([200, 200, 200, 200, 403])
    expect(await statusesOf((who) => open(`${PAGE}/${id}`, who))).toEqual([200, 200, 200, 404, 403])
    for (const part of ['/new', `/${id}/edit`, `/${id}/replay`])
      expect((await open(PAGE + part, 'viewer')).status).toBe(403)
    for (const part of [
      '',
      `/${id}`,
      ...['test', 'rotate', 'pause', 'resume', 'replay'].map((verb) => `/${id}/${verb}`),
    ])
      expect((await post(PAGE + part, FIELDS, 'viewer')).status).toBe(403)
    expect((await post(`${PAGE}/${id}/delete`, {}, 'member')).status).toBe(403)
    expect((await fixture.app.raw(PAGE)).status).toBe(401)
  })

  test('a viewer is offered nothing that changes something', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint()
    const seen = await fixture.open(`${PAGE}/${id}`, 'viewer')
    expect(seen.body).not.toContain(`/${id}/pause`)
    expect((await fixture.open(PAGE, 'viewer')).body).not.toContain('endpoints/new')
    expect((await fixture.open(`${PAGE}/${id}`, 'member')).body).not.toContain(`/${id}/delete`)
    expect((await fixture.open(`${PAGE}/${id}`)).body).toContain(`/${id}/delete`)
  })

  test('an endpoint of another tenant, or of the other data, is not there', async () => {
    await using fixture = await bootRelayPages()
    const theirs = await fixture.endpoint({}, fixture.otherApi)
    const tests = await fixture.endpoint({}, fixture.testApi)
    for (const id of [theirs, tests, NOBODYS]) {
      for (const part of ['', '/edit', '/replay'])
        expect((await fixture.open(`${PAGE}/${id}${part}`)).status).toBe(404)
      for (const verb of ['', '/test', '/pause', '/delete'])
        expect((await fixture.post(`${PAGE}/${id}${verb}`, FIELDS)).status).toBe(404)
      expect((await fixture.post(`${PAGE}/${id}/rotate`, { grace: 'day' })).status).toBe(404)
      expect((await fixture.post(`${PAGE}/${id}/resume`, { held: 'drain' })).status).toBe(404)
    }
    expect((await fixture.open(`${PAGE}/${tests}`, 'owner', 'test')).status).toBe(200)
  })
})

describe('the list', () => {
  test('says in a sentence how they stand, and shows those asked for', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    const bad = new URL('/bad', fixture.target.url).href
    const [good, failing, paused] = [
      await fixture.endpoint(),
      await fixture.endpoint({ url: bad }),
      await fixture.endpoint({ active: false, description: 'Staging' }),
    ]
    await fixture.message()

    const page = await fixture.open(PAGE)
    expect(wordsOf(page.body)).toContain('1 active, 1 failing since 12:00 UTC, 1 paused')
    expect(page.body).toContain('100%')
    expect(page.body).toContain('0.0%')
    const rows = async (query: string) => {
      const { body } = await fixture.open(`${PAGE}?${query}`)
      return [good, failing, paused].filter((id) => body.includes(`row-${id}`))
    }
    expect(page.body.indexOf(`row-${failing}`)).toBeLessThan(page.body.indexOf(`row-${paused}`))
    expect(await rows('state=failing')).toEqual([failing])
    expect(await rows('state=paused')).toEqual([paused])
    expect(await rows('q=stAging')).toEqual([paused])
    expect(await rows(`q=${good}`)).toEqual([good])
    expect(await rows('q=nowhere')).toEqual([])
    expect(await rows('state=unknown')).toHaveLength(3)
  })

  test('begins with a command that makes the first one', async () => {
    await using fixture = await bootRelayPages()
    const { body } = await fixture.open(PAGE)
    expect(body).toContain('No endpoints yet')
    expect(body).toContain('/v1/relay/endpoints')
    expect((await fixture.open(PAGE, 'viewer')).body).not.toContain('Create endpoint')
  })

  test('is read page by page', async () => {
    await using fixture = await bootRelayPages()
    const ids: string[] = []
    for (let n = 0; n < 27; n++) ids.push(await fixture.endpoint())
    const rowsIn = (html: string) => [...html.matchAll(/id="row-([\w-]+)"/g)].map(([, id]) => id)
    const first = await fixture.open(PAGE)
    const next = linkIn(first.body, 'next')
    const second = await fixture.open(next)
    expect([...rowsIn(first.body), ...rowsIn(second.body)]).toEqual(ids.toReversed())
    expect(linkIn(second.body, 'prev')).toBe(PAGE)
    expect(linkIn((await fixture.open(`${PAGE}?state=active`)).body, 'next')).toContain(
      'state=active',
    )
  })

  test('has those that would hear of a type, in a channel', async () => {
    await using fixture = await bootRelayPages()
    const all = await fixture.endpoint()
    const orders = await fixture.endpoint({ event_types: ['order.*'], channels: ['eu'] })
    const users = await fixture.endpoint({ event_types: ['user.created'], channels: ['us'] })
    await fixture.message()
    const rows = async (query: string) => {
      const { body } = await fixture.open(`${PAGE}?${query}`)
      return [all, orders, users].filter((id) => body.includes(`row-${id}`))
    }
    expect(await rows('type=order.paid')).toEqual([all, orders])
    expect(await rows('type=user.created')).toEqual([all, users])
    expect(await rows('channel=eu')).toEqual([all, orders])
    expect(await rows('type=order.paid&channel=us')).toEqual([all])
    expect(await rows('type=&channel=')).toHaveLength(3)
    const { body } = await fixture.open(PAGE)
    for (const choice of ['order.paid', 'eu', 'us'])
      expect(body).toContain(`<option value="${choice}">`)
  })

  test('says what waits: the next attempt at one that fails, and what is held', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(() => new Response('', { status: 500 }))
    await fixture.endpoint()
    await fixture.message()
    expect(wordsOf((await fixture.open(PAGE)).body)).toContain('Retry in 5 s')
    fixture.target.answers(() => new Response(''))
    const paused = await fixture.endpoint({ event_types: ['user.*'] })
    await fixture.post(`${PAGE}/${paused}/pause`)
    await fixture.message({ event_type: 'user.created' })
    expect(wordsOf((await fixture.open(PAGE)).body)).toContain('1 held')
  })

  test('shows an endpoint whose secrets cannot be opened like any other', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint()
    fixture.app.db.client.run("UPDATE endpoints SET secrets = 'lost', headers = 'lost'")
    const { status, body } = await fixture.open(PAGE)
    expect([status, body.includes(`row-${id}`)]).toEqual([200, true])
  })
})

describe('a new endpoint', () => {
  test('listens from the start to what the address asks for', async () => {
    await using fixture = await bootRelayPages()
    const { body } = await fixture.open(`${PAGE}/new?event_types=order.paid`)
    expect(body).toContain('>order.paid</textarea>')
  })

  test('shows its secret once, and is made by the operator', async () => {
    await using fixture = await bootRelayPages()
    const made = await fixture.post(PAGE, {
      ...FIELDS,
      event_types: 'order.*, user.created\ninvoice.paid',
      channels: 'eu',
      headers: 'X-Team: orders\nAuthorization: Bearer abc',
    })
    const [secret = ''] = /whsec_[\w+/=]+/.exec(made.body) ?? []
    expect([made.status, secret.length > 30]).toEqual([200, true])
    const { data } = (await fixture.api.get('/v1/relay/endpoints')).body
    expect(data).toMatchObject([
      {
        url: FIELDS.url,
        event_types: ['order.*', 'user.created', 'invoice.paid'],
        channels: ['eu'],
        headers: { 'X-Team': 'orders', Authorization: '********' },
      },
    ])
    const own = await fixture.open(`${PAGE}/${data[0].id}`)
    expect(own.body).not.toContain(secret)
    expect(own.body).not.toContain('Bearer abc')
    expect(fixture.lastAudited()).toMatchObject({
      action: 'endpoint.created',
      object: `endpoint:${data[0].id}`,
      actor_id: fixture.owner.id,
      tenant_id: fixture.acme.id,
    })
  })

  test.each([
    ['url', { url: '' }],
    ['url', { url: 'ftp://example.com' }],
    ['description', { description: 'x'.repeat(501) }],
    ['event_types', { event_types: 'no such!type' }],
    ['event_types', { event_types: Array.from({ length: 101 }, (_, n) => `t${n}`).join(',') }],
    ['channels', { channels: 'a b c d e f g h i j k' }],
    ['headers', { headers: 'without a colon' }],
    ['headers', { headers: 'X-A: 1\nx-a: 2' }],
    ['format', { format: 'xml' }],
    ['secret', { secret: 'whsec_short' }],
  ])('comes back with what is wrong beside %s', async (name, wrong: Record<string, string>) => {
    await using fixture = await bootRelayPages()
    const answer = await fixture.post(PAGE, { ...FIELDS, url: 'https://kept.example', ...wrong })
    expect(answer.status).toBe(422)
    expect(answer.body).toContain(`id="field-${name}-error"`)
    if (name !== 'url') expect(answer.body).toContain('https://kept.example')
    expect(answer.body).not.toContain('whsec_short')
    expect((await fixture.api.get('/v1/relay/endpoints')).body.data).toEqual([])
  })
})

describe('an endpoint', () => {
  test('is changed by its form, which begins with what it is', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint({
      headers: { Authorization: 'Bearer abc' },
      channels: ['eu'],
    })
    const form = await fixture.open(`${PAGE}/${id}/edit`)
    expect(form.body).toContain('Authorization: ********')
    const fields = { ...FIELDS, description: 'Shop', headers: 'Authorization: ********' }
    const { status, headers } = await fixture.post(`${PAGE}/${id}`, fields)
    expect([status, headers.get('location')]).toEqual([303, `${PAGE}/${id}?done=saved`])
    expect((await fixture.api.get(`/v1/relay/endpoints/${id}`)).body).toMatchObject({
      url: FIELDS.url,
      description: 'Shop',
      channels: [],
      event_types: null,
    })
    expect(fixture.lastAudited()?.action).toBe('endpoint.updated')

    const wrong = await fixture.post(`${PAGE}/${id}`, { ...fields, url: 'nowhere' })
    expect([wrong.status, wrong.body.includes('value="nowhere"')]).toEqual([422, true])
  })

  test('says since when and how it fails', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(() => new Response('', { status: 500 }))
    const id = await fixture.endpoint()
    const message = await fixture.message()
    const { body } = await fixture.open(`${PAGE}/${id}`)
    expect(wordsOf(body)).toContain('Failing since 12:00 UTC: 1 failed attempt in a row.')
    expect(wordsOf(body)).toMatch(/Last attempt .*Response: status 500/)
    expect(body).toContain(`/console/deliveries/${await fixture.deliveryOf(message)}`)
    fixture.target.answers(() => new Response(''))
    await fixture.app.clock.advance(5000)
    expect(wordsOf((await fixture.open(`${PAGE}/${id}`)).body)).not.toContain('Last attempt')
  })

  test('is paused, and resumed with or without what was held', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint()
    for (const [held, sent] of [
      ['drain', 1],
      ['discard', 0],
    ] as const) {
      fixture.target.requests.length = 0
      await fixture.post(`${PAGE}/${id}/pause`)
      expect(wordsOf((await fixture.open(`${PAGE}/${id}`)).body)).toContain('Paused.')
      await fixture.message()
      expect(fixture.target.requests).toHaveLength(0)
      const { headers } = await fixture.post(`${PAGE}/${id}/resume`, { held })
      expect(headers.get('location')).toContain(`${PAGE}/${id}?done=`)
      await fixture.app.clock.settled()
      expect(fixture.target.requests).toHaveLength(sent)
      expect(fixture.lastAudited()).toMatchObject({
        action: 'endpoint.updated',
        actor_id: fixture.owner.id,
      })
    }
    expect((await fixture.post(`${PAGE}/${id}/resume`, { held: 'burn' })).status).toBe(400)
  })

  test('gets a test event, and the page shows what it answered', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(() => new Response('{"taken":true}', { status: 201 }))
    const id = await fixture.endpoint()
    const { status, body } = await fixture.post(`${PAGE}/${id}/test`, { event_type: 'order.paid' })
    expect([status, fixture.target.requests.length]).toEqual([200, 1])
    expect(wordsOf(body)).toContain('Delivered: status 201')
    expect(wordsOf(body)).toContain('"taken": true')
    expect(fixture.lastAudited()).toMatchObject({
      action: 'endpoint.tested',
      object: `endpoint:${id}`,
    })

    const wrong = await fixture.post(`${PAGE}/${id}/test`, { event_type: 'no such!type' })
    expect(wrong.status).toBe(422)
    expect(wrong.body).toContain('value="no such!type"')
    expect(fixture.target.requests).toHaveLength(1)
  })

  test('gets another secret, shown once, while the one before signs on', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint()
    expect(wordsOf((await fixture.open(`${PAGE}/${id}`)).body)).toContain(
      'Signing secret One active secret',
    )
    const { status, body } = await fixture.post(`${PAGE}/${id}/rotate`, { grace: 'week' })
    const [secret = ''] = /whsec_[\w+/=]+/.exec(body) ?? []
    expect([status, secret.length > 30]).toEqual([200, true])
    expect(wordsOf(body)).toContain('The old secret expires 2026-')
    const page = await fixture.open(`${PAGE}/${id}`)
    expect(page.body).not.toContain(secret)
    expect(wordsOf(page.body)).toContain('Two active secrets; the old one expires 2026-')
    expect(fixture.lastAudited()?.action).toBe('endpoint.secret_rotated')

    for (const grace of ['year', 'constructor'])
      expect((await fixture.post(`${PAGE}/${id}/rotate`, { grace })).status).toBe(400)
  })

  test('is deleted', async () => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint()
    const { headers } = await fixture.post(`${PAGE}/${id}/delete`)
    expect(headers.get('location')).toBe(`${PAGE}?done=deleted`)
    expect((await fixture.open(`${PAGE}/${id}`)).status).toBe(404)
    expect(fixture.lastAudited()).toMatchObject({
      action: 'endpoint.deleted',
      object: `endpoint:${id}`,
    })
  })
})

describe('a replay', () => {
  test('counts first, and sends only once that is confirmed', async () => {
    await using fixture = await bootRelayPages()
    await fixture.message()
    await fixture.message()
    const id = await fixture.endpoint()
    const since = new Date(fixture.app.clock.now() - HOUR).toISOString()
    const query = new URLSearchParams({ since, until: '', which: 'undelivered', per_second: '100' })
    const form = await fixture.open(`${PAGE}/${id}/replay`)
    expect(form.body).not.toContain('to send')
    const counted = await fixture.open(`${PAGE}/${id}/replay?${query}`)
    expect(wordsOf(counted.body)).toContain('2 messages to send')
    expect(fixture.target.requests).toHaveLength(0)

    const { headers } = await fixture.post(`${PAGE}/${id}/replay`, Object.fromEntries(query))
    expect(headers.get('location')).toBe(`${PAGE}/${id}?replayed=2`)
    expect(fixture.lastAudited()).toMatchObject({
      object: `endpoint:${id}`,
      actor_id: fixture.owner.id,
    })
  })

  test('shows how far it is, until all of it is sent', async () => {
    await using fixture = await bootRelayPages()
    await fixture.message()
    await fixture.message()
    await fixture.message()
    const id = await fixture.endpoint()
    const since = new Date(fixture.app.clock.now() - HOUR).toISOString()
    const fields = { since, which: 'undelivered', per_second: '1' }
    const { headers } = await fixture.post(`${PAGE}/${id}/replay`, fields)
    const progress = async () => {
      const { body } = await fixture.open(headers.get('location') ?? '')
      return { words: wordsOf(body), looksAgain: body.includes('hx-trigger="every 2s"') }
    }
    await fixture.app.clock.settled()
    const begun = await progress()
    expect([begun.words.includes('1 of 3'), begun.looksAgain]).toEqual([true, true])
    expect(begun.words).toContain('Refresh')
    await fixture.app.clock.advance(3000)
    const done = await progress()
    expect([done.words.includes('All sent3 of 3'), done.looksAgain]).toEqual([true, false])
    expect((await fixture.open(`${PAGE}/${id}?replayed=none`)).body).not.toContain(
      'replay-progress',
    )
  })

  test.each([
    ['since', { since: 'yesterday' }],
    ['since', { since: '2027-01-01T00:00:00Z' }],
    ['until', { until: '2020-01-01T00:00:00Z' }],
    ['which', { which: 'some' }],
    ['per_second', { per_second: '0' }],
  ])('comes back with what is wrong beside %s', async (name, wrong: Record<string, string>) => {
    await using fixture = await bootRelayPages()
    const id = await fixture.endpoint()
    const fields = { since: '2026-03-01T00:00:00Z', ...wrong }
    for (const answer of [
      await fixture.open(`${PAGE}/${id}/replay?${new URLSearchParams(fields)}`),
      await fixture.post(`${PAGE}/${id}/replay`, fields),
    ]) {
      expect(answer.status).toBe(422)
      expect(answer.body).toContain(`id="field-${name}-error"`)
    }
  })
})

test('whatever a tenant calls its endpoints is shown as text, and whole', async () => {
  await using fixture = await bootRelayPages()
  const { script, turned } = HOSTILE
  const url = `https://shop.example/${'x'.repeat(1500)}`
  const id = await fixture.endpoint({
    url,
    description: script + turned,
    headers: { 'X-A': script },
  })
  for (const path of [
    PAGE,
    `${PAGE}/${id}`,
    `${PAGE}/${id}/edit`,
    `${PAGE}?q=${encodeURIComponent(script)}`,
  ]) {
    const { status, body } = await fixture.open(path)
    expect([path, status, body.includes('<script>alert')]).toEqual([path, 200, false])
  }
  const { body } = await fixture.open(`${PAGE}/${id}`)
  expect(body).toContain(`>${url}<`)
  expect(body).toContain('&lt;script>alert(1)')
  expect(body).not.toContain('\u202e')
})
