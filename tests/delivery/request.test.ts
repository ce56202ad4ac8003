import { expect, test } from 'bun:test'
import { type Delivered, deliveryHeaders } from '../../src/delivery/delivery-headers.ts'
import { bodyOf, FORMATS, type Message } from '../../src/delivery/formats.ts'
import { createPolicyOf } from '../../src/delivery/policy.ts'
import { DELIVERY_TRIGGERS } from '../../src/delivery/triggers.ts'
import { webhookPolicy } from '../../src/engines/gate/webhooks/policy.ts'
import { relayPolicy } from '../../src/engines/relay/delivery-policy.ts'
import { checkHeaders } from '../../src/platform/outbound/index.ts'
import { testConfig } from '../support/config.ts'

const delivered: Delivered = {
  brandName: 'Service',
  messageId: '0198c0de-0000-7000-8000-000000000001',
  type: 'user.created',
  format: 'standard',
  timestamp: 1_900_000_000,
  attempt: 3,
  trigger: 'schedule',
  signature: { standard: 'v1,AA==', service: 't=1900000000,v1=00' },
  custom: {},
}

const HEADERS = {
  'Content-Type': 'application/json',
  'webhook-id': '0198c0de-0000-7000-8000-000000000001',
  'webhook-timestamp': '1900000000',
  'webhook-signature': 'v1,AA==',
  'X-Service-Signature': 't=1900000000,v1=00',
  'X-Service-Event-Type': 'user.created',
  'X-Service-Attempt': '3',
  'X-Service-Trigger': 'schedule',
}

test('An attempt has both signatures, its trigger, the brand, and custom headers after them', () => {
  expect(deliveryHeaders(delivered)).toEqual(HEADERS)
  checkHeaders(deliveryHeaders(delivered))
  const custom = { 'x-ENV': 'eu', Authorization: 'b' }
  const headers = deliveryHeaders({ ...delivered, custom })
  expect(Object.keys(headers)).toEqual([...Object.keys(HEADERS), 'x-ENV', 'Authorization'])
  expect(headers).toEqual({ ...HEADERS, ...custom })

  const branded = Object.keys(deliveryHeaders({ ...delivered, brandName: 'Acme-Inc' }))
  const names = ['Signature', 'Event-Type', 'Attempt', 'Trigger'].map((one) => `X-Acme-Inc-${one}`)
  expect(branded.slice(4)).toEqual(names)
  for (const trigger of [...DELIVERY_TRIGGERS, 'test'] as const)
    expect(deliveryHeaders({ ...delivered, trigger })['X-Service-Trigger']).toBe(trigger)
})

test('Our headers cannot be set by an endpoint, in any case', () => {
  for (const name of Object.keys(HEADERS))
    for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
      const custom = { [spelled]: 'forged' }
      expect(deliveryHeaders({ ...delivered, custom })).toEqual(HEADERS)
    }
})

const message: Message = {
  id: '0198c0de-0000-7000-8000-000000000001',
  tenantId: '0198c0de-0000-7000-8000-0000000000aa',
  type: 'user.created',
  acceptedAt: Date.UTC(2026, 2, 1, 12, 0, 0, 7),
  payload: '{"a":1}',
}
const STANDARD = '{"type":"user.created","timestamp":"2026-03-01T12:00:00.007Z","data":{"a":1}}'
const CLOUDEVENT =
  '{"specversion":"1.0","id":"0198c0de-0000-7000-8000-000000000001",' +
  '"source":"urn:uuid:0198c0de-0000-7000-8000-0000000000aa","type":"user.created",' +
  '"time":"2026-03-01T12:00:00.007Z","datacontenttype":"application/json","data":{"a":1}}'

test.each([
  ['standard', 'application/json', STANDARD],
  ['raw', 'application/json', '{"a":1}'],
  ['cloudevents', 'application/cloudevents+json', CLOUDEVENT],
] as const)('The format %s has the content type %s', (format, type, body) => {
  expect(deliveryHeaders({ ...delivered, format })['Content-Type']).toBe(type)
  expect(bodyOf(format, message)).toBe(body)
})

test.each([
  '{"price":1.0,"big":1e2,"id":12345678901234567890,"tiny":-0}',
  '{"z":1,"a":2,"10":3,"a":4,"__proto__":{"x":1}}',
  '{"name":"Zo\\u00eb \\ud83d\\ude42 \\/ \\u0000","raw":"Zoë 🙂"}',
  ' { "a" : [ 1 , 2 ] }\r\n',
  '{"html":"$& $1 </script>\u2028"}',
])('The payload %j is sent as it is written', (payload) => {
  for (const format of FORMATS) {
    const body = bodyOf(format, { ...message, payload })
    expect(body.endsWith(format === 'raw' ? payload : `,"data":${payload}}`)).toBe(true)
    const parsed = JSON.parse(body)
    expect(format === 'raw' ? parsed : parsed.data).toEqual(JSON.parse(payload))
  }
})

test('Gate and the relay have policies of their own', () => {
  function policyOf(stream: string, flags: Record<string, string> = {}) {
    const { relay, gate } = testConfig(flags)
    const random = () => 0.5
    const policies = { relay: relayPolicy(relay, random), gate: webhookPolicy(gate, random) }
    return createPolicyOf(policies)(stream as 'gate.live')
  }

  expect(policyOf('gate.live')).toMatchObject({
    ...{ firstDelayMs: 0, retryDelaysMs: [1000, 2000], jitter: 0, timeoutMs: 10_000 },
    ...{ heedsReceiver: false, breaker: null },
  })
  const slow = { firstDelayMs: 3000, retryDelaysMs: [4000, 5000] }
  expect(policyOf('gate.test', { 'gate-webhook-delays': '3s,4s,5s' })).toMatchObject(slow)
  expect(policyOf('gate.live', { 'gate-webhook-delays': '0s' }).retryDelaysMs).toEqual([])
  const flags = { 'relay-retry-delays': '7s', 'relay-timeout': '3s', 'relay-breaker-failures': '2' }
  expect(policyOf('relay.test', { ...flags, 'gate-webhook-delays': '9s' })).toMatchObject({
    ...{ firstDelayMs: 0, retryDelaysMs: [7000], jitter: 0.2, timeoutMs: 3000 },
    ...{ heedsReceiver: true, breaker: { breakerFailures: 2 } },
  })
  expect(() => policyOf('clockwork.live')).toThrow()
})
