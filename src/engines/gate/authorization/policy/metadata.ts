import type { CedarValueJson } from '@cedar-policy/cedar-wasm/web'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonBytes,
} from '../../identities/documents/json.ts'
import { RESERVED_MEMBERS } from './context.ts'

/** Maximum size, in bytes of the JSON given to policies, to keep decisions fast. */
const MAX_BYTES = 16_384

/** Maximum nesting; the metadata itself is the first level. */
const MAX_LEVELS = 16

type Held = Record<string, CedarValueJson>

/** All metadata or the reason why not, because a missing part could hide what a policy forbids. */
export function metadataForPolicies(metadata: JsonObject): { held: Held } | { problem: string } {
  if (jsonBytes(metadata) > MAX_BYTES) return problem(TOO_LARGE)
  const flaw = flawIn(metadata, 1)
  if (flaw !== undefined) return problem(flaw)
  const held = heldMembers(metadata)
  return Buffer.byteLength(JSON.stringify(held)) > MAX_BYTES ? problem(TOO_ODD) : { held }
}

const problem = (flaw: string) => ({ problem: `the subject's metadata_public ${flaw}` })

const TOO_LARGE = `is larger than ${MAX_BYTES / 1024} KB, the limit for policies`
const TOO_ODD = 'has too many nulls, fractions and similar values for policies'

function flawIn(value: Json, level: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (level > MAX_LEVELS) {
    return `is nested deeper than ${MAX_LEVELS} levels, the limit for policies`
  }
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return firstOf(names, flawOfName) ?? firstOf(Object.values(value), (v) => flawIn(v, level + 1))
}

function flawOfName(name: string): string | undefined {
  if (RESERVED_MEMBERS.has(name)) return `has a member ${name}, a name that is reserved in policies`
  return name.isWellFormed() ? undefined : 'has a member whose name is not valid Unicode'
}

function firstOf<T>(items: readonly T[], flawOf: (item: T) => string | undefined) {
  for (const item of items) {
    const flaw = flawOf(item)
    if (flaw !== undefined) return flaw
  }
  return undefined
}

const heldMembers = (members: JsonObject): Held =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, held(value)]))

function held(value: Json): CedarValueJson {
  if (Array.isArray(value)) return value.map(held)
  if (isJsonObject(value)) return heldMembers(value)
  return isKnown(value) ? value : unsupported(value)
}

const isKnown = (value: null | boolean | number | string): value is boolean | number | string =>
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isSafeInteger(value)) ||
  (typeof value === 'string' && value.isWellFormed())

/** An incomparable reference, equal only to itself; resource types start with a capital letter. */
const unsupported = (value: null | boolean | number | string): CedarValueJson => ({
  __entity: { type: 'unsupported', id: JSON.stringify(value) },
})
