import { Icon } from '../icons.tsx'
import { useField } from './context.ts'
import { controlAttributes, type FieldParts, Labelled } from './labelled.tsx'

export interface Option {
  value: string
  label: string
}

/** A drop-down list. */
export function Select(props: FieldParts & { value?: string; options: readonly Option[] }) {
  const field = useField(props)
  return (
    <Labelled {...field}>
      <div class="control select">
        <select {...controlAttributes(field)} required={field.isRequired}>
          {field.options.map(({ value, label }) => (
            <option value={value} selected={value === field.value}>
              {label}
            </option>
          ))}
        </select>
        <Icon name="down" />
      </div>
    </Labelled>
  )
}
