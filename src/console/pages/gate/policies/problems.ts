import type { Problem } from '../../../../../views/console/pages/gate/policies/editor.tsx'
import type { AppError } from '../../../../platform/errors.ts'
import { asSentence } from '../../../form.ts'

export const OVERTAKEN: Problem = {
  message:
    'Someone else changed the policies after you opened this form. Save again to overwrite their changes.',
}

/** Everything that is wrong with the text, each with the line that it is in. */
export const problemsIn = ({ fieldErrors }: AppError, text: string): Problem[] => {
  const lines = text.split('\n')
  return fieldErrors.map(({ problem, at: position }) => {
    const message = asSentence(problem)
    return position ? { position, message, source: lines[position.line - 1] ?? '' } : { message }
  })
}
