/** An operation as a client saw it. Times are of `performance.now()` of this process. */
export interface Operation {
  kind: string
  isWrite: boolean
  /** `undefined` for probes, which send to one server whatever it answers. */
  client: number | undefined
  server: string
  sentAt: number
  /** Of the server, when it answered. */
  generation: number
  /** Absent if there was no answer. */
  answeredAt?: number
  status?: number
  /** What the operation can be found by later. */
  key?: string
}

export interface Acknowledged extends Operation {
  answeredAt: number
  key: string
}

export type History = ReturnType<typeof createHistory>

/** All operations since the last round. */
export function createHistory() {
  let operations: Operation[] = []

  const acknowledged = (): Acknowledged[] => operations.filter(isAcknowledged)
  const ofClients = () => acknowledged().filter(({ client }) => client !== undefined)

  return {
    add: (operation: Operation) => void operations.push(operation),
    clear: () => {
      operations = []
    },
    all: () => operations,
    acknowledged,
    writes: () => acknowledged().filter(({ isWrite }) => isWrite),
    /** The time of the first answer by a generation later than `generation`. */
    firstAfter: (generation: number, isWrite: boolean): number | undefined =>
      earliest(
        acknowledged().filter(
          (one) =>
            one.generation > generation && one.isWrite === isWrite && one.client !== undefined,
        ),
      ),
    /** The longest time without an answer to any client, in milliseconds. */
    interruption: () => longestGap(ofClients().map(({ answeredAt }) => answeredAt)),
    /** The same for the client that had the longest one. */
    worstClient: () =>
      Math.max(
        0,
        ...[...Map.groupBy(ofClients(), ({ client }) => client).values()].map((own) =>
          longestGap(own.map(({ answeredAt }) => answeredAt)),
        ),
      ),
    /** The time of the last acknowledged write of a generation. */
    lastOf: (generation: number) =>
      acknowledged().findLast((one) => one.isWrite && one.generation === generation)?.answeredAt,
    /** When a client got the last answer to a write. */
    lastWrite: () => ofClients().findLast(({ isWrite }) => isWrite)?.answeredAt ?? 0,
    doubles: () => doublesIn(acknowledged()),
  }
}

const isAcknowledged = (operation: Operation): operation is Acknowledged =>
  operation.status !== undefined && operation.status < 300 && operation.key !== undefined

/**
 * What a server answered although it was sent after the first answer of a later generation: two
 * servers were active at once.
 */
export function doublesIn(acknowledged: readonly Acknowledged[]): Acknowledged[] {
  const firsts = [...Map.groupBy(acknowledged, ({ generation }) => generation)].map(
    ([generation, own]) => ({ generation, at: earliest(own) ?? Number.POSITIVE_INFINITY }),
  )
  return acknowledged.filter(({ generation, sentAt }) =>
    firsts.some((first) => first.generation > generation && first.at < sentAt),
  )
}

function earliest(operations: readonly Acknowledged[]): number | undefined {
  const first = operations.reduce(
    (least, { answeredAt }) => Math.min(least, answeredAt),
    Number.POSITIVE_INFINITY,
  )
  return first === Number.POSITIVE_INFINITY ? undefined : first
}

function longestGap(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.reduce((most, at, n) => Math.max(most, at - (sorted[n - 1] ?? at)), 0)
}
