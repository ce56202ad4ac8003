import { describe, expect, test } from 'bun:test'
import { bodyOf, contentTypeOf, FORMATS, type Message } from '../../src/delivery/formats.ts'

const message: Message = {
  id: '0198c0de-0000-7000-8000-000000000001',
  tenantId: '0198c0de-0000-7000-8000-0000000000aa',
  type: 'user.created',
  acceptedAt: Date.UTC(2026, 2, 1, 12, 0, 0, 7),
  payload: '{"a":1}',
}

test('standard is type, time of acceptance and data', () => {
  expect(bodyOf('standard', message)).toBe(
    '{"type":"user.created","timestamp":"2026-03-01T12:00:00.007Z","data":{"a":1}}',
  )
})

test('raw is the payload alone', () => {
  expect(bodyOf('raw', message)).toBe('{"a":1}')
})

test('cloudevents is a structured CloudEvent 1.0 whose source is the tenant', () => {
  expect(bodyOf('cloudevents', message)).toBe(
    '{"specversion":"1.0","id":"0198c0de-0000-7000-8000-000000000001",' +
      '"source":"urn:uuid:0198c0de-0000-7000-8000-0000000000aa","type":"user.created",' +
      '"time":"2026-03-01T12:00:00.007Z","datacontenttype":"application/json","data":{"a":1}}',
  )
})

test('only cloudevents has a content type of its own', () => {
  expect(FORMATS.map(contentTypeOf)).toEqual([
    'application/json',
    'application/json',
    'application/cloudevents+json',
  ])
})

describe.each([...FORMATS])('in %s the payload keeps its spelling', (format) => {
  test.each([
    '{"price":1.0,"big":1e2,"id":12345678901234567890,"tiny":-0}',
    '{"z":1,"a":2,"10":3,"9":4}',
    '{"name":"Zo\\u00eb \\ud83d\\ude42 \\/ \\u0000","raw":"Zoë 🙂"}',
    '{"a":1,"a":2,"__proto__":{"x":1}}',
    ' { "a" : [ 1 , 2 ] }\r\n',
    '{"html":"$& $1 </script>\u2028"}',
    '{}',
  ])('%j', (payload) => {
    const body = bodyOf(format, { ...message, payload })
    expect(body.endsWith(format === 'raw' ? payload : `,"data":${payload}}`)).toBe(true)
    const parsed = JSON.parse(body)
    expect(format === 'raw' ? parsed : parsed.data).toEqual(JSON.parse(payload))
  })
})

test('a message makes the same bytes each time', () => {
  for (const format of FORMATS) {
    expect(bodyOf(format, { ...message })).toBe(bodyOf(format, message))
  }
})
