import { controlAttributes, type FieldParts, Labelled, useField } from './field.tsx'

/** An input for one file, in a form with `isUpload`. */
export function FileField(props: FieldParts & { accept: string }) {
  const field = useField(props)
  return (
    <Labelled {...field}>
      <input {...controlAttributes(field)} type="file" accept={field.accept} />
    </Labelled>
  )
}
