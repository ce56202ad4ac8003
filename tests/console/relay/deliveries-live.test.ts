import { describe, expect, test } from 'bun:test'
import { newOperator } from '../../support/operator.ts'
import { servedApp } from '../console-fixture.ts'
import { listen, streamIn } from '../live-listener.ts'
import { bootRelayPages } from './fixture.ts'

const PAGE = '/console/deliveries'

describe('the list of deliveries', () => {
  test('is kept up to date on its first page, and of one endpoint', async () => {
    await using fixture = await bootRelayPages()
    const endpoint = await fixture.endpoint()
    await fixture.message()
    const streamOf = async (query: string) => streamIn((await fixture.open(PAGE + query)).body)
    expect(await streamOf('')).toContain('/console/live/deliveries?')
    expect(await streamOf(`?endpoint=${endpoint}`)).toContain(`endpoint=${endpoint}`)
    expect(await streamOf('?status=failed')).toBe('')
  })

  test('leads on from what it shows, page by page, however much has come', async () => {
    await using fixture = await bootRelayPages()
    await fixture.endpoint()
    for (let n = 0; n < 51; n++) await fixture.message()
    const first = (await fixture.open(PAGE)).body
    const older = /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = await fixture.open(older)
    expect(streamIn(second.body)).toBe('')
    expect(second.body.match(/id="row-/g)).toHaveLength(1)
    expect(second.body).toContain('rel="prev"')
  })
})

describe('what its stream sends', () => {
  test('takes the place of what there was: a row that came, the last one that went, the way on', async () => {
    await using app = await servedApp()
    const acme = await app.tenant()
    const relay = app.client((await acme.key('relay')).key)
    await relay.post('/v1/relay/endpoints', { url: 'http://127.0.0.1:9/' })
    const send = async (type: string) => {
      await relay.post('/v1/relay/messages', { event_type: type, payload: {} })
      await app.clock.settled()
    }
    for (let n = 0; n < 50; n++) await send('order.old')
    const session = await (await newOperator(app, { roles: { [acme.id]: 'viewer' } })).signIn()
    const { body } = await app.raw(PAGE, { headers: session.headers })
    const rows = [...body.matchAll(/<tr id="(row-[\w-]+)"/g)].map(([, id]) => id)
    const listener = await listen(app.url + streamIn(body), { cookie: session.cookie })
    await send('order.new')
    await app.clock.advance(1000)
    await listener.until(() => listener.text().includes('order.new'))
    expect(listener.text()).toContain(`hx-target="#${rows[0]}" hx-swap="beforebegin"`)
    expect(listener.text()).toContain(`hx-target="#${rows[49]}" hx-swap="delete"`)
    expect(listener.text()).toContain('hx-target="#deliveries-pages"')
    listener.leave()
  })
})
