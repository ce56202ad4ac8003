import { conflict } from '../platform/errors.ts'
import type { Policy } from './policy.ts'
import type { Step } from './store/rows.ts'
import { cancelled } from './transitions.ts'

/** An endpoint as far as its open deliveries depend on it; undefined if it is deleted. */
export type Receiver = { isActive: boolean } | undefined

/**
 * What happens to the open deliveries of an endpoint: those of a paused one are held, and those of a
 * deleted one are cancelled. An endpoint is paused if a person or Gatehouse disabled it.
 */
export function handlingOf(receiver: Receiver): 'send' | 'hold' | 'cancel' {
  if (!receiver) return 'cancel'
  return receiver.isActive ? 'send' : 'hold'
}

/** The state of a new delivery. An open circuit breaker holds it like a pause. */
export function firstState(
  { isActive, isBreakerOpen }: { isActive: boolean; isBreakerOpen: boolean },
  { firstDelayMs }: Pick<Policy, 'firstDelayMs'>,
): 'held' | 'waiting' | 'ready' {
  if (!isActive || isBreakerOpen) return 'held'
  return firstDelayMs > 0 ? 'waiting' : 'ready'
}

/** The step after an attempt during which the endpoint may have been paused or deleted. */
export function stepAt(receiver: Receiver, step: Step, endedAt: number): Step {
  const handling = handlingOf(receiver)
  if (step.endedAt !== null || handling === 'send') return step
  return handling === 'hold' ? { ...step, state: 'held' } : cancelled(step, endedAt)
}

/** Throws `conflict` if a delivery that a person requests would be held or cancelled. */
export function requireActive(receiver: Receiver, action: 'resend' | 'replay') {
  const handling = handlingOf(receiver)
  if (handling === 'cancel') throw conflict('the endpoint of this delivery has been deleted')
  if (handling === 'hold')
    throw conflict(`the endpoint is not active; activate it before a ${action}`)
}
