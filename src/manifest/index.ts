import type { Db } from '../db/open.ts'
import { RolledBack } from '../db/together.ts'
import type { Caller } from '../platform/caller.ts'
import { conflict, invalid } from '../platform/errors.ts'
import { type Change, describe, isSameState, stateOf } from './changes.ts'
import { exported } from './export.ts'
import { check, schemaOf } from './schema.ts'
import type { Created, Item, Section } from './section.ts'
import { type Step, stepsTo, throwFailures } from './steps.ts'

export type Manifests = ReturnType<typeof createManifests>

export interface ApplyOptions {
  /** Also deletes what the database has of a section and the manifest hasn't. */
  prune: boolean
  /** Creates the tenant, in the same commit. */
  createTenant?: (() => Promise<unknown>) | undefined
  /** The most changes at once. They are one commit, for which other tenants wait. */
  maxChanges?: number
}

/**
 * Manifests: the configuration of a tenant as one object, with the fields and rules of the API. A manifest
 * is applied as a whole or not at all. Applying it again changes nothing.
 */
export function createManifests({ db, sections }: { db: Db; sections: readonly Section[] }) {
  const schema = schemaOf(sections)

  /** The changes that `apply` would make: it makes and undoes them. Throws as `apply` does. */
  const plan = async (caller: Caller, manifest: unknown, options: ApplyOptions) =>
    current(async () => (await tried(caller, manifest, options)).changes)

  /** Throws `invalid` or `conflict` with problems, and then nothing has changed. */
  const apply = (caller: Caller, manifest: unknown, options: ApplyOptions): Promise<Change[]> =>
    current(async () => {
      const { steps, changes, begin } = await tried(caller, manifest, options)
      const results = await together(caller, steps, options, { begin })
      return changes.map((change, index) => ({ ...change, ...shownOnce(results[index]) }))
    })

  /** Leaves out steps without an effect, such as one that spells a value differently. */
  async function tried(caller: Caller, manifest: unknown, options: ApplyOptions) {
    check(schema, manifest)
    const candidates = stepsTo(manifest, sections, { caller, prune: options.prune })
    const { maxChanges = Number.POSITIVE_INFINITY } = options
    if (candidates.length > maxChanges)
      throw invalid(
        `would change ${candidates.length} objects: apply at most ${maxChanges} at once`,
        { rule: 'too_many' },
      )
    const read = () => stateOf(candidates, caller)
    const before = read()
    let after = before
    const begin = () => {
      if (!isSameState(before, read())) throw new Outdated()
    }
    const inspect = () => {
      after = read()
    }
    await together(caller, candidates, options, { isTrial: true, begin, inspect })
    const all = candidates.map((step) => ({ step, change: describe(step, { before, after }) }))
    const real = all.filter(
      ({ step, change }) => step.action !== 'update' || change.fields.length > 0,
    )
    return { steps: real.map(({ step }) => step), changes: real.map(({ change }) => change), begin }
  }

  /** What each step returns; undefined in a trial. Throws the errors of all that fail. */
  async function together(
    caller: Caller,
    steps: readonly Step[],
    { createTenant }: ApplyOptions,
    trial = {},
  ) {
    const tasks = steps.map((step) => () => step.run(caller))
    const first = createTenant ? [createTenant] : []
    const all = await db.together<unknown>(caller.tenantId, [...first, ...tasks], trial)
    const isUndone = (reason: unknown) => reason instanceof RolledBack
    const [creation] = first.length > 0 ? all : []
    if (creation?.status === 'rejected' && !isUndone(creation.reason)) throw creation.reason
    const results = all.slice(first.length) as PromiseSettledResult<Created | undefined>[]
    throwFailures(steps, results, isUndone)
    return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined))
  }

  return {
    schema,
    plan,
    apply,
    /** The manifest of a tenant as it is, with secrets masked. */
    export: (caller: Caller): Item => exported(sections, caller),
  }
}

/** The configuration changed after the steps to a manifest were found. */
class Outdated extends Error {
  override name = 'Outdated'
}

const MAX_ATTEMPTS = 5

/** Repeats work on a configuration that changes meanwhile. Throws `conflict` if it never stops. */
async function current<T>(work: () => Promise<T>, attempts = MAX_ATTEMPTS): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Outdated)) throw error
    if (attempts > 1) return current(work, attempts - 1)
    throw conflict('the configuration is being changed by others. Try again later')
  }
}

/** What the caller of a creation learns only now. */
const shownOnce = ({ id, secret, ping_url }: Partial<Created> = {}) => ({
  ...(id !== undefined && { id }),
  ...(secret !== undefined && { secret }),
  ...(ping_url !== undefined && { ping_url }),
})
