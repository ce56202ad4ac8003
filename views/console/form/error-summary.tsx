import { StatusShape } from '../status-mark.tsx'
import { idOf } from './labelled.tsx'

export interface FormError {
  /** Left out for what is wrong with the form as a whole. */
  name?: string
  message: string
}

/** Takes the focus of a form that came back, and leads to each field that is wrong. */
export const ErrorSummary = ({ errors }: { errors: readonly FormError[] }) =>
  errors.length === 0 ? null : (
    <div class="errorsummary" role="alert" tabindex={-1} autofocus>
      <StatusShape tone="bad" />
      <div>
        <h2>
          {errors.length === 1 ? 'One thing is not right' : `${errors.length} things are not right`}
        </h2>
        <ul>
          {errors.map(({ name, message }) => (
            <li>{name === undefined ? message : <a href={`#${idOf(name)}`}>{message}</a>}</li>
          ))}
        </ul>
      </div>
    </div>
  )
