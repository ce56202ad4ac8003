import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Fields } from '../../../src/http/body.ts'
import type { FormError } from '../here.tsx'
import { Icon } from '../icons.tsx'

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

/** Properties of every kind of field. */
export interface FieldParts {
  name: string
  label: string
  help?: ComponentChildren
  error?: string
  isRequired?: boolean
}

export const idOf = (name: string): string => `field-${name.replaceAll(/[^\w-]/g, '-')}`

export const errorIdOf = (name: string): string => `${idOf(name)}-error`

/** Attributes that link a control to its label, help and error. */
export const controlAttributes = ({ name, help, error }: FieldParts) => ({
  id: idOf(name),
  name,
  'aria-invalid': error === undefined ? undefined : ('true' as const),
  'aria-describedby':
    [error !== undefined && errorIdOf(name), help && `${idOf(name)}-help`]
      .filter(Boolean)
      .join(' ') || undefined,
})

/** A control with label, error and help. */
export const Labelled = (field: FieldParts & { children: ComponentChildren }) => (
  <div class={field.error === undefined ? 'field' : 'field wrong'}>
    <label for={idOf(field.name)}>
      {field.label}
      {field.isRequired === false && <span class="hint"> optional</span>}
    </label>
    {field.children}
    <FieldError name={field.name} error={field.error} />
    {field.help && (
      <p class="hint" id={`${idOf(field.name)}-help`}>
        {field.help}
      </p>
    )}
  </div>
)

export const FieldError = ({ name, error }: { name: string; error?: string }) =>
  error === undefined ? null : (
    <p class="fielderror" id={errorIdOf(name)}>
      <Icon name="problem" />
      <span>{error}</span>
    </p>
  )

/** A single-line input. */
export function Field(props: FieldProps) {
  const field = useField(props)
  // A refused form never returns a secret.
  const isSecret = props.isSecret || props.type === 'password'
  const value = isSecret ? props.value : field.value
  return (
    <Labelled {...field}>
      <div class="control">
        {field.prefix && <span class="affix">{field.prefix}</span>}
        <input {...attributesOf({ ...field, value })} />
        {field.choices && (
          <datalist id={choicesIdOf(field.name)}>
            {field.choices.map((choice) => (
              <option value={choice} />
            ))}
          </datalist>
        )}
        {field.suffix && <span class="affix">{field.suffix}</span>}
        {field.type === 'password' && <Reveal label={field.label} />}
      </div>
    </Labelled>
  )
}

/** Shows what is typed, and hides it again. */
const Reveal = ({ label }: { label: string }) => (
  <button
    type="button"
    class="iconbutton scripted"
    aria-label={`Show ${label.charAt(0).toLowerCase()}${label.slice(1)}`}
    aria-pressed="false"
    data-reveal
  >
    <Icon name="eye" />
    <Icon name="eyeOff" />
  </button>
)

interface FieldProps extends FieldParts {
  value?: string
  type?:
    | 'text'
    | 'email'
    | 'url'
    | 'password'
    | 'number'
    | 'date'
    | 'datetime-local'
    | 'time'
    | 'search'
  placeholder?: string
  autocomplete?: string
  isMono?: boolean
  isSecret?: boolean
  /** Fixed text before or after the input, such as a unit. */
  prefix?: string
  suffix?: string
  max?: number
  min?: number
  isFocused?: boolean
  /** Suggested values, which the browser narrows down while typing. */
  choices?: readonly string[]
}

const choicesIdOf = (name: string): string => `${idOf(name)}-choices`

/** Loosely typed: attribute types depend on the type of the input. */
const attributesOf = (field: FieldProps): Record<string, unknown> => ({
  ...controlAttributes(field),
  type: field.type ?? 'text',
  class: field.isMono ? 'mono' : undefined,
  value: field.value,
  placeholder: field.placeholder,
  required: field.isRequired,
  autocomplete: field.autocomplete ?? 'off',
  spellcheck: field.isMono || field.type === 'password' ? false : undefined,
  autocapitalize: field.type === 'password' ? 'none' : undefined,
  max: field.max,
  min: field.min,
  autofocus: field.isFocused,
  list: field.choices && choicesIdOf(field.name),
})
