import { expect, test } from 'bun:test'
import { createLog, type LogLevel } from '../../src/platform/log.ts'

function record(format: 'text' | 'json', level: LogLevel = 'debug') {
  const lines: string[] = []
  const log = createLog({ format, level, now: () => 0, write: (line) => lines.push(line) })
  return { log, lines }
}

test('A line has time, level, message and fields, unless it is below the level', () => {
  const json = record('json', 'info')
  json.log.warn('slow', { ms: 12, requestId: 'req_1' })
  for (const level of ['debug', 'info', 'error'] as const) json.log[level](level)
  const [first, ...rest] = json.lines.map((line) => JSON.parse(line))
  const at = '1970-01-01T00:00:00.000Z'
  expect(first).toEqual({ at, level: 'warn', message: 'slow', ms: 12, requestId: 'req_1' })
  expect(rest.map(({ level }) => level)).toEqual(['info', 'error'])
  const text = record('text')
  text.log.info('request', { path: '/v1/x', error: 'not good', absent: undefined })
  expect(text.lines).toEqual([`${at} INFO  request path=/v1/x error="not good"`])
})

const SECRETS = [
  'svc_clockwork_0123456789abcdefghijklmnopqrstuvwxyz0123456',
  'mybrand_relay_test_sk_0123456789abcdefghijklmnopqrstuvwxyz0123456',
  'gat_live_at_0123456789abcdef',
  'ppt_live_0123456789abcdef',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/==',
  'bot123456:AAF-abcdefghijklmnopqrstuvwxyz01234',
]
test.each(['text', 'json'] as const)('No %s line is forged or shows a secret', (format) => {
  const { log, lines } = record(format)
  log.info('one\ntwo', { field: 'three\r\nfour' })
  for (const secret of SECRETS) log.error(`at /${secret}/x`, { error: `got ${secret}.` })
  expect(lines.join('')).not.toMatch(/[\r\n]/)
  for (const secret of SECRETS) expect(lines.join()).not.toContain(secret)
  expect(lines.join().match(/\[redacted\]/g)).toHaveLength(2 * SECRETS.length)
})
