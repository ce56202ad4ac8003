import { describe, expect, test } from 'bun:test'
import { checkCustomHeaders } from '../../src/delivery/custom-headers.ts'
import { type Delivered, deliveryHeaders } from '../../src/delivery/delivery-headers.ts'
import { DELIVERY_TRIGGERS } from '../../src/delivery/triggers.ts'
import { checkHeaders } from '../../src/platform/outbound/index.ts'

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

const OURS = {
  'Content-Type': 'application/json',
  'webhook-id': '0198c0de-0000-7000-8000-000000000001',
  'webhook-timestamp': '1900000000',
  'webhook-signature': 'v1,AA==',
  'X-Service-Signature': 't=1900000000,v1=00',
  'X-Service-Event-Type': 'user.created',
  'X-Service-Attempt': '3',
  'X-Service-Trigger': 'schedule',
}

test('an attempt carries both signatures and what it is about', () => {
  expect(deliveryHeaders(delivered)).toEqual(OURS)
  expect(() => checkHeaders(deliveryHeaders(delivered))).not.toThrow()
})

test('the headers of the service carry the name of the brand', () => {
  const headers = deliveryHeaders({ ...delivered, brandName: 'Acme-Inc' })
  expect(headers).toMatchObject({
    'X-Acme-Inc-Signature': 't=1900000000,v1=00',
    'X-Acme-Inc-Event-Type': 'user.created',
    'X-Acme-Inc-Attempt': '3',
    'X-Acme-Inc-Trigger': 'schedule',
  })
  expect(Object.keys(headers).join()).not.toContain('Service')
})

test('the content type is that of the format', () => {
  const type = (format: Delivered['format']) =>
    deliveryHeaders({ ...delivered, format })['Content-Type']
  expect(type('raw')).toBe('application/json')
  expect(type('cloudevents')).toBe('application/cloudevents+json')
})

test.each([...DELIVERY_TRIGGERS, 'test'] as const)('an attempt made by %s says so', (trigger) => {
  expect(deliveryHeaders({ ...delivered, trigger })['X-Service-Trigger']).toBe(trigger)
})

describe('an endpoint’s own headers', () => {
  test('come after ours, as they are spelled', () => {
    const headers = deliveryHeaders({ ...delivered, custom: { 'x-ENV': 'eu', Authorization: 'b' } })
    expect(Object.keys(headers)).toEqual([...Object.keys(OURS), 'x-ENV', 'Authorization'])
    expect(headers).toEqual({ ...OURS, 'x-ENV': 'eu', Authorization: 'b' })
  })

  test.each(Object.keys(OURS))('cannot be %s, in whatever case', (name) => {
    for (const spelled of [name, name.toLowerCase(), name.toUpperCase()]) {
      expect(deliveryHeaders({ ...delivered, custom: { [spelled]: 'forged' } })).toEqual(OURS)
      expect(() => checkCustomHeaders({ [spelled]: 'forged' }, 'Service')).toThrow('reserved')
    }
  })
})
