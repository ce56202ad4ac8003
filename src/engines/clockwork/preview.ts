import { type Clock, isoTime } from '../../platform/clock.ts'
import { AppError } from '../../platform/errors.ts'
import { type Outbound, refusalSentence } from '../../platform/outbound/index.ts'
import type { Preview, PreviewRequest } from './model.ts'
import { describeSchedule, scheduleOf, scheduleWarnings } from './schedule/index.ts'

const PREVIEWED_RUNS = 10

/** Previews what a job with this schedule and URL would do, without storing it. */
export const createPreview =
  ({ clock, outbound }: { clock: Clock; outbound: Outbound }) =>
  ({ schedule, url }: PreviewRequest): Preview => ({
    schedule,
    description: describeSchedule(schedule),
    next_runs: scheduleOf(schedule).nextMany(clock.now(), PREVIEWED_RUNS).map(isoTime),
    warnings: scheduleWarnings(schedule),
    url: url === undefined ? null : checkUrl(outbound, url),
  })

function checkUrl(outbound: Outbound, url: string): NonNullable<Preview['url']> {
  try {
    outbound.checkUrl(url)
    return { url, allowed: true, reason: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { url, allowed: false, reason: refusalSentence(error) }
  }
}
