/** One of the five columns of a cron expression. */
export interface Field {
  /** The name in messages. */
  name: string
  /** The distance between two neighboring values. */
  unit: 'minute' | 'hour' | 'day' | 'month'
  first: number
  /** The largest number that may be written. */
  last: number
  /** The number of different values: 7 for weekdays, because 0 and 7 are both Sunday. */
  size: number
}

export const MINUTE: Field = { name: 'minute', unit: 'minute', first: 0, last: 59, size: 60 }
export const HOUR: Field = { name: 'hour', unit: 'hour', first: 0, last: 23, size: 24 }
export const DAY: Field = { name: 'day of month', unit: 'day', first: 1, last: 31, size: 31 }
export const MONTH: Field = { name: 'month', unit: 'month', first: 1, last: 12, size: 12 }
export const WEEKDAY: Field = { name: 'day of week', unit: 'day', first: 0, last: 7, size: 7 }

/** In the order in which they are written. */
export const FIELDS = [MINUTE, HOUR, DAY, MONTH, WEEKDAY] as const
