import { AppError } from '../../../platform/errors.ts'
import type { Engine } from './engine.ts'
import type { PolicySet } from './kept-sets.ts'
import { type Policy, parsePolicies } from './parse.ts'

/** What a tenant has written. Another text has another version. */
export interface CustomPolicies {
  tenantId: string
  version: string | number
  text: string
}

/** What came of reading it. */
type Reading = { set: PolicySet } | { problem: string }

interface Known {
  version: string | number
  text: string
  reading: Reading
}

/** Texts, of any tenant, that have been saved and not been asked about yet. */
const MOST_CHECKED = 16

/** Texts are read once: when they are saved, or else with the first question. */
export function createReadings({ drafts, most }: { drafts: Engine; most: number }) {
  const checked = new Map<string, readonly Policy[]>()
  const known = new Map<string, Known>()

  /** Throws `invalid`, with the place of each mistake. */
  function check(text: string): readonly Policy[] {
    const policies = checked.get(text) ?? parsePolicies(drafts, text)
    putLast(checked, text, policies, MOST_CHECKED)
    return policies
  }

  /** Once a version, also when it turns out to be unreadable. */
  function readingOf(custom: CustomPolicies): Reading {
    const before = known.get(custom.tenantId)
    const reading = isSame(before, custom) ? before.reading : read(custom)
    remember(custom, reading)
    return reading
  }

  function read({ tenantId, text }: CustomPolicies): Reading {
    try {
      return { set: { tenantId, policies: check(text) } }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { problem: `unusable ${error.message}` }
    }
  }

  const remember = ({ tenantId, version, text }: CustomPolicies, reading: Reading) =>
    putLast(known, tenantId, { version, text, reading }, most)

  /** They are not asked again until there is another version of them. */
  const giveUp = (custom: CustomPolicies, problem: string) => remember(custom, { problem })

  return { check, readingOf, giveUp }
}

/** The text as well: a version may come again, as when a backup is restored. */
const isSame = (known: Known | undefined, { version, text }: CustomPolicies): known is Known =>
  known?.version === version && known.text === text

/** And drops what has not been put for longest. */
function putLast<V>(map: Map<string, V>, key: string, value: V, most: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value as string)
}
