/** One of the five columns of a cron expression. */
export interface Field {
  /** As it is called in messages. */
  name: string
  /** What lies between two neighbouring values. */
  unit: 'minute' | 'hour' | 'day' | 'month'
  first: number
  /** The largest number that may be written. */
  last: number
  /** How many different values there are: one less than written for weekdays, 0 being 7. */
  size: number
}

export const MINUTE: Field = { name: 'minute', unit: 'minute', first: 0, last: 59, size: 60 }
export const HOUR: Field = { name: 'hour', unit: 'hour', first: 0, last: 23, size: 24 }
export const DAY: Field = { name: 'day of month', unit: 'day', first: 1, last: 31, size: 31 }
export const MONTH: Field = { name: 'month', unit: 'month', first: 1, last: 12, size: 12 }
export const WEEKDAY: Field = { name: 'day of week', unit: 'day', first: 0, last: 7, size: 7 }

/** In the order in which they are written. */
export const FIELDS = [MINUTE, HOUR, DAY, MONTH, WEEKDAY] as const
