import type { Cedar } from './cedar.ts'
import { type Policy, textsByName } from './parse.ts'

/** A tenant's policies in one version, identified by the object. */
export interface PolicySet {
  tenantId: string
  policies: readonly Policy[]
}

/**
 * Parsed policy sets, each in a slot of one tenant; the least recently used slot is reassigned.
 * Limited by number and text size: a parsed set takes about 20 times its text, at worst 150 times.
 */
export function createPolicyCache(bounds: { mostSets: number; mostText: number }) {
  const { mostSets, mostText } = bounds
  /** Ordered by last use, the least recent first. */
  const kept = new Map<string, { set: PolicySet; slot: string; size: number }>()
  const free: string[] = []
  let used = 0
  let size = 0
  let generation = 0

  /** The slot in which `cedar` holds the set, parsing it if needed. */
  function slotOf(cedar: Cedar, set: PolicySet, current: number): string {
    if (current !== generation) forget(current)
    const entry = kept.get(set.tenantId)
    if (entry?.set === set) {
      kept.delete(set.tenantId)
      kept.set(set.tenantId, entry)
      return entry.slot
    }
    if (entry) release(cedar, set.tenantId)
    return keep(cedar, set)
  }

  function keep(cedar: Cedar, set: PolicySet): string {
    const text = set.policies.reduce((sum, policy) => sum + policy.text.length, 0)
    while (kept.size >= mostSets || (kept.size > 0 && size + text > mostText)) {
      release(cedar, kept.keys().next().value as string)
    }
    const slot = free.pop() ?? `slot ${used++}`
    const answer = cedar.keep(slot, textsByName(set.policies))
    if (answer.type === 'failure') throw new Error(answer.errors[0]?.message)
    kept.set(set.tenantId, { set, slot, size: text })
    size += text
    return slot
  }

  /** The engine can drop a set only by parsing another one in its slot. */
  function release(cedar: Cedar, tenantId: string) {
    const entry = kept.get(tenantId)
    if (!entry) return
    cedar.keep(entry.slot, {})
    kept.delete(tenantId)
    free.push(entry.slot)
    size -= entry.size
  }

  function forget(current: number) {
    kept.clear()
    free.length = 0
    used = 0
    size = 0
    generation = current
  }

  return { slotOf, count: () => kept.size }
}
