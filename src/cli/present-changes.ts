import type { Change, FieldChange } from '../manifest/changes.ts'
import { UNSAFE_IN_LINE } from '../platform/unsafe-characters.ts'

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const MAX_VALUE = 80

/** The changes of a plan, with the fields below each. */
export const linesOf = (changes: readonly Change[]): string[] =>
  changes.flatMap(({ action, kind, name, fields }) => [
    `${SIGNS[action]} ${[kind, name].filter(Boolean).join(' ')}`.replaceAll(UNSAFE_IN_LINE, ' '),
    ...fields
      .filter(({ field }) => field !== 'name')
      .map((field) => `    ${fieldLine(action, field)}`),
  ])

const fieldLine = (action: Change['action'], { field, before, after }: FieldChange): string =>
  action === 'create'
    ? `${field}: ${shown(after)}`
    : `${field}: ${shown(before)} -> ${shown(after)}`

/** On one line; a long value is cut. */
function shown(value: unknown): string {
  const text = JSON.stringify(value ?? null).replaceAll(UNSAFE_IN_LINE, ' ')
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

/** Such as `2 to create, 1 to delete`. */
export function summaryOf(changes: readonly Change[], done = false): string {
  const counts = (['create', 'update', 'delete'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length
    return count === 0 ? [] : [`${count} ${done ? `${action}d` : `to ${action}`}`]
  })
  return counts.join(', ')
}

/** What is shown only once, after an application. */
export function secretLines(changes: readonly Change[]): string[] {
  const lines = changes.flatMap(({ kind, name, secret, ping_url: pingUrl }) => {
    const value = secret ?? pingUrl
    return value ? [`  ${kind} ${name}: ${value}`.replaceAll(UNSAFE_IN_LINE, ' ')] : []
  })
  return lines.length === 0 ? [] : ['', 'Copy these now: secrets are not shown again.', ...lines]
}
