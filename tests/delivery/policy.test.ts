import { describe, expect, test } from 'bun:test'
import { createPolicyOf } from '../../src/delivery/policy.ts'
import { webhookPolicy } from '../../src/engines/gate/webhooks/policy.ts'
import { relayPolicy } from '../../src/engines/relay/delivery-policy.ts'
import { testConfig } from '../support/config.ts'

function policyOf(flags: Record<string, string> = {}) {
  const { relay, gate } = testConfig(flags)
  const random = () => 0.5
  return createPolicyOf({ relay: relayPolicy(relay, random), gate: webhookPolicy(gate, random) })
}

describe('events of gate', () => {
  test('are tried at once, a second later and two more', () => {
    expect(policyOf()('gate.live')).toMatchObject({
      firstDelayMs: 0,
      retryDelaysMs: [1000, 2000],
      jitter: 0,
      timeoutMs: 10_000,
    })
  })

  test('have the first of their delays before the first attempt', () => {
    const policy = policyOf({ 'gate-webhook-delays': '3s,4s,5s' })('gate.test')

    expect(policy).toMatchObject({ firstDelayMs: 3000, retryDelaysMs: [4000, 5000] })
  })

  test('are tried once where there is one delay', () => {
    expect(policyOf({ 'gate-webhook-delays': '0s' })('gate.live').retryDelaysMs).toEqual([])
  })

  test('stop for nobody', () => {
    expect(policyOf()('gate.live')).toMatchObject({ heedsReceiver: false, breaker: null })
  })
})

test('events of the relay go by the settings of the relay', () => {
  const flags = {
    'relay-retry-delays': '7s',
    'relay-timeout': '3s',
    'relay-breaker-failures': '2',
    'gate-webhook-delays': '9s',
  }

  expect(policyOf(flags)('relay.test')).toMatchObject({
    firstDelayMs: 0,
    retryDelaysMs: [7000],
    jitter: 0.2,
    timeoutMs: 3000,
    heedsReceiver: true,
    breaker: { breakerFailures: 2 },
  })
})

test('an engine that publishes nothing has no policy', () => {
  expect(() => policyOf()('clockwork.live')).toThrow('no delivery policy')
})
