import { StatusShape } from '../status-badge.tsx'
import { idOf } from './labelled.tsx'

export interface FormError {
  /** Name of the field; undefined for an error of the whole form. */
  name?: string
  message: string
  /** Position within the field's text. */
  at?: { line: number; column: number } | undefined
}

/** Errors of a submitted form, each linked to its field. Takes the focus. */
export const ErrorSummary = ({ errors }: { errors: readonly FormError[] }) =>
  errors.length === 0 ? null : (
    <div class="errorsummary" role="alert" tabindex={-1} autofocus>
      <StatusShape tone="bad" />
      <div>
        <h2>{errors.length === 1 ? 'Fix 1 problem' : `Fix ${errors.length} problems`}</h2>
        <ul>
          {errors.map(({ name, message }) => (
            <li>{name === undefined ? message : <a href={`#${idOf(name)}`}>{message}</a>}</li>
          ))}
        </ul>
      </div>
    </div>
  )
