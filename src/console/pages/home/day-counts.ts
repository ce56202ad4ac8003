import type { Delivery } from '../../../delivery/index.ts'
import { MAX_COUNTED } from '../../../delivery/queries.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import type { HourOutcomes } from '../../../engines/clockwork/queries.ts'
import type { Passepartout } from '../../../engines/passepartout/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../../platform/durations.ts'
import type { Environment } from '../../../platform/engines.ts'

const HOURS = 24
/** Counts of periods older than this no longer change. */
const SETTLED_MS = HOUR_MS
/** Most cached counts. */
const MAX_REMEMBERED = 20_000

/** Number of events today, in UTC. */
export interface DayCount {
  today: number
  /** Same period of the same day last week. */
  lastWeek: number
  /** By hour, the current one last. */
  hours: readonly number[]
  /** Some hour exceeds the counting limit. */
  isCut: boolean
}

export interface Today {
  /** Sign-ins and runs are undefined in the test environment, which has none. */
  signIns: DayCount | undefined
  runs: DayCount | undefined
  logins: DayCount
  deliveries: DayCount
}

export type DayCounts = ReturnType<typeof createDayCounts>

/** Counts events from one moment up to another. */
type Counting = (from: number, until: number) => number

/**
 * Sign-ins, runs, logins and deliveries of today and last week. Runs are counted by hour as they
 * end; the others by index range, with past hours cached, so queries read only the current hour.
 */
export function createDayCounts(parts: {
  clock: Clock
  delivery: Pick<Delivery, 'queries' | 'messages'>
  clockwork: Pick<Clockwork, 'queries'>
  passepartout: Pick<Passepartout, 'queries'>
}) {
  const { clock, delivery, clockwork, passepartout } = parts
  const remembered = new Map<string, number>()

  function cached(name: string, until: number, count: () => number): number {
    const known = remembered.get(name)
    if (known !== undefined) return known
    const counted = count()
    if (clock.now() - until < SETTLED_MS) return counted
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(name, counted)
    return counted
  }

  const messageAt = (at: number) => cached(`message ${at}`, at, () => delivery.messages.seqAt(at))
  const deliveryAt = (at: number) =>
    cached(`delivery ${at}`, at, () => delivery.queries.deliverySeqAt(messageAt(at)))
  const loginAt = (at: number) => cached(`login ${at}`, at, () => passepartout.queries.seqAt(at))

  function of(tenantId: string, environment: Environment): Today {
    const isLive = environment === 'live'
    const gate = { tenantId, name: 'gate.live' } as const
    const relay = { tenantId, name: `relay.${environment}` } as const
    const owner = { tenantId, environment }
    const whose = `${tenantId} ${environment}`
    return {
      signIns: isLive
        ? dayOf(`sign-ins ${tenantId}`, (from, until) =>
            delivery.queries.countOfType(gate, 'identity.login', {
              after: messageAt(from),
              upTo: messageAt(until),
            }),
          )
        : undefined,
      runs: isLive ? runsOf(tenantId) : undefined,
      logins: dayOf(`logins ${whose}`, (from, until) =>
        passepartout.queries.countOfApproved(owner, { after: loginAt(from), upTo: loginAt(until) }),
      ),
      deliveries: dayOf(`deliveries ${whose}`, (from, until) =>
        delivery.queries.countOfDeliveries(relay, {
          after: deliveryAt(from),
          upTo: deliveryAt(until),
        }),
      ),
    }
  }

  /** Last week's current hour counts in proportion to the part that has passed. */
  function runsOf(tenantId: string): DayCount {
    const now = clock.now()
    const sinceMidnight = Math.floor((now % DAY_MS) / HOUR_MS) + 1
    const runsIn = (upTo: number, count: number) =>
      clockwork.queries.hours(tenantId, { upTo, count }).map(runsOfHour)
    const hours = runsIn(now, HOURS)
    const before = runsIn(now - WEEK_MS, sinceMidnight)
    const rest = (before.at(-1) ?? 0) * (1 - (now % HOUR_MS) / HOUR_MS)
    return {
      today: sum(hours.slice(-sinceMidnight)),
      lastWeek: Math.round(sum(before) - rest),
      hours,
      isCut: false,
    }
  }

  function dayOf(name: string, count: Counting): DayCount {
    const now = clock.now()
    const midnight = now - (now % DAY_MS)
    const hour = now - (now % HOUR_MS)
    const within = (from: number, until: number) =>
      cached(`${name} ${from} ${until}`, until, () => count(from, until))
    const starts = Array.from({ length: HOURS }, (_, index) => hour - (HOURS - 1 - index) * HOUR_MS)
    const hours = starts.map((start) =>
      start === hour ? count(start, now + 1) : within(start, start + HOUR_MS),
    )
    const today = hours.filter((_, index) => (starts[index] ?? 0) >= midnight)
    let lastWeek = count(hour - WEEK_MS, now - WEEK_MS)
    for (let start = midnight - WEEK_MS; start < hour - WEEK_MS; start += HOUR_MS)
      lastWeek += within(start, start + HOUR_MS)
    return { today: sum(today), lastWeek, hours, isCut: hours.includes(MAX_COUNTED) }
  }

  return { of }
}

const runsOfHour = ({ succeeded, failed }: HourOutcomes): number => succeeded + failed

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0)
