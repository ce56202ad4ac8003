import type { Database } from 'bun:sqlite'
import type { CommitFor } from './commit.ts'
import { asStorageError } from './errors.ts'
import { inGroup, type Part } from './group.ts'

/** What a task that succeeds by itself rejects with, because nothing was stored. */
export class RolledBack extends Error {
  override name = 'RolledBack'
}

export type Together = <T>(
  tenantId: string,
  tasks: readonly (() => Promise<T>)[],
  options?: { isTrial?: boolean; begin?: () => void; inspect?: () => void },
) => Promise<PromiseSettledResult<T>[]>

/**
 * Runs tasks whose first commits become one: all of them are stored, or none. Resolves with the outcome
 * of each task, in order. If one fails, and in a trial, the others reject with `RolledBack`. Further
 * commits of a task are its own. `begin` is the first part of the commit: if it throws, nothing is stored,
 * and the tasks reject with its error. `inspect` reads the database as it is once all tasks have succeeded,
 * before anything is undone.
 */
export function createTogether(parts: {
  client: Database
  commitFor: CommitFor
  dropCaches: () => void
}): Together {
  const { client, commitFor, dropCaches } = parts

  function attempt({ work }: Part): Outcome {
    try {
      return { value: work() }
    } catch (error) {
      // The transaction is lost: whatever followed would be committed by itself.
      if (!client.inTransaction) throw error
      return { error: asStorageError(error) }
    }
  }

  return async (tenantId, tasks, { isTrial = false, begin, inspect } = {}) => {
    if (tasks.length === 0) return []
    const gathered: Part[] = []
    const running = tasks.map((task) => start(task, gathered))
    const isHopeless = (await Promise.all(running.map(({ isGood }) => isGood))).includes(false)
    let outcomes: Outcome[] = []
    await commitFor(tenantId, () => {
      begin?.()
      outcomes = gathered.map(attempt)
      const isFailed = isHopeless || outcomes.some(isFailure)
      if (!isFailed) inspect?.()
      if (!isTrial && !isFailed) return
      // Now, because others may read as soon as the transaction has ended.
      dropCaches()
      throw new RolledBack('nothing stored')
    }).then(
      () => settle(gathered, outcomes),
      (error) => {
        dropCaches()
        settle(
          gathered,
          outcomes.map((outcome) => (isFailure(outcome) ? outcome : { error })),
          error,
        )
      },
    )
    return Promise.allSettled(running.map(({ done }) => done))
  }
}

type Outcome = { value: unknown } | { error: unknown }

const isFailure = (outcome: Outcome): outcome is { error: unknown } => 'error' in outcome

/** Starts a task. `isGood` resolves once it has handed over its commit, or has ended without one. */
function start<T>(task: () => Promise<T>, gathered: Part[]) {
  const { promise: isGood, resolve: report } = Promise.withResolvers<boolean>()
  const join = (part: Part) => {
    gathered.push(part)
    report(true)
  }
  const done = inGroup(join, async () => task())
  done.then(
    () => report(true),
    () => report(false),
  )
  return { isGood, done }
}

/** Work that didn't run has no outcome, only the `error` of the commit. */
function settle(gathered: readonly Part[], outcomes: readonly Outcome[], error?: unknown) {
  for (const [index, { resolve, reject }] of gathered.entries()) {
    const outcome = outcomes[index] ?? { error }
    if (isFailure(outcome)) reject(outcome.error)
    else resolve(outcome.value)
  }
}
