import { AsyncLocalStorage } from 'node:async_hooks'
import type { Wait } from './confirmations.ts'

/** A piece of work for a commit, and the caller that waits for it. */
export interface Part {
  work: () => unknown
  wait: Wait
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

type Join = (part: Part) => void

/** Empty once the first commit was handed over. */
const scope = new AsyncLocalStorage<{ join: Join | undefined }>()

/** Runs `task`. Its first commit, whenever that comes, is given to `join`. */
export const inGroup = <T>(join: Join, task: () => T): T => scope.run({ join }, task)

/** Hands over a commit if it is the first of a task in a group; false if it isn't. */
export function joinGroup(part: Part): boolean {
  const group = scope.getStore()
  if (!group?.join) return false
  const { join } = group
  group.join = undefined
  join(part)
  return true
}
