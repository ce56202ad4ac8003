import { controlAttributes, type FieldParts, Labelled, useField } from './field.tsx'

/**
 * A multi-line input. With `isMono` it is for code: monospace, no spell check, and a new line keeps the
 * indentation. Tab leaves the field.
 */
export function Textarea(
  props: FieldParts & {
    value?: string
    rows?: number
    isMono?: boolean
    placeholder?: string
    /** A refused form never returns a secret. */
    isSecret?: boolean
  },
) {
  const field = useField(props)
  return (
    <Labelled {...field}>
      <textarea
        {...controlAttributes(field)}
        {...(field.isMono && AS_CODE)}
        rows={field.rows ?? 4}
        required={field.isRequired}
        placeholder={field.placeholder}
      >
        {startOf(props.isSecret ? props.value : field.value)}
      </textarea>
    </Labelled>
  )
}

/** Attributes of an input for code. */
export const AS_CODE = {
  class: 'mono',
  spellcheck: false,
  autocapitalize: 'off',
  autocomplete: 'off',
  'data-code': '',
} as const

/** Browsers drop the first line break of a textarea, so it is doubled. */
export const startOf = (value: string | undefined) =>
  value?.startsWith('\n') ? `\n${value}` : value
