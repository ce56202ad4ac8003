import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Fields } from '../../../src/http/body.ts'
import type { FormError } from './error-summary.tsx'
import { checkedValues, errorAt, rawText } from './values.ts'

/** Values and errors of the fields in a form. */
export const FormContext = createContext<
  { values: Fields; errors: readonly FormError[] } | undefined
>(undefined)

/** Value and error of a field: its own, or those that its form has for its name. */
export function useField<Field extends { name: string; value?: string; error?: string }>(
  field: Field,
): Field {
  const form = useContext(FormContext)
  if (!form) return field
  const { name, value, error } = field
  return {
    ...field,
    value: rawText(form.values, name) ?? value,
    error: error ?? errorAt(form.errors, name),
  }
}

/** Whether the checkbox `name` is checked, if it is in a form with values. */
export function useChecked(name: string, isChecked = false): boolean {
  const form = useContext(FormContext)
  if (!form || Object.keys(form.values).length === 0) return isChecked
  return rawText(form.values, name) !== undefined
}

/** The same for a group of checkboxes. A form with values has none for an empty group. */
export function useChoices<
  Group extends { name: string; values?: readonly string[]; error?: string },
>(group: Group): Group & { values: readonly string[] } {
  const form = useContext(FormContext)
  const { name, values = [], error } = group
  if (!form || Object.keys(form.values).length === 0) return { ...group, values }
  return {
    ...group,
    values: checkedValues(form.values, name),
    error: error ?? errorAt(form.errors, name),
  }
}
