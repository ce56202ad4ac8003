import type { Fields } from '../../../src/http/body.ts'
import type { FormError } from './error-summary.tsx'

/** Text of a submitted field, untrimmed; undefined if the field is missing or not text. */
export function rawText(fields: Fields | undefined, name: string): string | undefined {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}

/** Checked values of a group of checkboxes, which a browser omits if none is checked. */
export function checkedValues(fields: Fields, name: string): string[] {
  const values = fields[name]
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : []
}

/** Error message for one field. */
export const errorAt = (
  errors: readonly FormError[] | undefined,
  name: string,
): string | undefined => errors?.find((error) => error.name === name)?.message
