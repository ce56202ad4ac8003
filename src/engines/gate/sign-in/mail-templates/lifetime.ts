import { MINUTE_MS, SECOND_MS } from '../../../../platform/durations.ts'
import type { Language } from '../model.ts'

const MINUTES_OF_HOUR = 60

/** In words, such as `15 Minuten` or `1 hour`; rounded down, so as not to promise too much. */
export function inWords(ms: number, language: Language): string {
  if (ms < MINUTE_MS) return said(Math.floor(ms / SECOND_MS), 'second', language)
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes % MINUTES_OF_HOUR > 0) return said(minutes, 'minute', language)
  return said(minutes / MINUTES_OF_HOUR, 'hour', language)
}

const said = (count: number, unit: 'second' | 'minute' | 'hour', language: Language): string =>
  new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
