import { type FieldParts, Labelled, tiesOf } from './labelled.tsx'

/**
 * Room for text of many lines. Code comes in its own face and as it is written, and a new line begins
 * where the one before did. The key Tab leaves the field, as everywhere.
 */
export const Textarea = (
  field: FieldParts & { value?: string; rows?: number; isMono?: boolean; placeholder?: string },
) => (
  <Labelled {...field}>
    <textarea
      {...tiesOf(field)}
      {...(field.isMono && AS_CODE)}
      rows={field.rows ?? 4}
      required={field.isRequired}
      placeholder={field.placeholder}
    >
      {startOf(field.value)}
    </textarea>
  </Labelled>
)

const AS_CODE = {
  class: 'mono',
  spellcheck: false,
  autocapitalize: 'off',
  autocomplete: 'off',
  'data-code': '',
} as const

/** Browsers take the first line break of such a field for none of its text. */
const startOf = (value: string | undefined) => (value?.startsWith('\n') ? `\n${value}` : value)
