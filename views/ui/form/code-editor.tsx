import type { FormError } from '../here.tsx'
import { controlAttributes, type FieldParts, idOf, Labelled, useField } from './field.tsx'
import { AS_CODE, startOf } from './textarea.tsx'

/** Numbers beyond the last line, for lines that are added. What exceeds the text is cut off. */
const SPARE_LINES = 300
const MIN_ROWS = 12

/**
 * An input for code with line numbers, and each error on its line. Lines are not wrapped, and the input
 * is as high as its text, so that numbers stay beside their lines without scripts.
 */
export function CodeEditor(props: FieldParts & { value?: string; errors: readonly FormError[] }) {
  const field = useField(props)
  const { value = '', name, errors } = field
  const lines = value.split('\n').length
  return (
    <Labelled {...field}>
      <div class="editor">
        <ol id={linesIdOf(name)} aria-hidden="true">
          {Array.from({ length: lines + SPARE_LINES }, (_, index) => (
            <LineNumber errors={errors.filter(({ at }) => at?.line === index + 1)} />
          ))}
        </ol>
        <textarea {...controlAttributes(field)} {...AS_CODE} rows={Math.max(MIN_ROWS, lines + 1)}>
          {startOf(value)}
        </textarea>
      </div>
    </Labelled>
  )
}

/** ID of the line numbers of an editor, which show its errors. */
export const linesIdOf = (name: string): string => `${idOf(name)}-lines`

const LineNumber = ({ errors }: { errors: readonly FormError[] }) =>
  errors.length === 0 ? (
    <li />
  ) : (
    <li class="wrongline">
      <span>{errors.map(({ at }) => at?.message).join(' ')}</span>
    </li>
  )
