import { describe, expect, test } from 'bun:test'
import { bootRelayPages, HOSTILE, NOBODYS, statusesOf, wordsOf } from './fixture.ts'

const PAGE = '/console/deliveries'

describe('who may see deliveries and act on them', () => {
  test('everybody of the tenant sees them, and who may change something acts', async () => {
    await using world = await bootRelayPages()
    await world.endpoint()
    const id = await world.deliveryOf(await world.message())
    const { open, post } = world
    expect(await statusesOf((who) => open(PAGE, who))).toEqual([200, 200, 200, 200, 403])
    expect(await statusesOf((who) => open(`${PAGE}/${id}`, who))).toEqual([200, 200, 200, 404, 403])
    const resend = (who: Parameters<typeof post>[2]) => post(`${PAGE}/${id}/resend`, {}, who)
    expect(await statusesOf(resend)).toEqual([303, 303, 403, 404, 403])
    expect((await post(`${PAGE}/${id}/cancel`, {}, 'viewer')).status).toBe(403)
    expect((await open(`${PAGE}/${id}`, 'viewer')).body).not.toContain('Retry')
    expect((await world.app.raw(PAGE)).status).toBe(401)
  })

  test('one of another tenant is not there', async () => {
    await using world = await bootRelayPages()
    await world.endpoint({}, world.otherApi)
    const theirs = await world.deliveryOf(await world.message({}, world.otherApi), world.otherApi)
    for (const id of [theirs, NOBODYS]) {
      expect((await world.open(`${PAGE}/${id}`)).status).toBe(404)
      for (const verb of ['resend', 'cancel'])
        expect((await world.post(`${PAGE}/${id}/${verb}`)).status).toBe(404)
    }
  })
})

describe('the list', () => {
  test('has those of one state or endpoint, if asked', async () => {
    await using world = await bootRelayPages()
    world.target.answers(({ path }) => new Response('', { status: path === '/bad' ? 500 : 200 }))
    const good = await world.endpoint()
    const bad = await world.endpoint({ url: new URL('/bad', world.target.url).href })
    await world.message()
    const count = async (query: string) =>
      (await world.open(PAGE + query)).body.match(/id="row-/g)?.length ?? 0
    expect(await count('')).toBe(2)
    expect(await count('?status=retrying')).toBe(1)
    expect(await count('?status=succeeded')).toBe(1)
    expect(await count('?status=failed')).toBe(0)
    expect(await count(`?endpoint=${good}&status=succeeded`)).toBe(1)
    expect(await count(`?endpoint=${bad}&status=succeeded`)).toBe(0)
    expect(await count('?status=&endpoint=')).toBe(2)
    expect(await count(`?endpoint=${NOBODYS}`)).toBe(0)
    expect(wordsOf((await world.open(PAGE)).body)).toContain(
      '1 of the last 2 deliveries failed or retrying',
    )
  })

  test('begins with where they would go', async () => {
    await using world = await bootRelayPages()
    expect(wordsOf((await world.open(PAGE)).body)).toContain('No deliveries yet')
  })
})

describe('a delivery', () => {
  test('shows what was sent, what came back, and what comes next', async () => {
    await using world = await bootRelayPages()
    world.target.answers(() => new Response('{"error":"busy"}', { status: 503 }))
    await world.endpoint()
    const id = await world.deliveryOf(await world.message())
    const { body } = await world.open(`${PAGE}/${id}`)
    const words = wordsOf(body)
    expect(words).toContain('Attempt 1 failed: Status 503 after')
    expect(words).toContain('Next attempt in 5 s')
    expect(words).toContain('"order": 42')
    expect(words).toContain('"error": "busy"')
    expect(words).toContain('webhook-signature: v1,')
    expect(words).toContain('Timing of attempt 1')
  })

  test('shows the attempt that is asked for, else the last', async () => {
    await using world = await bootRelayPages()
    world.target.answers(() => new Response('the first', { status: 503 }))
    await world.endpoint()
    const id = await world.deliveryOf(await world.message())
    world.target.answers(() => new Response('the second'))
    await world.post(`${PAGE}/${id}/resend`)
    await world.app.clock.settled()
    const last = await world.open(`${PAGE}/${id}`)
    expect(last.body).toContain('the second')
    expect(wordsOf(last.body)).toContain('Delivered now')
    expect(wordsOf(last.body)).toContain('Previous attempt: Status 503')
    const [, attempt] = /attempt=([\w-]+)/.exec(last.body) ?? []
    expect((await world.open(`${PAGE}/${id}?attempt=${attempt}`)).body).toContain('the first')
    expect((await world.open(`${PAGE}/${id}?attempt=none`)).body).toContain('the second')
  })

  test('is sent again, and cancelled, by the operator', async () => {
    await using world = await bootRelayPages()
    world.target.answers(() => new Response('', { status: 500 }))
    await world.endpoint()
    const id = await world.deliveryOf(await world.message())
    const again = await world.post(`${PAGE}/${id}/resend`)
    await world.app.clock.settled()
    expect(again.headers.get('location')).toBe(`${PAGE}/${id}?done=resent`)
    expect(world.target.requests).toHaveLength(2)
    const by = { object: `delivery:${id}`, actor_id: world.owner.id }
    expect(world.lastAudited()).toMatchObject({ action: 'delivery.resent', ...by })

    const { headers } = await world.post(`${PAGE}/${id}/cancel`)
    expect(headers.get('location')).toBe(`${PAGE}/${id}?done=cancelled`)
    expect(world.lastAudited()).toMatchObject({ action: 'delivery.cancelled', ...by })
    const page = await world.open(`${PAGE}/${id}?done=cancelled`)
    expect(wordsOf(page.body)).toContain('Delivery cancelled.')
    expect(page.body).not.toContain(`${id}/cancel`)
    expect((await world.post(`${PAGE}/${id}/cancel`)).status).toBe(409)
  })

  test('whose endpoint is paused or gone is not offered to be sent again', async () => {
    await using world = await bootRelayPages()
    const endpoint = await world.endpoint()
    const id = await world.deliveryOf(await world.message())
    await world.post(`/console/endpoints/${endpoint}/pause`)
    expect((await world.open(`${PAGE}/${id}`)).body).not.toContain('Retry</button>')
    expect((await world.post(`${PAGE}/${id}/resend`)).status).toBe(409)
    await world.post(`/console/endpoints/${endpoint}/delete`)
    const page = await world.open(`${PAGE}/${id}`)
    expect(page.status).toBe(200)
    expect(wordsOf(page.body)).toContain('Deleted endpoint')
  })

  test('shows whatever an endpoint answers as text, and whole', async () => {
    await using world = await bootRelayPages()
    const { script, turned, long } = HOSTILE
    world.target.answers(
      () =>
        new Response(script + turned + long, {
          status: 500,
          headers: { 'x-evil': '<script>alert(2)' },
        }),
    )
    await world.endpoint()
    const id = await world.deliveryOf(await world.message({ payload: { script } }))
    for (const path of [`${PAGE}/${id}`, `${PAGE}?endpoint=${encodeURIComponent(script)}`]) {
      const { status, body } = await world.open(path)
      expect([path, status, body.includes('<script>alert')]).toEqual([path, 200, false])
    }
    expect((await world.open(`${PAGE}/${id}`)).body).toContain(long)
  })
})
