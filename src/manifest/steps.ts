import type { Caller } from '../platform/caller.ts'
import { AppError, conflict, type FieldError, invalid } from '../platform/errors.ts'
import { MAX_ERRORS } from './limits.ts'
import { valueFor } from './schema.ts'
import type { Collection, Created, Item, Section, Setting, Stored } from './section.ts'
import { differing } from './values.ts'

/** One change that brings a tenant closer to its manifest. */
export interface Step {
  action: 'create' | 'update' | 'delete'
  section: Section
  /** Where the manifest asks for it, such as `jobs.2`. */
  path: string
  /** The name or URL of the object; null for a setting. */
  name: string | null
  /** Of an object that exists. */
  id: string | null
  /** What is written; null for a deletion. */
  wanted: unknown
  run: (caller: Caller) => Promise<Created | undefined>
}

/**
 * The changes that a manifest may need, deletions first, because they make room. A section that it leaves
 * out is left alone. Throws `invalid` for a name that it has twice, `conflict` for a name that several
 * stored objects have.
 */
export function stepsTo(
  manifest: Item,
  sections: readonly Section[],
  { caller, prune }: { caller: Caller; prune: boolean },
): Step[] {
  const present = sections.filter((section) => valueFor(section, manifest) !== undefined)
  const steps = present.flatMap((section) =>
    section.type === 'setting'
      ? settingSteps(section, valueFor(section, manifest), caller)
      : collectionSteps(section, valueFor(section, manifest) as Item[], { caller, prune }),
  )
  return [
    ...steps.filter(({ action }) => action === 'delete'),
    ...steps.filter(({ action }) => action !== 'delete'),
  ]
}

function settingSteps(section: Setting, given: unknown, caller: Caller): Step[] {
  const value = section.complete(given)
  if (Bun.deepEquals(value, section.read(caller))) return []
  const run = async (by: Caller) => void (await section.write(by, value))
  const { name: path } = section
  return [{ action: 'update', section, path, name: null, id: null, wanted: value, run }]
}

function collectionSteps(
  section: Collection,
  given: readonly Item[],
  { caller, prune }: { caller: Caller; prune: boolean },
): Step[] {
  const stored = Map.groupBy(section.list(caller), ({ item }) => nameOf(section, item))
  refuseUnclear(section, given, stored)
  const wanted = given.map((item) => ({ ...section.defaultsOf(item), ...item }))
  const steps = wanted.flatMap((item, index) => {
    const [known] = stored.get(nameOf(section, item)) ?? []
    const path = `${section.name}.${index}`
    return known ? updateOf(section, item, known, path) : [creationOf(section, item, path)]
  })
  if (!prune) return steps
  const names = new Set(wanted.map((item) => nameOf(section, item)))
  const surplus = [...stored].flatMap(([name, all]) => (names.has(name) ? [] : all))
  return [...steps, ...surplus.map((one) => deletionOf(section, one))]
}

const nameOf = ({ key }: Collection, item: Item): string => `${item[key]}`

function creationOf(section: Collection, item: Item, path: string): Step {
  const run = (caller: Caller) => section.create(caller, item)
  const name = nameOf(section, item)
  return { action: 'create', section, path, name, id: null, wanted: item, run }
}

function updateOf(section: Collection, item: Item, known: Stored, path: string): Step[] {
  const change = differing(known.item, item)
  if (Object.keys(change).length === 0) return []
  const { id } = known
  const run = async (caller: Caller) => void (await section.update(caller, id, change))
  const name = nameOf(section, item)
  return [{ action: 'update', section, path, name, id, wanted: change, run }]
}

function deletionOf(section: Collection, { id, item }: Stored): Step {
  const run = async (caller: Caller) => void (await section.remove(caller, id))
  const name = nameOf(section, item)
  return { action: 'delete', section, path: section.name, name, id, wanted: null, run }
}

function refuseUnclear(
  section: Collection,
  given: readonly Item[],
  stored: ReadonlyMap<string, readonly Stored[]>,
) {
  const seen = new Map<string, number>()
  for (const [index, item] of given.entries()) {
    const name = nameOf(section, item)
    const field = `${section.name}.${index}.${section.key}`
    const other = seen.get(name)
    if (other !== undefined)
      throw invalid(`is also that of ${section.name}.${other}`, { field, rule: 'duplicate' })
    seen.set(name, index)
    const count = stored.get(name)?.length ?? 0
    if (count > 1)
      throw conflict(`is that of ${count} ${section.noun}s: rename or delete all but one`, {
        field,
        rule: 'mismatch',
      })
  }
}

/** Throws the first errors of all steps together, each with its place in the manifest. */
export function throwFailures(
  steps: readonly Step[],
  results: readonly PromiseSettledResult<unknown>[],
  isIgnored: (reason: unknown) => boolean,
) {
  const reasons = results.map((result) =>
    result.status === 'rejected' && !isIgnored(result.reason) ? result.reason : undefined,
  )
  const other = reasons.find((reason) => reason && !isAboutInput(reason))
  if (other) throw other
  const errors = reasons.flatMap((reason: AppError | undefined, index) =>
    (reason?.fieldErrors ?? []).map((error) => within((steps[index] as Step).path, error)),
  )
  const [first, ...rest] = errors.slice(0, MAX_ERRORS)
  const kinds = reasons.flatMap((reason: AppError | undefined) => reason?.kind ?? [])
  const [kind = 'invalid'] = kinds
  if (first) throw new AppError(kinds.includes('invalid') ? 'invalid' : kind, [first, ...rest])
}

/** Unlike a suspended tenant or a full disk. */
const isAboutInput = (reason: unknown): boolean =>
  reason instanceof AppError && ['invalid', 'conflict', 'not_found'].includes(reason.kind)

const within = (path: string, error: FieldError): FieldError => ({
  ...error,
  rule: error.rule ?? 'mismatch',
  field: error.field === undefined || error.field === path ? path : `${path}.${error.field}`,
})
