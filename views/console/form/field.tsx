import { type FieldParts, Labelled, tiesOf } from './labelled.tsx'

/** A line to type in. What was typed is kept when it comes back as wrong. */
export const Field = (field: FieldProps) => (
  <Labelled {...field}>
    <div class="control">
      {field.prefix && <span class="affix">{field.prefix}</span>}
      <input {...attributesOf(field)} />
      {field.suffix && <span class="affix">{field.suffix}</span>}
    </div>
  </Labelled>
)

interface FieldProps extends FieldParts {
  value?: string
  type?: 'text' | 'email' | 'url' | 'password' | 'number' | 'datetime-local' | 'search'
  placeholder?: string
  autocomplete?: string
  isMono?: boolean
  /** What stands before or after the value and is not typed, such as a unit. */
  prefix?: string
  suffix?: string
  max?: number
  min?: number
  isFocused?: boolean
}

/** Loosely typed, since the types of attributes differ by the kind of input, which is data here. */
const attributesOf = (field: FieldProps): Record<string, unknown> => ({
  ...tiesOf(field),
  type: field.type ?? 'text',
  class: field.isMono ? 'mono' : undefined,
  value: field.value,
  placeholder: field.placeholder,
  required: field.isRequired,
  autocomplete: field.autocomplete ?? 'off',
  spellcheck: field.isMono ? false : undefined,
  max: field.max,
  min: field.min,
  autofocus: field.isFocused,
})
