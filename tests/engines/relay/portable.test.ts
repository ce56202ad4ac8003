import { expect, test } from 'bun:test'
import { exportOf, fileOf, importInto, type Line, ofKind } from '../../platform/portable/fixture.ts'
import { useApp } from '../../support/app.ts'
import { ENDPOINTS } from './support.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const [old, home] = [await useApp(), await useApp()]

/** The file of a tenant with an active, a paused and a deleted endpoint. */
async function exported() {
  const tenant = await old.tenant()
  const { key } = await tenant.key('relay', 'live')
  const api = old.client(key)
  const create = async (name: string, secret?: string) =>
    (await api.post(ENDPOINTS, { url: `https://example.com/${name}`, secret })).body
  await create('a', SECRET)
  await api.delete(`${ENDPOINTS}/${(await create('gone')).id}`)
  await api.patch(`${ENDPOINTS}/${(await create('paused')).id}`, { active: false })
  return { key, lines: exportOf(old, tenant.id) }
}

test('Endpoints move with their secrets, without deleted ones, and get only what comes after', async () => {
  const { key, lines } = await exported()
  expect(ofKind(lines, 'endpoint')).toMatchObject([
    { url: 'https://example.com/a', stream: 'relay.live', secrets: [{ secret: SECRET }] },
    { url: 'https://example.com/paused', is_active: false, disabled_reason: 'manual' },
  ])

  await importInto(home, fileOf(lines))

  const { body } = await home.client(key).get(ENDPOINTS)
  expect(body.data.map(({ active }: Line) => active).toSorted()).toEqual([false, true])
  const after = home.db.client.query('select after_seq from endpoint_filters').all()
  expect(after).toEqual([{ after_seq: 0 }, { after_seq: 0 }])
})

test('An endpoint with a wrong field is refused', async () => {
  const { lines } = await exported()
  const [endpoint] = ofKind(lines, 'endpoint')
  const good = { ...endpoint }
  for (const [changes, field] of [
    [{ secrets: [] }, 'secrets'],
    [{ secrets: [{ secret: 'x', expiresAt: null }] }, 'secret'],
    [{ event_types: ['a b'] }, 'event_types'],
    [{ channels: [''] }, 'channels'],
    [{ headers: { a: 'b\r\nc: d' } }, 'headers.a'],
    [{ stream: 'relay.prod' }, 'stream'],
    [{ url: 'javascript:alert(1)' }, 'url'],
    [{ is_active: true, disabled_reason: 'gone' }, 'disabled_reason'],
  ] as const) {
    Object.assign(endpoint, good, changes)
    await expect(importInto(home, fileOf(lines))).rejects.toThrow(`endpoint.${field}: `)
  }
})
