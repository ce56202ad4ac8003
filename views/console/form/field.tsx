import { useField } from './context.ts'
import { controlAttributes, type FieldParts, Labelled } from './labelled.tsx'

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
        {field.suffix && <span class="affix">{field.suffix}</span>}
      </div>
    </Labelled>
  )
}

interface FieldProps extends FieldParts {
  value?: string
  type?: 'text' | 'email' | 'url' | 'password' | 'number' | 'datetime-local' | 'search'
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
}

/** Loosely typed: attribute types depend on the type of the input. */
const attributesOf = (field: FieldProps): Record<string, unknown> => ({
  ...controlAttributes(field),
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
