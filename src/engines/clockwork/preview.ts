import { type Clock, isoTime } from '../../platform/clock.ts'
import { AppError } from '../../platform/errors.ts'
import { type Outbound, refusalSentence } from '../../platform/outbound/index.ts'
import { checkedTimeZone, isoTimeIn, UTC } from '../../platform/time-zone.ts'
import type { Preview, PreviewRequest } from './model.ts'
import {
  clockChangeWarnings,
  describeSchedule,
  scheduleOf,
  scheduleWarnings,
} from './schedule/index.ts'

const PREVIEWED_RUNS = 10

/** Previews what a job with this schedule and URL would do, without storing it. */
export const createPreview =
  ({ clock, outbound }: { clock: Clock; outbound: Outbound }) =>
  ({ schedule, time_zone = UTC, url }: PreviewRequest): Preview => {
    const now = clock.now()
    const zone = checkedTimeZone(time_zone)
    const runs = scheduleOf(schedule, zone).nextMany(now, PREVIEWED_RUNS)
    return {
      schedule,
      time_zone: zone,
      description: describeSchedule(schedule, zone),
      next_runs: runs.map(isoTime),
      next_runs_local: runs.map((at) => isoTimeIn(at, zone)),
      warnings: [...scheduleWarnings(schedule), ...clockChangeWarnings(schedule, zone, now)],
      url: url === undefined ? null : checkUrl(outbound, url),
    }
  }

function checkUrl(outbound: Outbound, url: string): NonNullable<Preview['url']> {
  try {
    outbound.checkUrl(url)
    return { url, allowed: true, reason: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { url, allowed: false, reason: refusalSentence(error) }
  }
}
