import { AppError } from '../../../../platform/errors.ts'
import type { Engine } from './engine.ts'
import { type Policy, parsePolicies } from './parse.ts'
import { createPolicySet, type PolicySet } from './policy-set.ts'

/** A tenant's own policies. Every change has a new version. */
export interface CustomPolicies {
  tenantId: string
  version: string | number
  text: string
}

/** Parsed policies, or the reason why they cannot be parsed. */
type ParseResult = { set: PolicySet } | { problem: string }

interface Known {
  version: string | number
  text: string
  result: ParseResult
}

/** Maximum number of texts, of all tenants, that were checked but not used yet. */
const MAX_CHECKED = 16

/** Parses each text once: when it is saved, or else for the first question. */
export function createParsedPolicies({ drafts, most }: { drafts: Engine; most: number }) {
  const checked = new Map<string, readonly Policy[]>()
  const known = new Map<string, Known>()

  /** Throws `invalid` with the position of each mistake. */
  function check(text: string): readonly Policy[] {
    const policies = checked.get(text) ?? parsePolicies(drafts, text)
    putLast(checked, text, policies, MAX_CHECKED)
    return policies
  }

  /** Parsed once per version, including versions that turn out to be unreadable. */
  function parsedOf(custom: CustomPolicies): ParseResult {
    const before = known.get(custom.tenantId)
    const result = isSame(before, custom) ? before.result : read(custom)
    remember(custom, result)
    return result
  }

  function read({ tenantId, text }: CustomPolicies): ParseResult {
    try {
      return { set: createPolicySet(tenantId, check(text)) }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { problem: `unusable ${error.message}` }
    }
  }

  const remember = ({ tenantId, version, text }: CustomPolicies, result: ParseResult) =>
    putLast(known, tenantId, { version, text, result }, most)

  /** The policies are not evaluated again until they are replaced. */
  const giveUp = (custom: CustomPolicies, problem: string) => remember(custom, { problem })

  return { check, parsedOf, giveUp }
}

/** Compares the text as well, because a version may recur, for example after restoring a backup. */
const isSame = (known: Known | undefined, { version, text }: CustomPolicies): known is Known =>
  known?.version === version && known.text === text

/** Moves an entry to the end and drops the least recently used one. */
function putLast<V>(map: Map<string, V>, key: string, value: V, most: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value as string)
}
