import type { Cedar } from './cedar.ts'
import { type Policy, textsByName } from './parse.ts'

/** The policies of a tenant in one version: the object stands for that. */
export interface PolicySet {
  tenantId: string
  policies: readonly Policy[]
}

/**
 * Sets that the engine holds parsed, each in a slot that belongs to one tenant until it is
 * taken from the one that has not asked for longest. Bounded by their number and by their text,
 * of which a parsed set takes some twenty times the size, at worst a hundred and fifty times.
 */
export function createKeptSets(bounds: { mostSets: number; mostText: number }) {
  const { mostSets, mostText } = bounds
  /** The one that has not been asked for longest comes first. */
  const kept = new Map<string, { set: PolicySet; slot: string; size: number }>()
  const free: string[] = []
  let used = 0
  let size = 0
  let generation = 0

  /** The name under which `cedar` holds the set, which is parsed if need be. */
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

  /** The engine can forget a set only by parsing another one over it. */
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
