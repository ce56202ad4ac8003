/** A job waiting for a worker. */
interface Waiting {
  /** Each job without a client counts as of a different one. */
  client: string | undefined
  /** Called when the job loses its position. */
  refuse: () => void
}

export type WaitingList<Job extends Waiting> = ReturnType<typeof createWaitingList<Job>>

/**
 * A tenant's waiting jobs in serving order: clients in turns, each by arrival. One client may have
 * all of `capacity`; then the client with the most jobs loses its last one to a client with fewer.
 */
export function createWaitingList<Job extends Waiting>(capacity: number) {
  const list: { job: Job; round: number }[] = []
  let round = 0

  /** False if there is no room for the job. */
  function add(job: Job): boolean {
    if (list.length >= capacity && !displaceFor(job.client)) return false
    const before = lastOf(job.client)
    const own = Math.max(round, before === -1 ? 0 : (list[before]?.round ?? 0)) + 1
    const next = list.findIndex((other) => other.round > own)
    list.splice(next === -1 ? list.length : next, 0, { job, round: own })
    return true
  }

  /** Removes and returns the first job for which `mayBegin` holds. */
  function take(mayBegin: (job: Job) => boolean): Job | undefined {
    const index = list.findIndex(({ job }) => mayBegin(job))
    if (index === -1) return undefined
    round = Math.max(round, list[index]?.round ?? 0)
    return remove(index)
  }

  /** Only if that makes the distribution more even. */
  function displaceFor(client: string | undefined): boolean {
    const counts = new Map<string, number>()
    for (const { job } of list)
      if (job.client !== undefined) counts.set(job.client, (counts.get(job.client) ?? 0) + 1)
    const [longest] = [...counts].sort(([, a], [, b]) => b - a)
    const own = client === undefined ? 0 : (counts.get(client) ?? 0)
    if (!longest || longest[1] <= own + 1) return false
    remove(lastOf(longest[0]))?.refuse()
    return true
  }

  const lastOf = (client: string | undefined): number =>
    client === undefined ? -1 : list.findLastIndex(({ job }) => job.client === client)

  const remove = (index: number): Job | undefined => list.splice(index, 1)[0]?.job

  return {
    add,
    take,
    has: (mayBegin: (job: Job) => boolean): boolean => list.some(({ job }) => mayBegin(job)),
    length: () => list.length,
    /** Rejects the job that would be served last. */
    dropLast: () => remove(list.length - 1)?.refuse(),
  }
}
