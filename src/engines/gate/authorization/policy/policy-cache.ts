import type { Cedar } from './cedar.ts'
import type { PolicyTexts } from './policy-texts.ts'

/**
 * Parsed policies, each group in a slot; the least recently used slot is reassigned. Limited by
 * number and text size: parsed policies take about 20 times their text, at worst 150 times.
 */
export function createPolicyCache(bounds: { most: number; mostText: number }) {
  const { most, mostText } = bounds
  /** Ordered by last use, the least recent first. */
  const slots = new Map<PolicyTexts, string>()
  const free: string[] = []
  let used = 0
  let size = 0
  let generation = 0

  /** The slot in which `cedar` holds the policies, parsing them if needed. */
  function slotOf(cedar: Cedar, policies: PolicyTexts, current: number): string {
    if (current !== generation) forget(current)
    const slot = slots.get(policies)
    if (slot === undefined) return keep(cedar, policies)
    slots.delete(policies)
    slots.set(policies, slot)
    return slot
  }

  function keep(cedar: Cedar, policies: PolicyTexts): string {
    while (slots.size >= most || (slots.size > 0 && size + policies.size > mostText))
      release(cedar, slots.entries().next().value as [PolicyTexts, string])
    const slot = free.pop() ?? `slot ${used++}`
    const answer = cedar.keep(slot, policies.texts)
    if (answer.type === 'failure') throw new Error(answer.errors[0]?.message)
    slots.set(policies, slot)
    size += policies.size
    return slot
  }

  /** The engine can drop policies only by parsing others in their slot. */
  function release(cedar: Cedar, [policies, slot]: [PolicyTexts, string]) {
    cedar.keep(slot, {})
    slots.delete(policies)
    free.push(slot)
    size -= policies.size
  }

  function forget(current: number) {
    slots.clear()
    free.length = 0
    used = 0
    size = 0
    generation = current
  }

  return { slotOf, count: () => slots.size }
}
