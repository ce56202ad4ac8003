import { expect, test } from 'bun:test'
import { createLog, type LogLevel } from '../../src/platform/log.ts'

function record(format: 'text' | 'json', level: LogLevel = 'debug') {
  const lines: string[] = []
  const log = createLog({ format, level, now: () => 0, write: (line) => lines.push(line) })
  return { log, lines }
}

test('JSON lines carry time, level, message and fields', () => {
  const { log, lines } = record('json')

  log.warn('slow', { ms: 12, requestId: 'req_1' })

  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { at: '1970-01-01T00:00:00.000Z', level: 'warn', message: 'slow', ms: 12, requestId: 'req_1' },
  ])
})

test('text lines are for people, and quote what has blanks', () => {
  const { log, lines } = record('text')

  log.info('request', { path: '/v1/x', error: 'not good', absent: undefined })

  expect(lines).toEqual(['1970-01-01T00:00:00.000Z INFO  request path=/v1/x error="not good"'])
})

test('what is below the level is left out', () => {
  const { log, lines } = record('json', 'warn')

  log.debug('a')
  log.info('b')
  log.error('c')

  expect(lines).toHaveLength(1)
})

test('nobody can forge a second line', () => {
  for (const format of ['text', 'json'] as const) {
    const { log, lines } = record(format)
    log.info('one\ntwo', { field: 'three\r\nfour' })
    expect(lines.join('')).not.toMatch(/[\r\n]/)
  }
})

test('keys, tokens, webhook secrets and bot tokens never reach a line', () => {
  const secrets = [
    'svc_clockwork_0123456789abcdefghijklmnopqrstuvwxyz0123456',
    'svc_gate_live_sk_0123456789abcdefghijklmnopqrstuvwxyz0123456',
    'mybrand_relay_test_sk_0123456789abcdefghijklmnopqrstuvwxyz0123456',
    'gat_live_at_0123456789abcdef',
    'ppt_live_0123456789abcdef',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw+/==',
    'bot123456:AAF-abcdefghijklmnopqrstuvwxyz01234',
  ]
  for (const format of ['text', 'json'] as const) {
    const { log, lines } = record(format)
    for (const secret of secrets) log.error(`at /${secret}/x`, { error: `got ${secret}.` })
    for (const secret of secrets) expect(lines.join('\n')).not.toContain(secret)
    expect(lines.join('\n')).toContain('[redacted]')
  }
})
