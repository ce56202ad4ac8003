import { type FieldParts, Labelled, tiesOf } from './labelled.tsx'

/** Room for text of many lines, in the face of code where it is code. */
export const Textarea = (
  field: FieldParts & { value?: string; rows?: number; isMono?: boolean; placeholder?: string },
) => (
  <Labelled {...field}>
    <textarea
      {...tiesOf(field)}
      class={field.isMono ? 'mono' : undefined}
      rows={field.rows ?? 4}
      required={field.isRequired}
      placeholder={field.placeholder}
      spellcheck={field.isMono ? false : undefined}
    >
      {field.value}
    </textarea>
  </Labelled>
)
