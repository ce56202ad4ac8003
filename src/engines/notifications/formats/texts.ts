import type { Notice } from './format.ts'

/** At most `max` UTF-16 units, as services count them, without half of a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  return `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

type Tone = 'critical' | 'warning' | 'resolved'

export const toneOf = ({ event, severity }: Pick<Notice, 'event' | 'severity'>): Tone =>
  event === 'resolved' ? 'resolved' : severity

/** Marks a title where colors are not shown. */
export const SIGNS: Record<Tone, string> = { critical: '🔴', warning: '🟠', resolved: '🟢' }

/** As in the console. */
export const COLORS: Record<Tone, string> = {
  critical: '#b3261e',
  warning: '#b26a00',
  resolved: '#1a7f4b',
}

/** The name of the tenant; `Gatehouse` for the installation. */
export const originOf = ({ tenant }: Pick<Notice, 'tenant'>): string => tenant?.name ?? 'Gatehouse'
