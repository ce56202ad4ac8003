import type { Tone } from '../../../../views/ui/status.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { Monitor, Ping } from '../../../engines/clockwork/monitors/model.ts'
import { describeSchedule } from '../../../engines/clockwork/schedule/index.ts'

/** In the order of lists: what needs attention comes first. */
export const STATE_WORDS: Record<Monitor['state'], { tone: Tone; word: string }> = {
  down: { tone: 'bad', word: 'down' },
  late: { tone: 'warn', word: 'late' },
  new: { tone: 'quiet', word: 'new' },
  up: { tone: 'good', word: 'up' },
  paused: { tone: 'quiet', word: 'paused' },
}

export const STATES = Object.keys(STATE_WORDS) as Monitor['state'][]

const SIGNAL_WORDS: Record<Ping['signal'], { tone: Tone; word: string }> = {
  success: { tone: 'good', word: 'success' },
  start: { tone: 'busy', word: 'start' },
  fail: { tone: 'bad', word: 'failure' },
  log: { tone: 'quiet', word: 'log' },
}

/** What a ping said, with the exit code if it had one. */
export function signalWords({ signal, exit_code: exitCode }: Ping) {
  const { tone, word } = SIGNAL_WORDS[signal]
  return { tone, word: exitCode === null ? word : `${word} (exit code ${exitCode})` }
}

type Expectation = Pick<Monitor, 'period_seconds' | 'schedule' | 'time_zone'>

/** Such as `every 10 minutes`, or a schedule in words. */
export const expectationWords = ({ period_seconds: period, ...of }: Expectation): string =>
  of.schedule === null
    ? `every ${secondsText(period ?? 0).replace(/^1 /, '')}`
    : describeSchedule(of.schedule, of.time_zone)

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const

/** A duration in its largest unit without a rest, such as `90 minutes`. */
export function secondsText(seconds: number): string {
  const [size, name] = UNITS.find(([size]) => seconds % size === 0) ?? [1, 'second']
  return counted(seconds / size, name)
}
