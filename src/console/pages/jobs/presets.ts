import { invalid } from '../../../platform/errors.ts'

/** What a schedule of the form is made of. Only those of its preset count. */
export interface Repetition {
  repeat: Preset | 'custom'
  /** Minutes between runs. */
  every: string
  /** Minute of the hour. */
  minute: string
  /** Time of day in UTC, such as `09:00`. */
  time: string
  /** Day of the week, 0 is Sunday. */
  weekday: string
  /** Day of the month. */
  day: string
}

export const PRESETS = ['minutes', 'hourly', 'daily', 'weekdays', 'weekly', 'monthly'] as const
type Preset = (typeof PRESETS)[number]

/** Divisors of an hour, so that runs are evenly spaced. */
export const STEPS = ['1', '2', '5', '10', '15', '20', '30']

export const USUAL: Repetition = {
  repeat: 'minutes',
  every: '5',
  minute: '0',
  time: '09:00',
  weekday: '1',
  day: '1',
}

const NUMBER = '(\\d|[1-5]\\d)'
const EXPRESSIONS: Record<Preset, RegExp> = {
  minutes: /^\*(?:\/(2|5|10|15|20|30))? \* \* \* \*$/,
  hourly: new RegExp(`^${NUMBER} \\* \\* \\* \\*$`),
  daily: new RegExp(`^${NUMBER} (\\d|1\\d|2[0-3]) \\* \\* \\*$`),
  weekdays: new RegExp(`^${NUMBER} (\\d|1\\d|2[0-3]) \\* \\* 1-5$`),
  weekly: new RegExp(`^${NUMBER} (\\d|1\\d|2[0-3]) \\* \\* ([0-6])$`),
  monthly: new RegExp(`^${NUMBER} (\\d|1\\d|2[0-3]) ([1-9]|[12]\\d|3[01]) \\* \\*$`),
}

/** The fields that make exactly this cron expression; `custom` if none do. */
export function repetitionOf(schedule: string): Repetition {
  for (const repeat of PRESETS) {
    const match = EXPRESSIONS[repeat].exec(schedule)
    if (match) return { ...USUAL, ...partsOf(repeat, match), repeat }
  }
  return { ...USUAL, repeat: 'custom' }
}

function partsOf(preset: Preset, [, first = '1', hour = '0', day = '1']: RegExpExecArray) {
  if (preset === 'minutes') return { every: first }
  if (preset === 'hourly') return { minute: first }
  const time = `${hour.padStart(2, '0')}:${first.padStart(2, '0')}`
  return {
    time,
    ...(preset === 'weekly' && { weekday: day }),
    ...(preset === 'monthly' && { day }),
  }
}

/** The cron expression of a preset. Throws `invalid` with the field that is wrong. */
export function expressionOf({ repeat, ...of }: Repetition & { repeat: Preset }): string {
  if (repeat === 'minutes') {
    const every = STEPS.includes(of.every) ? of.every : wrong('every', `one of ${STEPS.join(', ')}`)
    return every === '1' ? '* * * * *' : `*/${every} * * * *`
  }
  if (repeat === 'hourly') return `${numberIn(of.minute, 'minute', 0, 59)} * * * *`
  const [, hour, minute] = TIME.exec(of.time) ?? wrong('time', 'a time such as 09:00')
  const at = `${Number(minute)} ${Number(hour)}`
  if (repeat === 'daily') return `${at} * * *`
  if (repeat === 'weekdays') return `${at} * * 1-5`
  if (repeat === 'weekly') return `${at} * * ${numberIn(of.weekday, 'weekday', 0, 6)}`
  return `${at} ${numberIn(of.day, 'day', 1, 31)} * *`
}

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/

function numberIn(text: string, field: string, min: number, max: number): number {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : -1
  return number >= min && number <= max ? number : wrong(field, `a number from ${min} to ${max}`)
}

function wrong(field: string, what: string): never {
  throw invalid(`must be ${what}`, { field, rule: 'format' })
}
