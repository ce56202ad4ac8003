import { describe, expect, test } from 'bun:test'
import { firstState, handlingOf, requireActive, stepAt } from '../../src/delivery/paused.ts'
import type { Step } from '../../src/delivery/store/rows.ts'

const active = { isActive: true }
const paused = { isActive: false }
const deleted = undefined

test('deliveries of a paused endpoint are held, and those of a deleted one cancelled', () => {
  expect([active, paused, deleted].map(handlingOf)).toEqual(['send', 'hold', 'cancel'])
})

describe('a new delivery', () => {
  const now = { firstDelayMs: 0 }
  const later = { firstDelayMs: 1 }

  test('is sent at once, or after the delay of its engine', () => {
    const receiver = { isActive: true, isBreakerOpen: false }

    expect(firstState(receiver, now)).toBe('ready')
    expect(firstState(receiver, later)).toBe('waiting')
  })

  test.each([
    ['paused', { isActive: false, isBreakerOpen: false }],
    ['not called because it keeps failing', { isActive: true, isBreakerOpen: true }],
    ['both', { isActive: false, isBreakerOpen: true }],
  ])('is held if its endpoint is %s, in any engine', (_, receiver) => {
    expect(firstState(receiver, now)).toBe('held')
    expect(firstState(receiver, later)).toBe('held')
  })
})

describe('after an attempt', () => {
  const step = { state: 'waiting', dueAt: 5, endedAt: null, wanted: null } as Step
  const ended = { state: 'succeeded', dueAt: 5, endedAt: 7, wanted: null } as Step

  test('the next one is due as scheduled if the endpoint is active', () => {
    expect(stepAt(active, step, 9)).toBe(step)
  })

  test('the next one is held if the endpoint is paused, and keeps its time', () => {
    expect(stepAt(paused, step, 9)).toEqual({ ...step, state: 'held' })
  })

  test('there is no next one if the endpoint is deleted', () => {
    expect(stepAt(deleted, step, 9)).toMatchObject({ state: 'cancelled', endedAt: 9 })
  })

  test('a delivery that has ended stays as it is', () => {
    for (const receiver of [active, paused, deleted]) expect(stepAt(receiver, ended, 9)).toBe(ended)
  })
})

describe('a resend or replay', () => {
  test('is for active endpoints', () => {
    expect(() => requireActive(active, 'resend')).not.toThrow()
  })

  test.each(['resend', 'replay'] as const)(
    '%s: a paused endpoint has to be activated',
    (action) => {
      expect(() => requireActive(paused, action)).toThrow(
        `the endpoint is not active; activate it before a ${action}`,
      )
    },
  )

  test('is refused for a deleted endpoint', () => {
    expect(() => requireActive(deleted, 'resend')).toThrow('has been deleted')
  })
})
