import { MINUTE_MS, SECOND_MS } from '../../../../platform/durations.ts'
import type { Language } from '../model.ts'

const MINUTES_OF_HOUR = 60

/**
 * In words, such as `15 Minuten` or `1 hour`. Rounded down to minutes, but to the nearest second before
 * that, because a flow begins an instant before its mail is written.
 */
export function inWords(ms: number, language: Language): string {
  const seconds = Math.round(ms / SECOND_MS)
  if (seconds * SECOND_MS < MINUTE_MS) return said(seconds, 'second', language)
  const minutes = Math.floor((seconds * SECOND_MS) / MINUTE_MS)
  if (minutes % MINUTES_OF_HOUR > 0) return said(minutes, 'minute', language)
  return said(minutes / MINUTES_OF_HOUR, 'hour', language)
}

const said = (count: number, unit: 'second' | 'minute' | 'hour', language: Language): string =>
  new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
