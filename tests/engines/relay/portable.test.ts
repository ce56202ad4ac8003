import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { exportOf, fileOf, importInto, type Line, ofKind } from '../../platform/portable/world.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'

const ENDPOINTS = '/v1/relay/endpoints'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

let old: TestApp
let home: TestApp
let lines: Line[]
let key: string
beforeAll(async () => {
  old = await bootTestApp()
  home = await bootTestApp()
  const tenant = await old.tenant()
  key = (await tenant.key('relay', 'live')).key
  const api = old.client(key)
  const made = await api.post(ENDPOINTS, { url: 'https://example.com/a', secret: SECRET })
  expect(made.status).toBe(201)
  const gone = await api.post(ENDPOINTS, { url: 'https://example.com/gone' })
  await api.delete(`${ENDPOINTS}/${gone.body.id}`)
  const paused = await api.post(ENDPOINTS, { url: 'https://example.com/paused' })
  await api.patch(`${ENDPOINTS}/${paused.body.id}`, { active: false })
  lines = exportOf(old, tenant.id)
})
afterAll(async () => {
  await old.stop()
  await home.stop()
})

describe('endpoints', () => {
  test('are in the file with their secrets in clear, but for those that were deleted', () => {
    expect(ofKind(lines, 'endpoint')).toMatchObject([
      { url: 'https://example.com/a', stream: 'relay.live', secrets: [{ secret: SECRET }] },
      { url: 'https://example.com/paused', is_active: false, disabled_reason: 'manual' },
    ])
  })

  const wrong: [string, object, string][] = [
    ['no secret', { secrets: [] }, 'endpoint: secrets'],
    [
      'a secret that signs nothing',
      { secrets: [{ secret: 'x', expiresAt: null }] },
      'endpoint: secret',
    ],
    ['a type that is none', { event_types: ['a b'] }, 'endpoint: event_types'],
    ['a channel that is none', { channels: [''] }, 'endpoint: channels'],
    ['headers of two lines', { headers: { a: 'b\r\nc: d' } }, 'endpoint: headers'],
    ['a stream that there is not', { stream: 'relay.prod' }, 'endpoint: stream'],
    ['a URL that is none', { url: 'javascript:alert(1)' }, 'endpoint: url'],
    ['both on and off', { is_active: true, disabled_reason: 'gone' }, 'endpoint: disabled_reason'],
  ]
  test.each(wrong)('are refused with %s', async (_, changes, message) => {
    const next = structuredClone(lines)
    Object.assign(ofKind(next, 'endpoint')[0], changes)
    await expect(importInto(home, fileOf(next))).rejects.toThrow(message)
  })

  test('hear only what comes after the move', async () => {
    await importInto(home, fileOf(lines))
    const { body } = await home.client(key).get(ENDPOINTS)
    expect(body.data.map(({ active }: Line) => active).toSorted()).toEqual([false, true])
    expect(home.db.client.query('select after_seq from endpoint_filters').all()).toEqual([
      { after_seq: 0 },
      { after_seq: 0 },
    ])
  })
})
