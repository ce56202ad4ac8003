import { describe, expect, test } from 'bun:test'
import { bootRelayPages, HOSTILE, NOBODYS, statusesOf, wordsOf } from './fixture.ts'

const PAGE = '/console/deliveries'

describe('who may see deliveries and act on them', () => {
  test('everybody of the tenant sees them, and who may change something acts', async () => {
    await using fixture = await bootRelayPages()
    await fixture.endpoint()
    const id = await fixture.deliveryOf(await fixture.message())
    const { open, post } = fixture
    expect(await statusesOf((who) => open(PAGE, who))).toEqual([200, 200, 200, 200, 403])
    expect(await statusesOf((who) => open(`${PAGE}/${id}`, who))).toEqual([200, 200, 200, 404, 403])
    const resend = (who: Parameters<typeof post>[2]) => post(`${PAGE}/${id}/resend`, {}, who)
    expect(await statusesOf(resend)).toEqual([303, 303, 403, 404, 403])
    expect((await post(`${PAGE}/${id}/cancel`, {}, 'viewer')).status).toBe(403)
    expect((await open(`${PAGE}/${id}`, 'viewer')).body).not.toContain('Retry')
    expect((await fixture.app.raw(PAGE)).status).toBe(401)
  })

  test('one of another tenant is not there', async () => {
    await using fixture = await bootRelayPages()
    await fixture.endpoint({}, fixture.otherApi)
    const theirs = await fixture.deliveryOf(
      await fixture.message({}, fixture.otherApi),
      fixture.otherApi,
    )
    for (const id of [theirs, NOBODYS]) {
      expect((await fixture.open(`${PAGE}/${id}`)).status).toBe(404)
      for (const verb of ['resend', 'cancel'])
        expect((await fixture.post(`${PAGE}/${id}/${verb}`)).status).toBe(404)
    }
  })
})

describe('the list', () => {
  test('has those of one state or endpoint, if asked', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    const good = await fixture.endpoint()
    const bad = await fixture.endpoint({ url: new URL('/bad', fixture.target.url).href })
    await fixture.message()
    const count = async (query: string) =>
      (await fixture.open(PAGE + query)).body.match(/id="row-/g)?.length ?? 0
    expect(await count('')).toBe(2)
    expect(await count('?status=retrying')).toBe(1)
    expect(await count('?status=succeeded')).toBe(1)
    expect(await count('?status=failed')).toBe(0)
    expect(await count(`?endpoint=${good}&status=succeeded`)).toBe(1)
    expect(await count(`?endpoint=${bad}&status=succeeded`)).toBe(0)
    expect(await count('?status=&endpoint=')).toBe(2)
    expect(await count(`?endpoint=${NOBODYS}`)).toBe(0)
    expect(wordsOf((await fixture.open(PAGE)).body)).toContain(
      '1 of the last 2 deliveries failed or retrying',
    )
  })

  test('begins with where they would go', async () => {
    await using fixture = await bootRelayPages()
    expect(wordsOf((await fixture.open(PAGE)).body)).toContain('No deliveries yet')
  })
})

describe('a delivery', () => {
  test('shows what was sent, what came back, and what comes next', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(() => new Response('{"error":"busy"}', { status: 503 }))
    await fixture.endpoint()
    const id = await fixture.deliveryOf(await fixture.message())
    const { body } = await fixture.open(`${PAGE}/${id}`)
    const words = wordsOf(body)
    expect(words).toContain('Attempt 1 failed: Status 503 after')
    expect(words).toContain('Next attempt in 5 s')
    expect(words).toContain('"order": 42')
    expect(words).toContain('"error": "busy"')
    expect(words).toContain('webhook-signature: v1,')
    expect(words).toContain('Timing of attempt 1')
  })

  test('shows the attempt that is asked for, else the last', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(() => new Response('the first', { status: 503 }))
    await fixture.endpoint()
    const id = await fixture.deliveryOf(await fixture.message())
    fixture.target.answers(() => new Response('the second'))
    await fixture.post(`${PAGE}/${id}/resend`)
    await fixture.app.clock.settled()
    const last = await fixture.open(`${PAGE}/${id}`)
    expect(last.body).toContain('the second')
    expect(wordsOf(last.body)).toContain('Delivered now')
    expect(wordsOf(last.body)).toContain('Previous attempt: Status 503')
    const [, attempt] = /attempt=([\w-]+)/.exec(last.body) ?? []
    expect((await fixture.open(`${PAGE}/${id}?attempt=${attempt}`)).body).toContain('the first')
    expect((await fixture.open(`${PAGE}/${id}?attempt=none`)).body).toContain('the second')
  })

  test('is sent again, and cancelled, by the operator', async () => {
    await using fixture = await bootRelayPages()
    fixture.target.answers(() => new Response('', { status: 500 }))
    await fixture.endpoint()
    const id = await fixture.deliveryOf(await fixture.message())
    const again = await fixture.post(`${PAGE}/${id}/resend`)
    await fixture.app.clock.settled()
    expect(again.headers.get('location')).toBe(`${PAGE}/${id}?done=resent`)
    expect(fixture.target.requests).toHaveLength(2)
    const by = { object: `delivery:${id}`, actor_id: fixture.owner.id }
    expect(fixture.lastAudited()).toMatchObject({ action: 'delivery.resent', ...by })

    const { headers } = await fixture.post(`${PAGE}/${id}/cancel`)
    expect(headers.get('location')).toBe(`${PAGE}/${id}?done=cancelled`)
    expect(fixture.lastAudited()).toMatchObject({ action: 'delivery.cancelled', ...by })
    const page = await fixture.open(`${PAGE}/${id}?done=cancelled`)
    expect(wordsOf(page.body)).toContain('Delivery cancelled.')
    expect(page.body).not.toContain(`${id}/cancel`)
    expect((await fixture.post(`${PAGE}/${id}/cancel`)).status).toBe(409)
  })

  test('whose endpoint is paused or gone is not offered to be sent again', async () => {
    await using fixture = await bootRelayPages()
    const endpoint = await fixture.endpoint()
    const id = await fixture.deliveryOf(await fixture.message())
    await fixture.post(`/console/endpoints/${endpoint}/pause`)
    expect((await fixture.open(`${PAGE}/${id}`)).body).not.toContain('Retry</button>')
    expect((await fixture.post(`${PAGE}/${id}/resend`)).status).toBe(409)
    await fixture.post(`/console/endpoints/${endpoint}/delete`)
    const page = await fixture.open(`${PAGE}/${id}`)
    expect(page.status).toBe(200)
    expect(wordsOf(page.body)).toContain('Deleted endpoint')
  })

  test('shows whatever an endpoint answers as text, and whole', async () => {
    await using fixture = await bootRelayPages()
    const { script, turned, long } = HOSTILE
    fixture.target.answers(
      () =>
        new Response(script + turned + long, {
          status: 500,
          headers: { 'x-evil': '<script>alert(2)' },
        }),
    )
    await fixture.endpoint()
    const id = await fixture.deliveryOf(await fixture.message({ payload: { script } }))
    for (const path of [`${PAGE}/${id}`, `${PAGE}?endpoint=${encodeURIComponent(script)}`]) {
      const { status, body } = await fixture.open(path)
      expect([path, status, body.includes('<script>alert')]).toEqual([path, 200, false])
    }
    expect((await fixture.open(`${PAGE}/${id}`)).body).toContain(long)
  })
})
