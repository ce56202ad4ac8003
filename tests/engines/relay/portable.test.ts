import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { exportOf, fileOf, importInto, type Line, ofKind } from '../../platform/portable/fixture.ts'
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
    [
      'no secret',
      { secrets: [] },
      'line 3: endpoint.secrets: is not valid: expected array length to be greater or equal to 1',
    ],
    [
      'a secret that signs nothing',
      { secrets: [{ secret: 'x', expiresAt: null }] },
      'line 3: endpoint.secret: must be whsec_ followed by standard base64 with padding',
    ],
    [
      'a type that is none',
      { event_types: ['a b'] },
      'line 3: endpoint.event_types: must be a type like user.created, a pattern like user.*, or *',
    ],
    [
      'a channel that is none',
      { channels: [''] },
      'line 3: endpoint.channels: must be 1 to 128 letters, digits or _ . : -',
    ],
    [
      'headers of two lines',
      { headers: { a: 'b\r\nc: d' } },
      'line 3: endpoint.headers.a: must only have characters that are allowed in a header',
    ],
    [
      'a stream that there is not',
      { stream: 'relay.prod' },
      'line 3: endpoint.stream: must be an engine and an environment',
    ],
    [
      'a URL that is none',
      { url: 'javascript:alert(1)' },
      'line 3: endpoint.url: must be an http or https URL',
    ],
    [
      'both on and off',
      { is_active: true, disabled_reason: 'gone' },
      'line 3: endpoint.disabled_reason: must only be set if is_active is false',
    ],
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
